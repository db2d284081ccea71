"""Looks at what the lifecycle made: standings, one answer explained, progress, the check against the paper."""

from __future__ import annotations
