"""What a reviewer sees of the document."""

from __future__ import annotations

from queue_samples import DOCUMENT, draft

from taxpraben.queue.excerpt import LONGEST, cut_excerpt
from taxpraben.records.base import revise
from taxpraben.records.document import DocumentPart
from taxpraben.records.draft import Span


def marked(excerpt_pieces: list[tuple[str, bool]]) -> list[str]:
    return [text for text, mark in excerpt_pieces if mark]


def test_marks_count_code_points_so_a_rare_character_before_them_moves_nothing() -> None:
    text = "𠮷祥公司与𠀋田公司逾期未申报，应当补缴税款。"
    start = text.index("应当")  # code points in Python, as in the records
    rare = revise(DOCUMENT, text=text)
    evidence = [Span(start=start, end=start + 6, text="应当补缴税款")]
    excerpt = cut_excerpt(revise(draft(0), evidence=evidence), rare)
    assert marked(excerpt.pieces()) == ["应当补缴税款"]
    assert "".join(piece for piece, _ in excerpt.pieces()) == text


def test_overlapping_evidence_is_marked_once() -> None:
    spans = [Span(start=0, end=6, text=DOCUMENT.text[:6]), Span(start=4, end=9, text=DOCUMENT.text[4:9])]
    assert marked(cut_excerpt(revise(draft(0), evidence=spans), DOCUMENT).pieces()) == [DOCUMENT.text[:9]]


def test_a_part_deep_in_a_long_document_is_inside_the_excerpt_and_both_cuts_are_said() -> None:
    text = "前" * 9000 + "第七条的正文" + "后" * 9000
    part = DocumentPart(kind="article", label="第七条", text="第七条的正文", start=9000)
    spans = [Span(start=9000, end=9006, text="第七条的正文")]
    excerpt = cut_excerpt(revise(draft(0), slot="第七条", evidence=spans), revise(DOCUMENT, text=text, parts=[part]))
    assert marked(excerpt.pieces()) == ["第七条的正文"]
    assert (excerpt.cut_before, excerpt.cut_after) == (True, True)
    assert len(excerpt.text) == LONGEST


def test_evidence_whose_place_went_stale_is_found_by_its_text() -> None:
    spans = [Span(start=1, end=7, text="应当补缴税款")]
    assert marked(cut_excerpt(revise(draft(0), evidence=spans), DOCUMENT).pieces()) == ["应当补缴税款"]
