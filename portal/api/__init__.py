"""The JSON API under ``/api``: the acts of the pages for programs, with a bearer token."""
