"""Text as the benchmark compares it: a normalised twin, Chinese numerals, character shingles."""
