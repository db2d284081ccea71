"""What masking took out, sealed with a key that is kept elsewhere: without the key no pseudonym can be undone."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from stages.ingest.outcome import Taken
from taxpraben.records.base import Record, read_jsonl, write_jsonl
from taxpraben.records.document import Document

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

KEY = "TAXPRABEN_PSEUDONYM_KEY"
"""Name of the environment variable that holds the key; the key itself is in no file of ours."""

_LEAST = 24  # characters; what `new_key` makes has 86


class SealError(ValueError):
    """A key that is too short or not the one that sealed, or a text that was never sealed."""


class Sealed(Record):
    """What was taken out of one document: base64 of the sealed list of (start, token, surface)."""

    NAME: ClassVar[str] = "sealed"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("document_id",)

    document_id: str
    sealed: str


def new_key() -> str:
    """A random key of 512 bits as text."""
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    return base64.urlsafe_b64encode(AESSIV.generate_key(512)).decode().rstrip("=")


def write_sealed(path: Path, documents: Sequence[Document], taken: Mapping[str, Sequence[Taken]], key: str) -> int:
    """Write what was taken out of each document, one sealed line a document, in the order of the documents.

    AES-SIV (RFC 5297) is deterministic: the same documents and key give the same bytes. The document's id and digest
    are bound in, so that a line counts for that text only.

    Returns:
        How many documents had something taken out.

    Raises:
        SealError: the key is too short.
    """
    cipher = _cipher(key)
    rows = []
    for document in documents:
        if places := taken.get(document.document_id):
            plain = json.dumps([[place.start, place.token, place.surface] for place in places], ensure_ascii=False)
            sealed = cipher.encrypt(plain.encode(), _bound(document))
            rows.append(Sealed(document_id=document.document_id, sealed=base64.b64encode(sealed).decode()))
    write_jsonl(path, rows)
    return len(rows)


def reveal(path: Path, document: Document, key: str) -> str:
    """The document's text as it was before masking.

    Raises:
        SealError: nothing was sealed for this text, or the key is another.
    """
    from cryptography.exceptions import InvalidTag

    rows = read_jsonl(path, Sealed) if path.is_file() else []
    sealed = next((row.sealed for row in rows if row.document_id == document.document_id), None)
    if sealed is None:
        raise SealError(
            f"{path} holds nothing for {document.document_id}: nothing was masked in it, or ingest ran without {KEY}"
        )
    try:
        places = json.loads(_cipher(key).decrypt(base64.b64decode(sealed), _bound(document)))
    except InvalidTag as error:
        raise SealError(f"{KEY} is not the key that sealed {path}, or the document has changed since") from error
    text = document.text
    for start, token, surface in reversed(places):
        text = text[:start] + surface + text[start + len(token) :]
    return text


def _bound(document: Document) -> list[bytes]:
    return [document.document_id.encode(), document.digest.encode()]


def _cipher(key: str) -> AESSIV:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    if len(key) < _LEAST:
        raise SealError(f"{KEY} is too short; make one with `taxpraben masking key` and keep it outside the repository")
    return AESSIV(HKDF(SHA256(), 64, salt=None, info=b"taxpraben pseudonyms").derive(key.encode()))
