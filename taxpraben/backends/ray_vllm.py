"""Public weights on a Ray cluster that exists already: Ray Data's LLM processor over all questions at once."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from taxpraben.backends.line_worker import LineWorker
from taxpraben.backends.protocol import BackendError, Capabilities, Message, Reply, Request, TokenCount, request_hash
from taxpraben.backends.vllm_local import RayOptions, VllmSetup, reply_of
from taxpraben.records.base import JsonObject

WORKER = Path(__file__).with_name("ray_worker.py")

WAITING = 100_000
"""Questions that wait together for one batch: an engine starts in minutes, so all are gathered first."""


class RayBackend:
    """One model on the engines of a Ray cluster, driven from a worker process in vLLM's environment.

    Questions are gathered until none came for a while and then go out as one batch under the ids of the journal; each
    finished row is handed on as its file appears. Rows and Ray's checkpoint lie in ``ray.storage``, so that a run
    stopped anywhere takes the finished rows from there and asks the cluster for the others only.

    Attributes:
        engine: once started: versions, the cluster's address and resources, the engine's arguments.
    """

    def __init__(self, setup: VllmSetup, ray: RayOptions) -> None:
        """Take the setup and where the cluster is."""
        self.name = setup.name
        self.options = setup.options
        self.engine: JsonObject = {}
        self._setup = setup
        self._ray = ray
        self._worker: LineWorker | None = None

    @property
    def revision(self) -> str:
        """See ``VllmSetup.revision``."""
        return self._setup.revision("vllm ray")

    @property
    def capabilities(self) -> Capabilities:
        """What the engines offer; as many questions at a time as there are."""
        return Capabilities(completion=True, seed=True, concurrency=WAITING)

    @property
    def process_id(self) -> int:
        """The driving worker's process; 0 where none runs."""
        return self._worker.process_id if self._worker is not None else 0

    async def __aenter__(self) -> Self:
        """Connect to the cluster; engines start with the first batch.

        Raises:
            BackendError: the environment is missing, or there is no such cluster.
        """
        ray = self._ray
        environment = self._setup.environment(0)
        if self.options.device == "cpu":  # an engine has one core of the cluster, not its share of this machine
            environment |= {"OMP_NUM_THREADS": str(self.options.threads or 1)}
        worker = LineWorker(self.name, "Ray", [self._setup.find_python(), str(WORKER)], environment)
        load = {
            **self._setup.arguments(),
            "ray": {
                **ray.model_dump(mode="json"),
                "storage": str((self._setup.root / ray.storage / self.name).absolute()),
                "device": self.options.device,
                "environment": environment,
            },
        }
        self.engine = await worker.start(load, self.options.start_s)
        self._worker = worker
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Leave the cluster; a local one ends."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.stop()

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``; returns when the batch's row is there."""
        found = await self._open.ask(
            {
                "key": request_hash(request),
                "messages": [message.model_dump() for message in request.messages],
                "sampling": request.sampling.model_dump(exclude_none=True),
            }
        )
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
