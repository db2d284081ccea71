"""The sentences of masking_sentences.txt with invented numbers filled in, and how well the masking does on them."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from stages.ingest.masking import what_to_mask
from stages.ingest.outcome import Place, new_document
from taxpraben.records.document import DocumentPart

SENTENCES = Path(__file__).with_name("masking_sentences.txt")
EXACT = ("identity_number", "credit_code", "bank_card", "phone")
KINDS = (*EXACT, "landline", "plate", "email", "address", "person", "company")
_SLOT = re.compile(r"\{(\w+)(?:\|([^}]*))?\}")


@dataclass
class Found:
    """Counts by kind over the sentences; ``wrong`` lists each miss and each thing masked that should stay."""

    right: Counter[str] = field(default_factory=Counter)
    stated: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def recall(self, kind: str) -> float:
        return self.right[kind] / self.stated[kind]

    def precision(self, kind: str) -> float:
        return self.right[kind] / max(1, self.masked[kind])


def read_sentences() -> list[tuple[str, list[tuple[str, str]]]]:
    """Each sentence with (kind, surface) of what is personal in it; the numbers are the same at each call."""
    draw = random.Random(20261130)
    out = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        spans: list[tuple[str, str]] = []

        def fill(match: re.Match[str], spans: list[tuple[str, str]] = spans) -> str:
            kind, surface = match.group(1), match.group(2) or _NUMBERS[match.group(1)](draw)
            spans.append((kind, surface))
            return surface

        out.append((_SLOT.sub(fill, line), spans))
    return out


def measure() -> Found:
    """Masks every sentence as a board post and compares surface by surface."""
    found = Found()
    for text, spans in read_sentences():
        part = DocumentPart(kind="body", label="正文", text=text)
        swaps = what_to_mask(new_document(Place("s", "sites", "o"), "board", "", text, [part]))
        got = {(kind, surface) for surface, (kind, _) in swaps.items()}
        for kind, surface in spans:
            found.stated[kind] += 1
            if (kind, surface) in got:
                found.right[kind] += 1
            else:
                found.wrong.append(f"missed {kind} {surface}: {text}")
        for kind, surface in sorted(got):
            found.masked[kind] += 1
            if (kind, surface) not in spans:
                found.wrong.append(f"masked {kind} {surface}: {text}")
    return found


def _digits(draw: random.Random, size: int) -> str:
    return "".join(draw.choice("0123456789") for _ in range(size))


def _identity_number(draw: random.Random) -> str:
    """No district has the number 99 9999; the check character leaves 1 in ISO 7064 MOD 11-2."""
    head = f"999999{draw.randint(1950, 2010)}{draw.randint(1, 12):02}{draw.randint(1, 28):02}{_digits(draw, 3)}"
    total = sum(int(digit) * 2 ** (17 - place) for place, digit in enumerate(head))
    return head + "0123456789X"[(12 - total % 11) % 11]


def _credit_code(draw: random.Random) -> str:
    """The check character of GB 32100: weights are powers of 3, modulo 31."""
    alphabet = "0123456789ABCDEFGHJKLMNPQRTUWXY"
    head = "91999999" + "".join(draw.choice(alphabet) for _ in range(9))
    total = sum(alphabet.index(char) * 3**place for place, char in enumerate(head))
    return head + alphabet[-total % 31]


def _bank_card(draw: random.Random) -> str:
    """Luhn's check digit behind fifteen or eighteen digits."""
    head = "62" + _digits(draw, draw.choice([13, 16]))
    total = sum(sum(divmod(int(digit) * 2, 10)) if at % 2 == 0 else int(digit) for at, digit in enumerate(head[::-1]))
    card = head + str(-total % 10)
    return " ".join(card[at : at + 4] for at in range(0, 16, 4)) if draw.random() < 0.3 and len(card) == 16 else card


def _phone(draw: random.Random) -> str:
    number = f"1{draw.choice('3578')}{_digits(draw, 9)}"
    return f"{number[:3]}-{number[3:7]}-{number[7:]}" if draw.random() < 0.2 else number


def _landline(draw: random.Random) -> str:
    area, number = draw.choice([("010", 8), ("021", 8), ("0571", 8), ("0739", 7)])
    return draw.choice([f"{area}-{{}}", f"({area}){{}}", f"（{area}）{{}}"]).format("6" + _digits(draw, number - 1))


_NUMBERS = {
    "identity_number": _identity_number, "credit_code": _credit_code, "bank_card": _bank_card, "phone": _phone,
    "landline": _landline,
}  # fmt: skip
