"""The release for other tools: one module a format; each gives file contents by relative path."""
