"""Public weights through transformers, on whatever torch finds: one answer at a time, for trials and small models."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal, Self

from taxpraben.backends.protocol import (
    BackendError,
    Capabilities,
    Message,
    Reply,
    Request,
    TokenCount,
    status_of,
)
from taxpraben.records.base import Part


class TransformersOptions(Part):
    """What an entry of models.yaml with ``backend: transformers`` may say.

    Attributes:
        dtype: of the weights in memory; part of the identity, because it changes greedy answers.
        device: ``auto`` takes a GPU where there is one.
        threads: torch's threads on a CPU; 0 leaves them alone.
        trust_remote_code: whether the repository's own code may run (Baichuan2, ChatGLM3, InternLM2.5 need it).
    """

    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int = 0
    trust_remote_code: bool = False


class TransformersBackend:
    """One model in this process."""

    def __init__(
        self, name: str, options: TransformersOptions, source: str | Path, revision: str, identity: str
    ) -> None:
        """Take a folder, or a hub id with its revision; ``identity`` names the weights in every request."""
        self.name = name
        self.options = options
        self._source = str(source)
        self._hub_revision = revision
        self._identity = identity
        self._model: Any = None
        self._tokenizer: Any = None
        self._turn = asyncio.Lock()

    @property
    def revision(self) -> str:
        """The weights and the dtype."""
        return f"transformers|{self._identity}|{self.options.dtype}"

    @property
    def capabilities(self) -> Capabilities:
        """One answer at a time; a seed repeats a drawn answer."""
        return Capabilities(completion=True, seed=True, logprobs=True, concurrency=1)

    async def __aenter__(self) -> Self:
        """Load the weights.

        Raises:
            BackendError: they are not there or do not fit.
        """
        try:
            await asyncio.to_thread(self._load)
        except (OSError, ValueError, RuntimeError, MemoryError) as error:
            raise BackendError(
                f"{self.name}: transformers could not load {self._source} ({error}); see `taxpraben models check`"
            ) from error
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Drop the weights."""
        self._model = self._tokenizer = None

    def _load(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        if self.options.threads:
            torch.set_num_threads(self.options.threads)
        device = self.options.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        common = {"revision": self._hub_revision or None, "trust_remote_code": self.options.trust_remote_code}
        self._tokenizer = AutoTokenizer.from_pretrained(self._source, **common)
        model = AutoModelForCausalLM.from_pretrained(self._source, dtype=getattr(torch, self.options.dtype), **common)
        self._model = model.to(device).eval()

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        async with self._turn:
            return await asyncio.to_thread(self._generate, request)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the model's own tokenizer."""
        return TokenCount(tokens=len(prompt_ids(self._tokenizer, messages)), exact=True)

    def _generate(self, request: Request) -> Reply:
        import torch

        sampling = request.sampling
        ids = prompt_ids(self._tokenizer, request.messages)
        if sampling.seed is not None:
            torch.manual_seed(sampling.seed)
        drawn = sampling.temperature > 0
        # a penalty in the repository's generation_config.json would change even greedy answers, unlike other engines
        settings: dict[str, Any] = {
            "do_sample": drawn,
            "max_new_tokens": sampling.max_tokens,
            "repetition_penalty": 1.0,
        }
        if drawn:
            settings |= {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        given = torch.tensor([ids], device=self._model.device)
        with torch.inference_mode():
            out = self._model.generate(given, attention_mask=torch.ones_like(given), **settings)
        new = out[0, len(ids) :].tolist()
        ended = bool(new) and new[-1] in _end_ids(self._model)
        text = self._tokenizer.decode(new, skip_special_tokens=True)
        finish = "stop" if ended or len(new) < sampling.max_tokens else "length"
        if finish == "length":
            text = text.rstrip("\ufffd")  # half a character at the cut, which the other engines leave out
        return Reply(
            status=status_of(text, finish),
            text=text,
            finish_reason=finish,
            prompt_tokens=len(ids),
            completion_tokens=len(new),
        )


def prompt_ids(tokenizer: Any, messages: list[Message]) -> list[int]:
    """The token ids of a conversation: the chat template once, and one beginning-of-text where the model has it.

    A tokenizer without a template (a base model) gets the contents alone.
    """
    if tokenizer.chat_template:
        turns = [message.model_dump() for message in messages]
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    else:
        text = "\n\n".join(message.content for message in messages)
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    begin = tokenizer.bos_token_id
    if begin is None:
        return ids
    while ids[:1] == [begin]:
        ids = ids[1:]
    wants = tokenizer.encode("", add_special_tokens=True)[:1] == [begin] or text.startswith(tokenizer.bos_token)
    return [begin, *ids] if wants else ids


def _end_ids(model: Any) -> set[int]:
    ends = model.generation_config.eos_token_id
    if ends is None:
        return set()
    return set(ends) if isinstance(ends, list) else {ends}
