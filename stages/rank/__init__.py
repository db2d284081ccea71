"""rank: scores of the roster -> standings of metrics, datasets and groups, with intervals and shared ranks."""
