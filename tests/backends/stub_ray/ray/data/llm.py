from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ray.data import Dataset


def vLLMEngineProcessorConfig(**settings: Any) -> dict[str, Any]:  # noqa: N802
    return settings


def build_processor(
    config: dict[str, Any], preprocess: Callable[[Any], Any], postprocess: Callable[[Any], Any]
) -> Callable[[Dataset], Dataset]:
    """An engine that repeats the prompt up to the limit, refuses [refuse], breaks at [break], loses [lose]."""

    def answer(row: dict[str, Any]) -> dict[str, Any]:
        ids = row["tokenized_prompt"]
        said = "".join(map(chr, ids))
        if "[break]" in said:
            raise RuntimeError("the cluster is full")
        new = [*ids, 0][: row["sampling_params"]["max_tokens"]]
        return {
            "id": row["id"],
            "generated_text": "" if "[lose]" in said else said[: len(new)],
            "generated_tokens": new,
            "num_input_tokens": len(ids),
            "num_generated_tokens": len(new),
            "__inference_error__": "a row's own fault" if "[refuse]" in said else "",
        }

    return lambda dataset: Dataset([postprocess(answer(preprocess(row))) for row in dataset.rows])
