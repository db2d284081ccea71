"""The review queue: who has what, what they wrote, what they ruled, and how far they agree. No pages."""
