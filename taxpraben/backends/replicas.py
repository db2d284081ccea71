"""Several engines with the same weights side by side: each question goes to the one with the least to do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Self

from taxpraben.backends.protocol import (
    Backend,
    BackendError,
    Capabilities,
    Message,
    Reply,
    Request,
    TerminalBackendError,
    TokenCount,
    TransientBackendError,
)
from taxpraben.records.base import JsonObject


class ReplicaBackend:
    """Independent replicas as one backend; one that dies leaves its questions to the others."""

    def __init__(self, name: str, members: Sequence[Backend]) -> None:
        """Take the replicas, not started; their revisions are equal."""
        self.name = name
        self.members = list(members)
        self._busy = [0] * len(self.members)
        self._dead: set[int] = set()

    @property
    def revision(self) -> str:
        """The members' own: how many there are shapes no answer."""
        return self.members[0].revision

    @property
    def capabilities(self) -> Capabilities:
        """What one member offers, and room for as many questions as all of them take."""
        one = self.members[0].capabilities
        return one.model_copy(update={"concurrency": one.concurrency * len(self.members)})

    @property
    def engine(self) -> JsonObject:
        """The first member's facts and the number of replicas."""
        return {**getattr(self.members[0], "engine", {}), "replicas": len(self.members)}

    async def __aenter__(self) -> Self:
        """Start all members side by side.

        Raises:
            BackendError: one of them does not start; then none is left running.
        """
        self._dead.clear()
        started = await asyncio.gather(*(member.__aenter__() for member in self.members), return_exceptions=True)
        failures = [one for one in started if isinstance(one, BaseException)]
        if failures:
            await self.__aexit__()
            raise failures[0]
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Stop all members."""
        await asyncio.gather(*(member.__aexit__(None, None, None) for member in self.members))

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``; a member that dies meanwhile makes it transient while another lives."""
        at = self._idlest()
        self._busy[at] += 1
        try:
            return await self.members[at].answer(request)
        except TerminalBackendError as error:
            if not error.whole_run:
                raise
            raise self._lost(at, error) from error
        except TransientBackendError:
            raise
        except BackendError as error:
            raise self._lost(at, error) from error
        finally:
            self._busy[at] -= 1

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``."""
        return await self.members[self._idlest()].count_tokens(messages)

    def _idlest(self) -> int:
        living = [at for at in range(len(self.members)) if at not in self._dead]
        if not living:
            raise TerminalBackendError(f"{self.name}: every replica has ended", whole_run=True)
        return min(living, key=lambda at: (self._busy[at], at))

    def _lost(self, at: int, error: BackendError) -> BackendError:
        self._dead.add(at)
        if len(self._dead) == len(self.members):
            return TerminalBackendError(f"{self.name}: every replica has ended; the last: {error}", whole_run=True)
        return TransientBackendError(f"{self.name}: replica {at} has ended ({error}); another is asked")
