"""Provider batch files: many requests uploaded as one file, answered within a day, often at a lower price.

What was sent is on disk before it is sent, so that a run that is stopped, or killed, takes the batch up again and never
pays for it twice. The rows of the answer files go into the same journal as single answers, under the same keys.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taxpraben.backends.asking import Asker
from taxpraben.backends.journal import Entry, utc_now
from taxpraben.backends.openai_api import OpenAIBackend
from taxpraben.backends.protocol import (
    BackendError,
    Reply,
    Request,
    TerminalBackendError,
    TransientBackendError,
    most_tokens,
    request_hash,
)
from taxpraben.backends.spending import BudgetSpentError
from taxpraben.records.base import Part

ENDPOINT: Final = "/v1/chat/completions"
MARK = "taxpraben"
"""The key of a batch's metadata under which we find again what we began and could not write down."""

OVER = ("completed", "expired", "cancelled", "failed")


class BatchParams(Part):
    """How batch files are used.

    Attributes:
        requests: most requests in one file (OpenAI takes 50,000).
        megabytes: most bytes of one file, in millions (OpenAI takes 200).
        poll_s: seconds between two looks at a batch.
        lost_polls: looks in a row without an answer until the run stops; the batch itself goes on.
    """

    requests: int = 20_000
    megabytes: int = 90
    poll_s: float = 30.0
    lost_polls: int = 20


class Batch(Part):
    """One batch that is under way.

    Attributes:
        mark: our own word for it, kept at the service as metadata.
        batch_id: the service's; empty between our decision and its answer.
        keys: the request hashes in it.
    """

    mark: str
    batch_id: str = ""
    keys: list[str]


@dataclass(frozen=True)
class Wanted:
    """A request that the journal does not answer, and what it is about."""

    request: Request
    about: str

    @property
    def key(self) -> str:
        """The request's hash: its name in the batch file, too."""
        return request_hash(self.request)


