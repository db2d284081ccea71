"""Networks that metrics run: loaded once, from a local folder or a hub id, without a word on the screen."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from taxpraben.metrics.base import MetricError

_NO_LIMIT = 10**6  # tokenizers without a limit report 10**30


def weights_label(model: str, revision: str) -> str:
    """A model's name in a signature: ``name@revision``; a local folder goes by its name and the hash of its config.

    A hub id without a revision goes by the commit that the local hub cache holds, so that a moved ``main`` is seen;
    by ``main`` where nothing is there yet (see ``settle_revision``).
    """
    folder = Path(model)
    if folder.is_dir():
        return f"{folder.name}@{_folder_mark(folder)}"
    return f"{model}@{revision or _cached_commit(model) or 'main'}"


def settle_revision(model: str, revision: str) -> None:
    """Bring the configuration of a hub id without a revision, so that its signature can name the commit.

    Nothing happens where the hub is not reached: loading the weights says so by name.
    """
    if revision or Path(model).is_dir() or _cached_commit(model):
        return
    from transformers import AutoConfig

    with _quiet(), contextlib.suppress(OSError, ValueError):
        AutoConfig.from_pretrained(model)


def _cached_commit(model: str) -> str:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(model, "config.json")
    except HFValidationError:
        return ""
    return Path(found).parent.name[:12] if isinstance(found, str) else ""


def _folder_mark(folder: Path) -> str:
    mark = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in (".json", ".safetensors", ".bin", ".model"):
            mark.update(f"{path.name}:{path.stat().st_size};".encode())
            if path.name == "config.json":
                mark.update(path.read_bytes())
            if path.suffix == ".safetensors":
                mark.update(_ends(path))
    return mark.hexdigest()[:12]


def _ends(path: Path, size: int = 1 << 20) -> bytes:
    """The file's first and last megabyte: enough to tell weights apart without reading gigabytes for a name."""
    with path.open("rb") as stream:
        head = stream.read(size)
        stream.seek(max(path.stat().st_size - size, 0))
        return head + stream.read()


def versions(*packages: str) -> str:
    """``name=version`` of installed packages, joined by commas."""
    from importlib.metadata import version

    return ",".join(f"{package}={version(package)}" for package in packages)


@lru_cache(maxsize=4)
def load_tokenizer(model: str, revision: str) -> Any:
    """The tokenizer of a model.

    Raises:
        MetricError: the folder or hub id cannot be loaded.
    """
    from transformers import AutoTokenizer

    with _quiet(), _named(model):
        return AutoTokenizer.from_pretrained(model, revision=revision or None)


def load_network(model: str, revision: str, architecture: str) -> Any:
    """A network of one's own in float32, ready to evaluate; ``architecture`` names an Auto class of transformers.

    Raises:
        MetricError: the folder or hub id cannot be loaded.
    """
    import torch
    import transformers

    with _quiet(), _named(model):
        kind = getattr(transformers, architecture)
        network = kind.from_pretrained(model, revision=revision or None, dtype=torch.float32)
    return network.eval()


def longest_input(tokenizer: Any, network: Any, asked: int) -> int:
    """Most tokens that the model takes at once, special ones included; 0 where nothing limits it (XLNet).

    The least of the asked limit, the tokenizer's, and the positions that the network has.
    """
    limits = [asked] if asked else []
    if 0 < (tokenizer.model_max_length or 0) < _NO_LIMIT:
        limits.append(int(tokenizer.model_max_length))
    positions = getattr(network.config, "max_position_embeddings", 0)
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its kin begin counting positions behind the padding index.
        offset = 2 if network.config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
        limits.append(positions - offset)
    return min(limits, default=0)


@contextmanager
def _quiet() -> Iterator[None]:
    from transformers.utils import logging as transformers_logging

    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    hub = logging.getLogger("huggingface_hub")
    before = hub.level
    hub.setLevel(logging.ERROR)
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        hub.setLevel(before)


@contextmanager
def _named(model: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, json.JSONDecodeError) as error:
        first = str(error).strip().split("\n")[0]
        raise MetricError(
            f"The model {model!r} cannot be loaded ({first}); give a folder that holds it (`taxpraben models fetch` "
            "brings the embedded ones), or a hub id where the hub is reached"
        ) from error


def use_threads(threads: int) -> None:
    """Let torch use this many threads; 0 leaves it as it is."""
    if threads:
        import torch

        torch.set_num_threads(threads)


def device_of(name: str) -> str:
    """The torch device of this name; empty takes a GPU where there is one, else the CPU."""
    import torch

    return name or ("cuda" if torch.cuda.is_available() else "cpu")
