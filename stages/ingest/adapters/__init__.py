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


def load_adapter(module: str) -> Adapter:
    """The adapter of a module; of one that serves many sites, the one that knows which.

    Raises:
        UnknownAdapterError: there is none; the message suggests the nearest.
    """
    known = adapter_names()
    if module not in known:
        raise UnknownAdapterError(
            f"Unknown site adapter {module!r} in params.yaml (ingest.sources); {_hint(module, known)}"
        )
    adapter = importlib.import_module(f"{__name__}.{module}").ADAPTER
    if not isinstance(adapter, Adapter):
        raise UnknownAdapterError(f"stages/ingest/adapters/{module}.py: ADAPTER is no Adapter")
    return adapter


def find_adapter(name: str) -> Adapter:
    """The adapter of that name; ``module:variant`` is one site of an adapter that serves many by a table.

    Raises:
        UnknownAdapterError: there is none; the message suggests the nearest.
    """
    module, _, variant = name.partition(":")
    adapter = load_adapter(module)
    variants = list(adapter.variants())
    if variants and variant not in variants:
        asked = f"Unknown variant {variant!r} of" if variant else "No variant given for"
        example = f"write {module}:{variants[0]}; " if not variant else ""
        raise UnknownAdapterError(
            f"{asked} site adapter {module!r} in params.yaml (ingest.sources); {example}{_hint(variant, variants)}"
        )
    if variant and not variants:
        raise UnknownAdapterError(f"Site adapter {module!r} has no variants, so {name!r} is none; write {module!r}")
    return adapter.variant(variant) if variant else adapter


def _hint(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
