"""Criminal verdicts in the three record forms of China Judgments Online: facts found, articles cited, charge."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from stages.ingest.dates import iso_date
from stages.ingest.markup import lines_of, parse_html
from stages.ingest.outcome import Harvest, Place, new_document
from taxpraben.records.document import DocumentPart
from taxpraben.text.normalise import tidy
from taxpraben.text.numerals import NUMERAL

_SCRIPT = re.compile(r"""(?:var\s+)?jsonHtmlData\s*=\s*("(?:[^"\\]|\\.)*")""", re.DOTALL)
_ANCHOR = re.compile(r"""<a\s+type=['"]dir['"]\s+name=['"]([A-Z]+)['"]\s*>\s*</a>""", re.IGNORECASE)
_FOUND = re.compile(
    r"(?:经(?:本院|法庭|公开)?(?:依法)?审理查明|本院(?:经审理)?查明|经审理认定)(?:的?事实(?:如下)?)?[，,：:]?\s*"
)
# The list of evidence opens a sentence; "如实供述了上述事实" inside one does not.
_EVIDENCE = re.compile(
    r"(?:^|(?<=[。\n]))(?:上述|以上|前述)(?:犯罪)?事实[，,]?(?:有|均|经|被告|且|足以)|(?:^|(?<=[。\n]))认定上述事实的证据"
)
_CRIMINAL_LAW = re.compile(r"《(?:中华人民共和国)?刑法》|(?<!《)刑法(?=第)")
_CITED = re.compile(rf"第([{NUMERAL}]+)条(?:之([{NUMERAL}]+))?")
_ROW = re.compile(
    rf"(?:[、，,和及以\s]*(?:第[{NUMERAL}]+(?:条(?:之[{NUMERAL}]+)?|款|项)|第?[（(][{NUMERAL}]+[）)]项?))+"
)
_CHARGE = re.compile(r"犯([\u4e00-\u9fff、（）()]{2,40}?罪)(?![的行])")
_CASE_NUMBER = re.compile(r"[（(]\s*\d{4}\s*[）)]\s*[\u4e00-\u9fff\d]{2,20}?\d+号")


class VerdictError(ValueError):
    """A file that is none of the three record forms."""


@dataclass
class VerdictRecord:
    """A verdict taken apart.

    Attributes:
        sections: text by part: ``head``, ``parties``, ``procedure``, ``facts``, ``reasons``, ``ruling``, ``tail``.
        parties: names of the parties where the record has them as a field.
        charges: charges where the record has them as a field.
    """

    title: str
    court: str
    number: str
    published: str
    decided: str
    sections: dict[str, str]
    parties: list[str] = field(default_factory=list)
    charges: list[str] = field(default_factory=list)


_ANCHORS = {
    "WBSB": "head", "DSRXX": "parties", "SSJL": "procedure", "AJJBQK": "facts", "CPYZ": "reasons", "PJJG": "ruling",
    "WBWB": "tail",
}  # fmt: skip
_FIELDS = {"s22": "head", "s23": "procedure", "s25": "facts", "s26": "reasons", "s27": "ruling", "s28": "tail"}
SECTIONS = ("head", "parties", "procedure", "facts", "reasons", "ruling", "tail")


def parse_verdict(text: str) -> VerdictRecord:
    """A verdict from one of the three forms: a page's JavaScript string, ``{Title, PubDate, Html}``, ``s1`` to ``s54``.

    Records wrapped once more (``{"source": "…"}``) are unwrapped.

    Raises:
        VerdictError: the text is none of these.
    """
    stripped = text.lstrip("\ufeff \n\r\t")
    if stripped.startswith("{"):
        record: Any = _json(stripped)
    else:
        match = _SCRIPT.search(text)
        if match is None:
            raise VerdictError("neither a JSON record nor a page with jsonHtmlData")
        record = _json(_json(match.group(1)))
    if isinstance(record, dict) and isinstance(record.get("source"), str):
        record = _json(record["source"])
    if isinstance(record, dict) and "Html" in record:
        return _from_anchors(record)
    if isinstance(record, dict) and ("s25" in record or "qwContent" in record):
        return _from_fields(record)
    raise VerdictError("the record has neither Html nor s25; known forms: page, {Title, PubDate, Html}, s1 to s54")


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        raise VerdictError(f"the record is no JSON ({error.msg} at character {error.pos})") from error


