"""Alembic's environment for the queue's tables; ``store.open_queue`` runs it."""
