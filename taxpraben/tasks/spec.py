"""What a task is: its place in the benchmark, the form of its answer, its prompts, its scoring, its drafting."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field as Setting
from pydantic import model_validator

from taxpraben.records.base import JsonObject, Part
from taxpraben.records.document import DocumentKind, PartKind
from taxpraben.records.field import Field, FieldKind

AnswerForm = Literal["single", "set", "number", "span", "text", "fields"]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Title(Part):
    """A name in both languages of the portal."""

    zh: str
    en: str


class ScoreGroup(Part):
    """Fields that one metric judges; the task's score is the mean of its groups' means.

    Attributes:
        metric: the metric's name.
        fields: field names; or empty, with ``kind`` choosing the item's own fields of that kind.
    """

    metric: str
    fields: list[str] = []
    kind: FieldKind | None = None


class ScoreRule(Part):
    """How the dataset score S is made: the plain mean of metrics, or of field groups (appendix F.3 and F.4)."""

    metrics: list[str] = []
    groups: list[ScoreGroup] = []

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.metrics) == bool(self.groups):
            raise ValueError("score needs either metrics or groups")
        return self


class Limits(Part):
    """Limits of one call, in tokens of the model's own tokenizer (section 6.3).

    Attributes:
        cut_text: whether an over-long passage may be cut (the question and options never are) and flagged.
    """

    input_tokens: int = 2048
    new_tokens: int = 200
    cut_text: bool = False


class Lengths(Part):
    """Published lengths in characters, smallest and largest (Table C3)."""

    input: tuple[int, int]
    label: tuple[int, int]


class DraftStep(Part):
    """One model call of a draft.

    Attributes:
        name: the step's name; its reply is known under it to later steps and templates.
        prompt: a template over the document's and the part's data and earlier steps' replies.
        reply: ``text``, ``json`` (an object with ``keys``), or ``verdict`` (off topic unless it begins with 是).
        keys: the keys of a JSON reply; each becomes a variable. Empty: any object, known whole as the step's name.
        into: the step's reply replaces this variable (``compress`` replaces ``text``).
        over: the step runs only where variable ``into`` is longer than this many characters.
    """

    name: str
    prompt: str
    reply: Literal["text", "json", "verdict"] = "text"
    keys: list[str] = []
    into: str = ""
    over: int = 0
    new_tokens: int = 300


class Drafting(Part):
    """How drafts are made. Without steps the source gives the answer and the draft is ``parsed``.

    Attributes:
        version: raised when a prompt or template changes; part of the draft's provenance.
        documents: kinds of documents that the task takes from.
        unit: one draft for each part of this kind, or for each whole ``document``.
        where: values that the part's data (or the document's columns) must have.
        text, answer: templates; variables are the document's columns (title, text, summary, category, published_zh),
            the part's label, text and data, and replies of steps.
        choices: variable that holds option texts, or ``labels`` for the task's fixed labels.
        gold: variable that holds letters, a label or a list of labels.
        fields: variable that holds the item's own fields with their answers, for tasks that leave them to the item.
        unit_of: variable that holds the unit of a number answer.
    """

    version: int
    documents: list[DocumentKind]
    unit: PartKind | Literal["document"]
    where: JsonObject = {}
    steps: list[DraftStep] = []
    text: str
    answer: str = ""
    choices: str = ""
    gold: str = ""
    fields: str = ""
    unit_of: str = ""


class TaskSpec(Part):
    """A task, as its folder states it.

    Attributes:
        level: KM memorise, KU understand, KA apply.
        nlp_type: CLS, GEN or REA.
        creation: MC definite answers from people; HG drafted by a model and checked by people.
        size: number of items in the paper.
        order: place within its level in Table 1; tasks that are not in the paper come last.
        form: what an answer is read as.
        options: number of options that each item brings; 0 for none or fixed labels.
        labels: fixed option texts, A first.
        gold_size: smallest and largest number of right options.
        fields: fields of the answer; empty with ``fields_from_item`` where each item has its own.
    """

    name: str
    title: Title
    version: int
    domain: str
    level: Literal["KM", "KU", "KA"]
    nlp_type: Literal["CLS", "GEN", "REA"]
    creation: Literal["MC", "HG"]
    size: int
    order: int = 99
    form: AnswerForm
    options: int = 0
    labels: list[str] = []
    gold_size: tuple[int, int] = (1, 1)
    fields: list[Field] = []
    fields_from_item: bool = False
    score: ScoreRule
    limits: Limits = Limits()
    lengths: Lengths
    prompts: list[str] = Setting(min_length=1)
    drafting: Drafting

    @model_validator(mode="after")
    def _form_has_what_it_needs(self) -> Self:
        if self.form in ("single", "set") and not (self.options or self.labels):
            raise ValueError(f"form {self.form!r} needs options or labels")
        if self.form == "fields" and bool(self.fields) == self.fields_from_item:
            raise ValueError("form 'fields' needs fields, or fields_from_item")
        known = {field.name for field in self.fields}
        for group in self.score.groups:
            unknown = [name for name in group.fields if name not in known]
            if unknown:
                raise ValueError(f"score group names unknown fields {unknown}; the task has {sorted(known)}")
        return self

    @property
    def letters(self) -> str:
        """The letters that an answer may use, in order; empty for other forms."""
        return LETTERS[: self.options or len(self.labels)]

    @property
    def metric_names(self) -> list[str]:
        """Metrics that the score rule uses, in order, each once."""
        named = self.score.metrics or [group.metric for group in self.score.groups]
        return list(dict.fromkeys(named))

    def fields_of(self, own: list[Field]) -> list[Field]:
        """The fields that an item's answer has: its own where the task leaves them to the item."""
        return own if self.fields_from_item else self.fields
