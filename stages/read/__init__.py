"""read: answers of one model -> readings (letters, number, span, text, fields, or the reason why not)."""
