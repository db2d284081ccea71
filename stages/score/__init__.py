"""score: readings of one model -> one row a metric, field and protocol."""
