"""Rows that cross a stage border: one module a record, strict on reading and writing."""
