"""A dataset configuration for OpenCompass: all tasks, zero-shot and one-shot."""

from __future__ import annotations

from collections.abc import Sequence

from taxpraben.tasks.spec import TaskSpec

_HEAD = '''"""TaxPraBen release {release} for OpenCompass; paths are relative to the folder that holds questions/."""

from opencompass.datasets import CustomDataset
from opencompass.openicl.icl_evaluator import AccEvaluator, JiebaRougeEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.utils.text_postprocessors import first_option_postprocess

# name, new tokens, options of a single choice (read as its first option), whether answers are compared exactly
_TASKS = [
'''
_TAIL = """
]

taxpraben_datasets = []
for _setting in ("zero_shot", "one_shot"):
    for _name, _tokens, _options, _exact in _TASKS:
        _eval_cfg = dict(evaluator=dict(type=AccEvaluator if _exact else JiebaRougeEvaluator), pred_role="BOT")
        if _options:
            _eval_cfg["pred_postprocessor"] = dict(type=first_option_postprocess, options=_options)
        taxpraben_datasets.append(
            dict(
                abbr=f"taxpraben-{_name}-{_setting}",
                type=CustomDataset,
                path=f"./questions/{_name}.jsonl",
                reader_cfg=dict(input_columns=[_setting], output_column="answer"),
                infer_cfg=dict(
                    prompt_template=dict(
                        type=PromptTemplate,
                        template=dict(round=[dict(role="HUMAN", prompt="{" + _setting + "}")]),
                    ),
                    retriever=dict(type=ZeroRetriever),
                    inferencer=dict(type=GenInferencer, max_out_len=_tokens),
                ),
                eval_cfg=_eval_cfg,
            )
        )
"""


def dataset_config(tasks: Sequence[TaskSpec], release: str) -> str:
    """A Python configuration that defines ``taxpraben_datasets``, for the tasks that have items.

    Figures of OpenCompass's own evaluators (accuracy of the text as given, ROUGE) are a first look.
    """
    rows = [
        (
            spec.name,
            spec.limits.new_tokens,
            spec.letters if spec.form == "single" else "",
            spec.form in ("single", "set", "number", "span"),
        )
        for spec in tasks
    ]
    return _HEAD.format(release=release) + "\n".join(f"    {row!r}," for row in rows) + _TAIL
