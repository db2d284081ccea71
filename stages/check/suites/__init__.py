"""What must hold of each record: one module a record, with its columns (pure functions) and its suite."""
