"""The picture of a book's page beside what was read from it."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from portal_samples import DOCUMENT, Browser, draft_of, fill

from taxpraben.queue.intake import bring_in
from taxpraben.queue.store import Queue
from taxpraben.records.base import revise, write_records
from taxpraben.records.document import Document, DocumentPart
from taxpraben.records.page import Page


def keep_pages(root: Path, confidence: float = 0.83) -> Path:
    """Pages 7 and 8 of the book; of page 8 no picture."""
    folder = root / "data" / "trial" / "pages"
    (folder / DOCUMENT.document_id).mkdir(parents=True)
    Image.new("L", (600, 300), 240).save(folder / DOCUMENT.document_id / "0007.png")
    (folder / "secret.png").write_bytes(b"not a page")
    seventh = Page(
        document_id=DOCUMENT.document_id, page=7, origin="book.pdf", read="ocr", confidence=confidence,
        image=f"{DOCUMENT.document_id}/0007.png",
    )  # fmt: skip
    eighth = Page(document_id=DOCUMENT.document_id, page=8, origin="book.pdf", read="text")
    write_records(folder / "pages.parquet", Page, [seventh, eighth])
    return folder


def paged() -> Document:
    part = DocumentPart(kind="question", label="单选7", start=0, text=DOCUMENT.text, page=7)
    return revise(DOCUMENT, pipeline="books", kind="exam_book", parts=[part])


def test_an_item_read_by_ocr_shows_its_page_and_how_sure_the_reading_is(
    annotator: Browser, queue: Queue, root: Path
) -> None:
    keep_pages(root)
    fill(queue, [])
    bring_in(queue, [revise(draft_of("TaxQA"), slot="单选7")], [paged()])
    where = annotator.post("/queue/take", {"count": "1"}).headers["location"]
    html = annotator.get(where).text
    assert f'src="/pages/{DOCUMENT.document_id}/7.png"' in html
    assert "83%" in html
    assert "/8.png" not in html
    picture = annotator.get(f"/pages/{DOCUMENT.document_id}/7.png")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")


def test_nothing_but_the_indexed_pictures_is_served(annotator: Browser, root: Path) -> None:
    folder = keep_pages(root)
    outside = ["/pages/../secret.png", "/pages/..%2Fsecret/7.png", f"/pages/{DOCUMENT.document_id}/8.png",
               f"/pages/{DOCUMENT.document_id}/9.png", "/pages/none/7.png"]  # fmt: skip
    assert {annotator.get(path).status_code for path in outside} == {404}
    (folder / DOCUMENT.document_id / "0007.png").unlink()
    assert annotator.get(f"/pages/{DOCUMENT.document_id}/7.png").status_code == 404


def test_without_pictures_the_page_is_as_before(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    where = annotator.post("/queue/take", {"count": "1"}).headers["location"]
    assert "/pages/" not in annotator.get(where).text
