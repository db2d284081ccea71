import pytest

from stages.ingest.decoding import UndecodableError, decode

TEXT = "镕某镇税务所公告：税率为百分之三"


def test_a_page_that_declares_gb2312_is_read_as_gb18030() -> None:
    page = f'<meta charset="gb2312"><p>{TEXT}</p>'
    assert TEXT in decode(page.encode("gb18030"))  # 镕 is not in GB2312


def test_content_counts_more_than_a_wrong_declaration() -> None:
    assert TEXT in decode(f'<meta charset="utf-8">{TEXT}'.encode("gb18030"))
    assert TEXT in decode(f'<meta charset="gbk">{TEXT}'.encode())


def test_a_wrong_header_is_passed_over() -> None:
    assert decode(TEXT.encode("gb18030"), header="iso-8859-1") == TEXT
    assert decode(TEXT.encode(), header="gbk") == TEXT


def test_byte_order_marks_are_taken_off() -> None:
    assert decode(b"\xef\xbb\xbf" + TEXT.encode()) == TEXT
    assert decode(TEXT.encode("utf-16")) == TEXT


def test_a_text_cut_in_mid_character_is_still_read() -> None:
    assert decode(TEXT.encode()[:-1]) == TEXT[:-1]


def test_bytes_that_no_charset_reads_are_refused() -> None:
    with pytest.raises(UndecodableError):
        decode(bytes(range(128, 256)) * 40)
