"""From a name of the roster to a backend that can be asked, and what is missing where it cannot."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from taxpraben.backends.baselines import BaselineBackend
from taxpraben.backends.llama_cpp import LlamaCppBackend, LlamaCppHereBackend, LlamaCppOptions
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import Backend
from taxpraben.backends.ray_vllm import RayBackend
from taxpraben.backends.replicas import ReplicaBackend
from taxpraben.backends.roster import ModelEntry, Roster, options_of
from taxpraben.backends.transformers_local import TransformersBackend, TransformersOptions
from taxpraben.backends.vllm_local import VllmBackend, VllmOptions, VllmSetup
from taxpraben.backends.vllm_served import VllmServedBackend
from taxpraben.backends.weights import Say, WeightError, fetch_weight, resolve_weight, weights_folder

PACKAGES = {
    "openai": ["openai"],
    "llama_cpp": ["xllamacpp", "openai"],
    "transformers": ["transformers", "torch"],
    "vllm": [],
    "baseline": [],
}


def open_backend(roster: Roster, name: str) -> Backend:
    """The backend of a model, not started. Weights are looked for when it is started or its file is needed.

    Raises:
        RosterError: no such model, or a wrong option.
        WeightError: its weights have not been fetched.
    """
    entry = roster.find(name)
    options = options_of(roster, name)
    if entry.backend == "baseline":
        return BaselineBackend(name, entry.baseline)
    if isinstance(options, OpenAIOptions):
        return OpenAIBackend(name, options)
    if isinstance(options, LlamaCppOptions):
        file = weights_folder(roster.root) / roster.find_weight(entry.weights).file
        sha256 = roster.find_weight(entry.weights).sha256
        if not options.serve:
            return LlamaCppHereBackend(name, options, file, sha256)
        return LlamaCppBackend(name, options, file, sha256, roster.root)
    source, identity = _source(roster, entry)
    if isinstance(options, TransformersOptions):
        return TransformersBackend(name, options, source, entry.revision, identity)
    assert isinstance(options, VllmOptions)
    return _vllm(VllmSetup(name, options, source, entry.revision, identity, roster.root))


def _vllm(setup: VllmSetup) -> Backend:
    """The offline engine, a server, several of either, or a Ray cluster's engines."""
    if setup.options.ray is not None:
        return RayBackend(setup, setup.options.ray)
    kind = VllmServedBackend if setup.options.serve else VllmBackend
    if setup.options.replicas == 1:
        return kind(setup)
    return ReplicaBackend(setup.name, [kind(setup, replica) for replica in range(setup.options.replicas)])


def _source(roster: Roster, entry: ModelEntry) -> tuple[str, str]:
    """Where public weights are loaded from, and the words that name them in every request."""
    if entry.hub:
        return entry.hub, f"{entry.hub}@{entry.revision}"
    if entry.folder:
        return str(roster.root / entry.folder), f"{Path(entry.folder).name}@{entry.revision}"
    weight = roster.find_weight(entry.weights)
    path = str(weights_folder(roster.root) / weight.file)
    if weight.made_from is None:
        return path, f"sha256:{weight.sha256[:16]}"
    return path, f"{weight.made_from.step}:sha256:{roster.find_weight(weight.made_from.weight).sha256[:16]}"


@dataclass(frozen=True)
class Missing:
    """Something that a model needs and has not, and what to do about it."""

    model: str
    what: str
    remedy: str


def check_models(roster: Roster, names: list[str] | None = None) -> list[Missing]:
    """What the named models (or all of the roster's list) lack: packages, keys, weights, a GPU. Asks no network."""
    missing: list[Missing] = []
    for name in names or roster.chosen:
        missing += _check(roster, name)
    return missing