def _from_anchors(record: dict[str, Any]) -> VerdictRecord:
    pieces = _ANCHOR.split(str(record["Html"]))
    sections = {
        _ANCHORS[name.upper()]: "\n".join(lines_of(parse_html(html)))
        for name, html in zip(pieces[1::2], pieces[2::2], strict=True)
        if name.upper() in _ANCHORS
    }
    if not sections:
        raise VerdictError("Html has no anchors of type dir")
    head = sections.get("head", "").split("\n")
    number = _CASE_NUMBER.search(sections.get("head", ""))
    return VerdictRecord(
        title=str(record.get("Title", "")).strip(),
        court=head[0] if head else "",
        number=number.group() if number else "",
        published=iso_date(str(record.get("PubDate", ""))),
        decided="",
        sections=sections,
    )


def _from_fields(record: dict[str, Any]) -> VerdictRecord:
    sections = {name: tidy(str(record[key])) for key, name in _FIELDS.items() if record.get(key)}
    whole = lines_of(parse_html(str(record.get("qwContent", ""))))
    # The fields have no part for the parties; the whole text has them between the case number and the procedure.
    number = str(record.get("s7", ""))
    numbered = next((at for at, line in enumerate(whole) if _same(line, number)), -1)
    start = sections.get("procedure", "")[:12]
    begins = next((at for at, line in enumerate(whole) if start and line.startswith(start)), -1)
    if 0 <= numbered < begins:
        sections["parties"] = "\n".join(whole[numbered + 1 : begins])
    return VerdictRecord(
        title=str(record.get("s1", "")).strip(),
        court=str(record.get("s2", "")).strip(),
        number=number.strip(),
        published=iso_date(str(record.get("s41", ""))),
        decided=iso_date(str(record.get("s31", ""))),
        sections=sections,
        parties=[str(name) for name in record.get("s17") or []],
        charges=[str(name) for name in record.get("s11") or []],
    )


def _same(line: str, number: str) -> bool:
    fold = str.maketrans("（）", "()")
    return bool(number) and line.translate(fold).strip() == number.translate(fold).strip()


def facts_found(section: str) -> str:
    """The facts that the court found: from 经审理查明 to the list of evidence; the lead phrase is left out.

    Where the court found what the prosecution says (no such phrase), the whole section.
    """
    match = _FOUND.search(section)
    text = section[match.end() :] if match else section
    end = _EVIDENCE.search(text)
    return text[: end.start()].strip() if end and end.start() > 0 else text.strip()


def cited_articles(reasons: str) -> list[str]:
    """Articles of the Criminal Law in the order cited, each once: ``刑法第二百零五条之一`` (no 款, no other law)."""
    out: list[str] = []
    for law in _CRIMINAL_LAW.finditer(reasons):
        stretch = reasons[law.end() :]
        other = stretch.find("《")
        stretch = stretch[:other] if other >= 0 else stretch
        # Cited articles stand in a row, parted by 、 and 第…款; the row ends at the first other word.
        row = _ROW.match(stretch)
        for number, sub in _CITED.findall(row.group() if row else ""):
            name = f"刑法第{number}条" + (f"之{sub}" if sub else "")
            if name not in out:
                out.append(name)
    return out


def charges_of(record: VerdictRecord) -> list[str]:
    """The charges of conviction: the record's field, else what the ruling says after 犯, each once."""
    if record.charges:
        return list(dict.fromkeys(record.charges))
    ruling = record.sections.get("ruling", "")
    return list(dict.fromkeys(_CHARGE.findall(ruling)))


def read_verdict(place: Place, text: str) -> tuple[Harvest, VerdictRecord]:
    """A verdict as one document of kind ``verdict`` with a part of kind ``facts``; names are not yet masked.

    Raises:
        VerdictError: the text is none of the three record forms.
    """
    harvest = Harvest()
    record = parse_verdict(text)
    facts = facts_found(record.sections.get("facts", ""))
    if not facts:
        harvest.set_aside(place, "facts", "the verdict has no facts", "check the record's part AJJBQK or s25")
        return harvest, record
    articles = cited_articles(record.sections.get("reasons", "") + "\n" + record.sections.get("ruling", ""))
    charges = charges_of(record)
    if not articles:
        harvest.set_aside(place, "reasons", "no article of the Criminal Law is cited", "use criminal verdicts only")
    lines = [record.sections[name] for name in SECTIONS if record.sections.get(name)]
    part = DocumentPart(
        kind="facts", label="经审理查明", text=facts, data={"articles": list(articles), "charge": "、".join(charges)}
    )
    harvest.documents.append(
        new_document(
            place,
            "verdict",
            record.title,
            tidy("\n".join(lines)),
            [part],
            publisher=record.court,
            number=record.number,
            published=record.published or record.decided,
        )
    )
    return harvest, record
