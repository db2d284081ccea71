"""Public weights through vLLM's offline engine, in a worker process of vLLM's own environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from taxpraben.backends.line_worker import LineWorker
from taxpraben.backends.protocol import BackendError, Capabilities, Message, Reply, Request, TokenCount, status_of
from taxpraben.records.base import JsonObject, Part

WORKER = Path(__file__).with_name("vllm_worker.py")

ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
"""No call home."""

ONE_PROCESS = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
"""The engine in the worker itself, which starts sooner and leaves nothing behind when killed."""

CPU_ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
"""On a CPU: 1 GiB of cache instead of nearly all memory, and no pinning to cores that others use."""


class RayOptions(Part):
    """Where a Ray cluster runs the model, see ``ray_vllm``.

    Attributes:
        address: an existing cluster (``auto``, ``ray://head:10001``, ``head:6379``); ``local`` for one on this machine
            that ends with the run, for trials.
        replicas: engines, each with ``tensor_parallel`` GPUs (one CPU core each on ``device: cpu``).
        batch_size: rows handed to an engine at a time.
        storage: folder that every machine of the cluster sees; finished rows and the checkpoint lie there.
        quiet_s: a batch starts when no further question came for so long.
    """

    address: str = "auto"
    replicas: int = Field(default=1, ge=1)
    batch_size: int = Field(default=64, ge=1)
    storage: str = ".cache/ray"
    quiet_s: float = 2.0


class VllmOptions(Part):
    """What an entry of models.yaml with ``backend: vllm`` may say.

    Attributes:
        python: the interpreter of vLLM's environment, from the workspace's root.
        serve: start ``vllm serve`` for the run and ask it over the OpenAI protocol, instead of the offline engine.
        replicas: independent engines (or servers) on this machine, each with its own ``tensor_parallel`` GPUs, or its
            share of the cores.
        ray: run on a Ray cluster instead.
        dtype: part of the identity; float32 on a CPU, where bfloat16 is several times slower.
        max_model_len: most tokens of prompt and answer together; 2,048 and the longest answer by default.
        tensor_parallel: GPUs that share one copy of the weights.
        threads: threads of one engine on a CPU; 0 takes its share of the cores.
        concurrency: requests handed to one engine at a time; it batches them itself.
        start_s: seconds to wait until weights are loaded.
        timeout_s: seconds until a request to a server counts as lost.
        engine: further arguments of ``vllm.LLM``.
        environment: further environment variables of the worker.
    """

    python: str = ".venv-vllm/bin/python"
    serve: bool = False
    replicas: int = Field(default=1, ge=1)
    ray: RayOptions | None = None
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    device: Literal["cuda", "cpu"] = "cuda"
    max_model_len: int = 2368
    tensor_parallel: int = Field(default=1, ge=1)
    threads: int = Field(default=0, ge=0)
    concurrency: int = 256
    start_s: float = 1800.0
    timeout_s: float = 1800.0
    trust_remote_code: bool = False
    engine: JsonObject = {}
    environment: dict[str, str] = {}


class VllmSetup:
    """How one model is loaded into vLLM, whether offline, served, or on a cluster.

    Attributes:
        python: vLLM's interpreter.
    """

    def __init__(
        self, name: str, options: VllmOptions, source: str | Path, revision: str, identity: str, root: Path = Path()
    ) -> None:
        """Take a folder, or a hub id with its revision; ``identity`` names the weights in every request."""
        self.name = name
        self.options = options
        self.root = root
        self.python = root / options.python
        self._source = str(source)
        self._hub_revision = revision
        self._identity = identity

    def revision(self, way: str) -> str:
        """The way in, the weights, the dtype and the engine's further arguments: what shapes answers."""
        engine = json.dumps(self.options.engine, sort_keys=True) if self.options.engine else ""
        return "|".join(part for part in (way, self._identity, self.options.dtype, engine) if part)

    def find_python(self) -> str:
        """The interpreter's absolute path.

        Raises:
            BackendError: the environment is missing.
        """
        if not self.python.exists():
            target = "make vllm-cpu" if self.options.device == "cpu" else "make vllm"
            raise BackendError(
                f"{self.name}: {self.python} is missing; vLLM has an environment of its own, see `{target}`"
            )
        return str(self.python.absolute())

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``vllm.LLM``; ``vllm serve`` takes the same as flags."""
        options = self.options
        arguments: dict[str, Any] = {
            "model": self._source,
            "dtype": options.dtype,
            "max_model_len": options.max_model_len,
            "tensor_parallel_size": options.tensor_parallel,
            "trust_remote_code": options.trust_remote_code,
            "enable_prefix_caching": True,
        }
        if self._hub_revision and not Path(self._source).is_dir():
            arguments["revision"] = self._hub_revision
        if options.device == "cpu":
            # a seed for each request and chunked prefill together kill the engine on a CPU
            arguments |= {"enforce_eager": True, "enable_chunked_prefill": False}
        return arguments | options.engine

    def environment(self, replica: int) -> dict[str, str]:
        """The environment variables of one replica: its own GPUs, or its own share of the cores."""
        options = self.options
        if options.device == "cpu":
            threads = options.threads or max(1, (os.cpu_count() or 1) // options.replicas)
            return {**ENVIRONMENT, **CPU_ENVIRONMENT, "OMP_NUM_THREADS": str(threads), **options.environment}
        mine = gpus_of(replica, options, os.environ)
        shown = {"CUDA_VISIBLE_DEVICES": ",".join(mine)} if mine else {}
        return ENVIRONMENT | shown | options.environment


def gpus_of(replica: int, options: VllmOptions, environment: Mapping[str, str]) -> list[str]:
    """The GPUs of one of several replicas, out of those that this process may see; none named where there is one.

    Raises:
        BackendError: ``CUDA_VISIBLE_DEVICES`` shows fewer than the replicas need.
    """
    if options.replicas == 1:
        return []
    need = options.replicas * options.tensor_parallel
    named = environment.get("CUDA_VISIBLE_DEVICES", "")
    visible = [device.strip() for device in named.split(",") if device.strip()] or [str(at) for at in range(need)]
    if len(visible) < need:
        raise BackendError(
            f"{options.replicas} replicas of {options.tensor_parallel} GPUs need {need}; CUDA_VISIBLE_DEVICES shows "
            f"{len(visible)}. Lower replicas or tensor_parallel in models.yaml"
        )
    begin = replica * options.tensor_parallel
    return visible[begin : begin + options.tensor_parallel]


class VllmBackend:
    """One model in one vLLM engine; finished answers come back one by one, each matched by its id.

    Attributes:
        engine: once started: versions of vLLM and torch, the engine's arguments, the device.
    """

    def __init__(self, setup: VllmSetup, replica: int = 0) -> None:
        """Take the setup, and which replica of several this is."""
        self.name = setup.name
        self.options = setup.options
        self.engine: JsonObject = {}
        self._setup = setup
        self._replica = replica
        self._worker: LineWorker | None = None

    @property
    def revision(self) -> str:
        """See ``VllmSetup.revision``."""
        return self._setup.revision("vllm")

    @property
    def capabilities(self) -> Capabilities:
        """What the engine offers."""
        return Capabilities(completion=True, seed=True, logprobs=True, concurrency=self.options.concurrency)

    @property
    def process_id(self) -> int:
        """The worker's process; 0 where none runs."""
        return self._worker.process_id if self._worker is not None else 0

    async def __aenter__(self) -> Self:
        """Start the worker and wait until its engine is loaded.

        Raises:
            BackendError: the environment is missing, or the engine does not load.
        """
        worker = LineWorker(
            self.name,
            "vLLM",
            # -P: no module of the worker's folder may stand before a library of the same name
            [self._setup.find_python(), "-P", str(WORKER)],
            ONE_PROCESS | self._setup.environment(self._replica),
        )
        self.engine = await worker.start(self._setup.arguments(), self.options.start_s)
        self._worker = worker
        return self

    async def __aexit__(self, *exc: object) -> None:
        """End the worker and everything that it started."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.stop()

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``; a prompt that does not fit gets the status ``too_long``, the others go on."""
        messages = [message.model_dump() for message in request.messages]
        found = await self._open.ask({"messages": messages, "sampling": request.sampling.model_dump(exclude_none=True)})
        return reply_of(found)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the model's own tokenizer."""
        found = await self._open.ask({"count": [message.model_dump() for message in messages]})
        return TokenCount(tokens=found["tokens"], exact=True)

    @property
    def _open(self) -> LineWorker:
        if self._worker is None:
            raise BackendError(f"{self.name}: the backend is not open; use it with `async with`")
        return self._worker


def reply_of(found: Mapping[str, Any]) -> Reply:
    """The reply in a worker's line."""
    if "too_long" in found:
        return Reply(status="too_long", error=str(found["too_long"]))
    finish = str(found["finish_reason"])
    return Reply(
        status=status_of(found["text"], finish),
        text=found["text"],
        finish_reason=finish,
        prompt_tokens=found["prompt_tokens"],
        completion_tokens=found["completion_tokens"],
    )
