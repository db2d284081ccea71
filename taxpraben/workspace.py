"""Where the files of a workspace lie, and which parameters hold: params.yaml, its profiles, data/PROFILE/."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taxpraben.records.answer import SETTINGS, Setting

QUEUE_URL = "TAXPRABEN_QUEUE_URL"
"""Environment variable: SQLAlchemy URL of the review queue. It holds a password, so it stands in no file."""


class Params(BaseModel):
    """Base of every stage's parameters: frozen, and an unknown key is an error.

    What several stages need of one section is a base below that overlooks the section's other keys; the section's own
    stage adds these, so every default stands once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class ReleaseParams(Params):
    """What every stage after build needs of the section ``build``: the number of the release that holds."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    release: str = Field(default="0.1.0", pattern=r"^\d+\.\d+\.\d+$")


class ReleasedParams(ReleaseParams):
    """Of the section ``build``, for those who make or check a release.

    Attributes:
        near_duplicate: Jaccard similarity of character shingles from which two texts count as the same question.
    """

    near_duplicate: float = Field(default=0.6, gt=0, le=1)


class PlanOverrides(Params):
    """The plan of one model or one group of models; unset keys leave the stage's own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    settings: list[Setting] | None = Field(default=None, min_length=1)
    runs: int | None = Field(default=None, ge=1)
    items_per_task: int | None = Field(default=None, ge=0)


class PlanParams(Params):
    """Of the section ``infer``, for those who ask or check that all was asked: how many answers are planned.

    Attributes:
        settings: zero-shot, one-shot, or both.
        runs: repetitions, each with a seed of its own.
        items_per_task: so many items of each task, drawn by seed; 0 takes all.
        overrides: by group (``baseline``) or model name, the name counting last.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    settings: list[Setting] = Field(default=list(SETTINGS), min_length=1)
    runs: int = Field(default=5, ge=1)
    items_per_task: int = Field(default=0, ge=0)
    overrides: Mapping[str, PlanOverrides] = {}

    def of_model(self, name: str, group: str) -> Self:
        """What holds for this model: the stage's own, then its group's, then its own overrides."""
        changes: dict[str, object] = {}
        for key in (group, name):
            if key in self.overrides:
                changes |= self.overrides[key].model_dump(exclude_none=True)
        return self.model_validate({**self.model_dump(), **changes, "overrides": {}})


class SubstituteParams(Params):
    """Of the section ``score``, for those who score, rank or check.

    Attributes:
        substitute: metrics that stand in for others, for example ``bartscore: likelihood`` where no BART is at hand;
            rows carry the name of the metric that was really used.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    substitute: dict[str, str] = {}


