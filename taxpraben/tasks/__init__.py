"""The tasks of the benchmark: one folder a task, read into a ``TaskSpec`` by the catalogue."""
