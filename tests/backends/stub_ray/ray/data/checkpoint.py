from __future__ import annotations

from typing import Any


def CheckpointConfig(**settings: Any) -> dict[str, Any]:  # noqa: N802
    assert settings["id_column"] == "id"
    return settings