def _check(roster: Roster, name: str) -> list[Missing]:
    entry = roster.find(name)
    options = options_of(roster, name)
    missing = [
        Missing(name, f"package {package}", f"pip install {package}")
        for package in PACKAGES[entry.backend]
        if importlib.util.find_spec(package) is None
    ]
    if entry.api_key_env and not os.environ.get(entry.api_key_env):
        remedy = "put the service's key in that environment variable"
        missing.append(Missing(name, f"key {entry.api_key_env}", remedy))
    if entry.weights:
        try:
            resolve_weight(entry.weights, roster.root)
        except WeightError as error:
            missing.append(Missing(name, f"weights {entry.weights}", str(error)))
    if entry.folder and not (roster.root / entry.folder).is_dir():
        remedy = f"put the model's files into {roster.root / entry.folder}, or mend folder in models.yaml"
        missing.append(Missing(name, f"weights in {entry.folder}", remedy))
    if entry.hub and not _in_cache(entry.hub, entry.revision):
        remedy = f"fetched when first asked, or now: hf download {entry.hub} --revision {entry.revision}"
        missing.append(Missing(name, f"weights {entry.hub}", remedy))
    if entry.hub and entry.revision in ("main", "master"):
        remedy = f"put a commit of {entry.hub} in revision; {entry.revision} may move"
        missing.append(Missing(name, "a pinned revision", remedy))
    if isinstance(options, TransformersOptions) and options.device == "cuda" and shutil.which("nvidia-smi") is None:
        missing.append(Missing(name, "a GPU", "run it where there is one, or set options.device: cpu"))
    if isinstance(options, OpenAIOptions) and options.tokenizer == "folder":
        place = roster.root / options.tokenizer_folder
        if not options.tokenizer_folder or not place.is_dir():
            missing.append(Missing(name, f"tokenizer in {place}", "put tokenizer.json and its configuration there"))
    if isinstance(options, VllmOptions):
        python = roster.root / options.python
        if not python.exists():
            missing.append(Missing(name, f"environment {options.python}", "make vllm"))
        if options.device == "cuda" and shutil.which("nvidia-smi") is None:
            remedy = "run it where there is one (small models: options.device: cpu)"
            missing.append(Missing(name, "a GPU", remedy))
    return missing


def _in_cache(hub: str, revision: str) -> bool:
    """Whether the hub's own cache on this machine holds a model at a revision; nothing is looked up elsewhere."""
    if importlib.util.find_spec("huggingface_hub") is None:
        return False
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(hub, "config.json", revision=revision), str)


def list_models(roster: Roster) -> list[dict[str, str]]:
    """One row a model, in the file's order; ``roster`` is ``yes`` where the lifecycle evaluates it."""
    return [
        {
            "name": name,
            "title": entry.title,
            "backend": entry.backend,
            "access": entry.access,
            "size": entry.size,
            "group": entry.group,
            "licence": entry.licence,
            "release": entry.release,
            "supports": " ".join(open_backend(roster, name).capabilities.words),
            "price": f"{entry.price.input:g} + {entry.price.output:g} {entry.price.currency}" if entry.price else "",
            "roster": "yes" if name in roster.chosen else "",
        }
        for name, entry in roster.models.items()
    ]


def fetch_models(roster: Roster, names: list[str] | None = None, say: Say = print) -> list[Path]:
    """Fetch weights, by their own names or by those of models that need them.

    Args:
        roster: what models.yaml says.
        names: none means the roster's models, and the weights that metrics need (all that are made here).
        say: gets lines of progress.

    Raises:
        WeightError: a weight could not be had from any source.
        RosterError: a name is neither a model nor a weight.
    """
    wanted: list[str] = []
    for name in names or [*roster.chosen, *(name for name, weight in roster.weights.items() if weight.made_from)]:
        if name in roster.weights:
            wanted.append(name)
            continue
        entry = roster.find(name)
        if entry.weights:
            wanted.append(entry.weights)
        elif entry.hub:
            say(f"{name}: its engine fetches {entry.hub} from the hub when it is first asked")
        elif names:
            say(f"{name}: needs no weights")
    return [fetch_weight(name, roster.root, say) for name in dict.fromkeys(wanted)]