class BatchFiles:
    """Asks by batch files.

    Args:
        asker: its backend is the service, its journal takes the answers, its purse pays.
        backend: the service.
        state: the file that remembers what is under way.
        params: sizes and times.
        say: gets lines of progress.
    """

    def __init__(
        self, asker: Asker, backend: OpenAIBackend, state: Path, params: BatchParams, say: Callable[[str], None]
    ) -> None:
        self._asker = asker
        self._backend = backend
        self._state = state
        self._params = params
        self._say = say
        self._under_way = _read(state)
        self._promised: dict[str, float] = {}
        self._abouts: dict[str, Wanted] = {}

    @property
    def under_way(self) -> bool:
        """Whether an earlier run left a batch behind that has not been taken in."""
        return bool(self._under_way)

    async def ask(self, wanted: Sequence[Wanted]) -> int:
        """Send what is wanted and not yet under way, wait for all, and take the answers into the journal.

        Returns:
            How many of the wanted requests no batch has answered (expired, or failed in passing): to be asked singly.

        Raises:
            BackendError: the service refuses the batch or cannot be reached; or a budget would be passed (then what
                is under way is taken in first).
        """
        await self._asker.start()
        self._abouts = {one.key: one for one in wanted}
        await self._find_again()
        sent = {key for batch in self._under_way for key in batch.keys}
        for key in sent & self._abouts.keys():
            self._promise(key, strict=False)
        spent: BudgetSpentError | None = None
        for files, keys, over in self._files([one for one in wanted if one.key not in sent]):
            spent = over
            if keys:
                await self._send(files, keys)
        for batch in list(self._under_way):
            await self._wait_and_take(batch)
        if spent is not None:
            raise spent
        return sum(one.key not in self._asker.journal.replies for one in wanted)

    def _promise(self, key: str, strict: bool) -> None:
        request = self._abouts[key].request
        try:
            weight = most_tokens(request.messages)
            self._promised[key] = self._asker.purse.promise(weight, request.sampling.max_tokens)
        except BudgetSpentError:
            if strict:
                raise

    def _files(self, wanted: Sequence[Wanted]) -> Iterator[tuple[bytes, list[str], BudgetSpentError | None]]:
        """Batch files of allowed sizes, each with its keys; ends at what the budget does not pay for."""
        lines: list[bytes] = []
        keys: list[str] = []
        size = 0
        for one in wanted:
            try:
                self._promise(one.key, strict=True)
            except BudgetSpentError as error:
                yield b"".join(lines), keys, error
                return
            body = {"custom_id": one.key, "method": "POST", "url": ENDPOINT, "body": self._backend.body(one.request)}
            line = json.dumps(body, ensure_ascii=False).encode() + b"\n"
            if lines and (len(lines) >= self._params.requests or size + len(line) > self._params.megabytes * 1_000_000):
                yield b"".join(lines), keys, None
                lines, keys, size = [], [], 0
            lines.append(line)
            keys.append(one.key)
            size += len(line)
        yield b"".join(lines), keys, None

    async def _send(self, data: bytes, keys: list[str]) -> None:
        mark = uuid.uuid4().hex
        batch = Batch(mark=mark, keys=keys)
        self._under_way.append(batch)
        self._write()
        with self._named("the batch file was not taken"):
            client = self._backend.client
            file = await client.files.create(file=(f"{mark}.jsonl", data), purpose="batch")
            # tried once: a second try after a lost answer would be a second batch; the next run finds it by its mark
            made = await client.with_options(max_retries=0).batches.create(
                input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h", metadata={MARK: mark}
            )
        self._under_way[-1] = batch.model_copy(update={"batch_id": made.id})
        self._write()
        self._say(f"{self._backend.name}: batch {made.id} sent, {len(keys)} requests")

    async def _find_again(self) -> None:
        """Give the batches that were begun but not written down their ids; drop those that were never made."""
        nameless = [batch for batch in self._under_way if not batch.batch_id]
        if not nameless:
            return
        with self._named("the batches cannot be listed"):
            every = self._backend.client.batches.list()
            made = {(found.metadata or {}).get(MARK): found.id async for found in every}
        known = [
            batch if batch.batch_id else batch.model_copy(update={"batch_id": made[batch.mark]})
            for batch in self._under_way
            if batch.batch_id or batch.mark in made
        ]
        self._under_way = known
        self._write()

    async def _wait_and_take(self, batch: Batch) -> None:
        name = self._backend.name
        lost = 0
        said = ""
        while True:
            try:
                with self._named(f"batch {batch.batch_id} cannot be looked at"):
                    found = await self._backend.client.batches.retrieve(batch.batch_id)
            except TransientBackendError:
                lost += 1
                if lost >= self._params.lost_polls:
                    raise
            else:
                lost = 0
                counts = found.request_counts
                line = f"{name}: batch {batch.batch_id} {found.status}"
                if counts is not None:
                    line += f", {counts.completed} of {counts.total} answered, {counts.failed} failed"
                if line != said:
                    said = line
                    self._say(line)
                if found.status in OVER:
                    break
            await asyncio.sleep(self._params.poll_s)
        taken = strange = 0
        for file_id in (found.output_file_id, found.error_file_id):
            if file_id:
                with self._named(f"file {file_id} of batch {batch.batch_id} cannot be fetched"):
                    content = await self._backend.client.files.content(file_id)
                for key, reply in self._replies(content.content, set(batch.keys)):
                    strange += reply is None
                    if reply is not None and await self._keep(key, reply):
                        taken += 1
        self._under_way.remove(batch)
        self._write()
        rest = f", {strange} lines that are none of ours" if strange else ""
        self._say(f"{name}: batch {batch.batch_id} {found.status}, {taken} of {len(batch.keys)} answers taken in{rest}")
        if found.status == "failed":
            reasons = found.errors.data if found.errors is not None and found.errors.data else []
            said = "; ".join(str(reason.message) for reason in reasons[:3]) or "no reason given"
            raise BackendError(f"{name}: batch {batch.batch_id} failed: {self._backend.service.without_secrets(said)}")

    def _replies(self, content: bytes, keys: set[str]) -> Iterator[tuple[str, Reply | None]]:
        """The replies in a batch's output or error file; None for a line that is none of ours.

        What may yet pass is left out, so that it is asked again.
        """
        for line in content.splitlines():
            if not line.strip():
                continue
            try:
                row: dict[str, Any] = json.loads(line)
                key = str(row["custom_id"])
            except (json.JSONDecodeError, LookupError, TypeError):
                yield "", None
                continue
            if key not in keys:
                yield key, None
                continue
            response = row.get("response") or {}
            status = int(response.get("status_code") or 500)
            body = response.get("body") or {"error": row.get("error")}
            try:
                yield key, self._backend.service.read(status, json.dumps(body, ensure_ascii=False).encode(), {})
            except TransientBackendError:
                continue
            except TerminalBackendError as error:
                if error.whole_run:
                    raise
                yield key, Reply(status="error", error=str(error))

    async def _keep(self, key: str, reply: Reply) -> bool:
        """Put a reply into the journal, once."""
        if key in self._asker.journal.replies:
            return False
        one = self._abouts.get(key)
        model, about = (one.request.model, one.about) if one is not None else (self._backend.name, "")
        entry = Entry(key=key, model=model, about=about, reply=reply, asked_at=utc_now(), seconds=0.0)
        await self._asker.journal.append(entry)
        self._asker.count_outside(reply, self._promised.pop(key, 0.0))
        return True

    def _write(self) -> None:
        if not self._under_way:
            self._state.unlink(missing_ok=True)
            return
        self._state.parent.mkdir(parents=True, exist_ok=True)
        partial = self._state.with_name(f".{self._state.name}.partial")
        with partial.open("w", encoding="utf-8") as stream:
            json.dump([batch.model_dump() for batch in self._under_way], stream)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(self._state)

    @contextlib.contextmanager
    def _named(self, what: str) -> Iterator[None]:
        """The client's errors as ours, with what was tried."""
        import openai

        name = self._backend.name
        try:
            yield
        except openai.APIStatusError as error:
            said = self._backend.service.without_secrets(error.message)
            if error.status_code == 429 or error.status_code >= 500:
                raise TransientBackendError(f"{name}: {what}: HTTP {error.status_code}: {said}") from error
            raise BackendError(f"{name}: {what}: HTTP {error.status_code}: {said}") from error
        except openai.APIConnectionError as error:
            raise TransientBackendError(f"{name}: {what}: no connection ({type(error).__name__})") from error


def _read(state: Path) -> list[Batch]:
    if not state.exists():
        return []
    try:
        return [Batch.model_validate(body) for body in json.loads(state.read_bytes())]
    except ValueError as error:
        raise BackendError(f"{state}: cannot be read ({error}); it names batches under way, and paid for") from error
