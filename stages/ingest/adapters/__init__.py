"""Site adapters, one module each; a module in this folder with an ``ADAPTER`` is found by its name."""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from stages.ingest.adapters.base import Adapter


class UnknownAdapterError(ValueError):
    """An adapter name that no module of this folder has."""


def adapter_names() -> list[str]:
    """The names of the adapters, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "base")


def find_adapter(name: str) -> Adapter:
    """The adapter of that name.

    Raises:
        UnknownAdapterError: there is none; the message suggests the nearest.
    """
    known = adapter_names()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
        raise UnknownAdapterError(f"Unknown site adapter {name!r} in params.yaml (ingest.sources); {hint}")
    adapter = importlib.import_module(f"{__name__}.{name}").ADAPTER
    if not isinstance(adapter, Adapter):
        raise UnknownAdapterError(f"stages/ingest/adapters/{name}.py: ADAPTER is no Adapter")
    return adapter