class RankedParams(Params):
    """Of the section ``rank``, for those who rank or check.

    Attributes:
        domain: the domain whose tasks make up the groups.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    domain: str = "tax"


ParamsT = TypeVar("ParamsT", bound=Params)


class WorkspaceError(ValueError):
    """A workspace whose parameters or files are wrong; the message names the file, the key and the remedy."""


@dataclass(frozen=True)
class Workspace:
    """A folder with params.yaml, models.yaml and dvc.yaml, seen through one profile.

    Attributes:
        root: the folder; every path below is under it.
        profile: the profile in force; outputs lie in ``data/PROFILE``.
        sources: the folder (or file) that ingest reads.
        asking: number of the present asking; replies shipped with a sample count only in asking 0.
    """

    root: Path
    profile: str
    sources: Path
    asking: int
    params: dict[str, Any]

    def section(self, name: str, kind: type[ParamsT]) -> ParamsT:
        """A stage's parameters: ``defaults.NAME`` overlaid by ``profiles.PROFILE.NAME``, mapping by mapping.

        Raises:
            WorkspaceError: a key is unknown or a value is wrong.
        """
        default = self.params.get("defaults", {}).get(name) or {}
        overlay = self.params["profiles"][self.profile].get(name) or {}
        try:
            return kind.model_validate(_overlay(default, overlay))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            close = difflib.get_close_matches(where, kind.model_fields, n=1)
            hint = f"; did you mean {close[0]!r}?" if first["type"] == "extra_forbidden" and close else ""
            raise WorkspaceError(
                f"{self.root / 'params.yaml'}: {name}.{where} (profile {self.profile!r}): {first['msg']}{hint}"
            ) from error

    @property
    def out(self) -> Path:
        """The profile's output folder."""
        return self.root / "data" / self.profile

    @property
    def documents(self) -> Path:
        """Output of ingest; quarantined.parquet, images and the crawl's cache lie beside it."""
        return self.out / "documents.parquet"

    @property
    def quarantined(self) -> Path:
        """What ingest could not take."""
        return self.out / "quarantined.parquet"

    @property
    def pages(self) -> Path:
        """Folder of pages.parquet and page pictures, output of ingest (``records.page``)."""
        return self.out / "pages"

    @property
    def pseudonyms(self) -> Path:
        """What masking took out, sealed; there where ingest ran with a key. DVC does not know it."""
        return self.out / "pseudonyms.jsonl"

    @property
    def drafts(self) -> Path:
        """Folder of TASK.parquet, output of draft."""
        return self.out / "drafts"

    @property
    def queue_url(self) -> str:
        """SQLAlchemy URL of the review queue: a file of the profile's, unless TAXPRABEN_QUEUE_URL names a database.

        The variable is a credential (it may hold a password): read here, in no log. A database holds the drafts of one
        profile, so each profile needs a URL of its own.
        """
        named = os.environ.get(QUEUE_URL, "").strip()
        if named:
            return named
        return f"sqlite:///{self.out / 'queue.sqlite'}"

    @property
    def decisions(self) -> Path:
        """Output of review."""
        return self.out / "decisions.parquet"

    @property
    def benchmark(self) -> Path:
        """Folder of RELEASE/TASK.parquet and .jsonl, output of build."""
        return self.out / "benchmark"

    @property
    def release(self) -> Path:
        """The folder of the release that the section ``build`` numbers."""
        return self.benchmark / self.section("build", ReleaseParams).release

    @property
    def checks(self) -> Path:
        """Folder of BORDER.json, output of check."""
        return self.out / "checks"

    @property
    def journals(self) -> Path:
        """Folder of the present asking's append-only journals of model calls; kept over runs, no DVC output."""
        return self.out / "journals" / str(self.asking)

    def answers(self, model: str) -> Path:
        """Output of infer for one model."""
        return self.out / "answers" / f"{model}.parquet"

    def answers_record(self, model: str) -> Path:
        """What made a model's answers, beside them."""
        return self.out / "answers" / f"{model}.record.json"

    def readings(self, model: str) -> Path:
        """Output of read for one model."""
        return self.out / "readings" / f"{model}.parquet"

    def scores(self, model: str) -> Path:
        """Output of score for one model."""
        return self.out / "scores" / f"{model}.parquet"

    @property
    def standings(self) -> Path:
        """Output of rank."""
        return self.out / "standings.parquet"

    @property
    def site(self) -> Path:
        """Folder of the static board and exports, output of publish."""
        return self.out / "site"


def open_workspace(root: Path = Path()) -> Workspace:
    """Read params.yaml in ``root``.

    Raises:
        WorkspaceError: the file is missing, is no mapping, or names a profile that it does not have.
    """
    path = root / "params.yaml"
    if not path.exists():
        raise WorkspaceError(f"{path.absolute()}: no such file; run from the folder that holds params.yaml")
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(raw, dict) or not isinstance(raw.get("profiles"), dict):
        raise WorkspaceError(f"{path}: must hold 'profile', 'sources', 'defaults' and 'profiles'")
    profile = str(raw.get("profile", ""))
    if profile not in raw["profiles"]:
        close = difflib.get_close_matches(profile, raw["profiles"], n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(raw['profiles'])}"
        raise WorkspaceError(f"{path}: unknown profile {profile!r}; {hint}")
    return Workspace(
        root=root,
        profile=profile,
        sources=root / str(raw.get("sources", "sources")),
        asking=int(raw.get("asking", 0)),
        params=raw,
    )


def _overlay(default: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    merged = dict(default)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _overlay(merged[key], value) if both else value
    return merged
