"""Masking and duplicates. Numbers are made up with checks computed here or in the standards' own examples."""

import pytest

from stages.ingest.masking import mask
from stages.ingest.near_duplicates import drop_duplicates, drop_repeated_questions
from stages.ingest.outcome import Place, new_document
from stages.ingest.party_names import party_pseudonyms
from stages.ingest.personal_data import find_personal_data, is_credit_code, is_identity_number, passes_luhn
from taxpraben.records.document import Document, DocumentPart


def _identity_number(head: str) -> str:
    """A number with the check character of ISO 7064 MOD 11-2: the sum over a(i) * 2**(18 - i) leaves 1."""
    total = sum(int(digit) * 2 ** (17 - place) for place, digit in enumerate(head))
    return head + "0123456789X"[(12 - total % 11) % 11]


IDENTITY = _identity_number("33999919820517001")
# The example of GB 32100: Luhn's example number is the one in ISO/IEC 7812-1.
CREDIT_CODE = "91350100M000100Y43"
CARD = "4539578763621486"


def test_checks_accept_right_numbers_and_refuse_a_changed_digit() -> None:
    assert is_identity_number(IDENTITY)
    assert not is_identity_number(IDENTITY[:-2] + str((int(IDENTITY[-2]) + 1) % 10) + IDENTITY[-1])
    assert is_credit_code(CREDIT_CODE)
    assert not is_credit_code(CREDIT_CODE[:-1] + "4")
    assert passes_luhn(CARD)
    assert not passes_luhn(CARD[:-1] + "7")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"公民身份号码{IDENTITY}，汉族", "公民身份号码[身份证号]，汉族"),
        (f"统一社会信用代码{CREDIT_CODE}。", "统一社会信用代码[信用代码]。"),
        (f"卡号{CARD[:4]} {CARD[4:8]} {CARD[8:12]} {CARD[12:]}转账", "卡号[银行卡号]转账"),
        ("电话13900000000，白天在", "电话[电话]，白天在"),
        ("致电010-12345678转8", "致电[电话]"),
        ("发到chou@example.invalid，谢谢", "发到[邮箱]，谢谢"),
        ("驾驶浙A·12345离开", "驾驶[车牌号]离开"),
    ],
)
def test_personal_numbers_are_replaced(text: str, masked: str) -> None:
    assert mask(_document("board", text)).text == masked


@pytest.mark.parametrize(
    "text",
    [
        "税额168400元，共计286400元",
        "发票号码24332000000012345678",
        "拨打12366热线",
        "13.9000000000万元",
        "财税〔2016〕36号",
        "金额339999198205170010元",
    ],
)
def test_amounts_invoice_numbers_and_hotlines_stay(text: str) -> None:
    assert find_personal_data(text) == []


def test_an_authoritys_own_telephone_stays_in_its_documents() -> None:
    text = "咨询电话：0571-12345678，手机13900000000。"
    assert mask(_document("official", text)).text == "咨询电话：0571-12345678，手机[电话]。"


def test_counts_of_what_stood_in_the_text_are_kept() -> None:
    masked = mask(_document("board", "电话13900000000，再说一遍13900000000，邮箱a@example.invalid。"))
    assert masked.masked == {"email": 1, "phone": 2}


def test_parts_are_masked_like_the_text_and_keep_their_offsets() -> None:
    part = DocumentPart(kind="exchange", label="问答", text="电话13900000000", data={"question": "电话13900000000"})
    masked = mask(new_document(Place("s", "sites", "o"), "board", "题", "请回电话13900000000。", [part]))
    assert masked.parts[0].data == {"question": "电话[电话]"}
    assert masked.text[masked.parts[0].start :].startswith(masked.parts[0].text)


PARTIES = (
    "被告单位虚屿示范建材有限公司，诉讼代表人何示例。\n被告人林示范，男。\n被告人（自报）周假定，男。\n被告人钱某，男。"
)
VERDICT = (
    "虚屿区人民法院\n" + PARTIES + "\n经审理查明，被告人林示范系虚屿示范建材有限公司（以下简称“建材公司”）负责人，"
    "向虚屿拟定商贸有限公司购货。林示范、周假定让虚屿拟定商贸有限公司虚开发票，建材公司抵扣。证人证言证实。"
)


def test_parties_get_one_pseudonym_each_the_accused_first() -> None:
    names = party_pseudonyms(VERDICT, PARTIES)
    assert names == {
        "林示范": "甲", "周假定": "乙", "何示例": "丙", "虚屿示范建材有限公司": "A公司", "建材公司": "A公司",
        "虚屿拟定商贸有限公司": "B公司",
    }  # fmt: skip


def test_a_company_named_once_is_cut_at_its_place_and_no_word_before_it_is_lost() -> None:
    text = "虚屿市中级人民法院\n被告人林示范，男。\n林示范偷拍虚屿拟真轮渡有限公司的船票。"
    masked = mask(_document("verdict", text), party_pseudonyms(text, "被告人林示范，男。"))
    assert masked.text.endswith("甲偷拍A公司的船票。")


def test_a_masked_verdict_names_no_party_and_keeps_court_and_roles() -> None:
    names = party_pseudonyms(VERDICT, PARTIES)
    masked = mask(_document("verdict", VERDICT, title="林示范虚开发票判决书"), names)
    assert masked.title == "甲虚开发票判决书"
    assert "被告人甲系A公司" in masked.text
    assert "甲、乙让B公司虚开发票，A公司抵扣" in masked.text
    assert "虚屿区人民法院" in masked.text
    assert masked.masked == {"company": 6, "person": 6}


def test_pseudonyms_that_the_text_already_uses_are_left_out() -> None:
    names = party_pseudonyms("被告人林示范让A公司的甲某办理。", "被告人林示范，男。")
    assert names == {"林示范": "乙"}


def test_statutes_and_books_are_left_as_printed() -> None:
    text = f"第一条　示例号码{IDENTITY}。"
    assert mask(_document("statute", text)).text == text


BODY = (
    "虚构税的纳税人应当在每季度终了之日起十五日内申报，逾期未申报的，由税务所责令改正；纳税人因不可抗力不能按期申报的，"
    "可以申请延期，延期最长不超过三个月。申报时应当提交销售额计算表、减免依据和上季度缴款凭证各一份，资料保存十年备查。"
)


def _document(kind: str, text: str, origin: str = "o", title: str = "题", **more: str) -> Document:
    part = DocumentPart(kind="body", label="正文", text=text)
    return new_document(Place("s", "sites", origin), kind, title, text, [part], **more)  # type: ignore[arg-type]


def test_a_reprint_with_an_editors_line_is_a_near_duplicate_of_the_earlier_one() -> None:
    first = _document("news", BODY, "b.html", published="2026-01-01")
    again = _document("news", "转发此文。" + BODY.replace("各一份", "各1份"), "a.html", published="2026-01-02")
    kept, dropped = drop_duplicates([again, first], 0.85)
    assert kept == [first]
    assert dropped[0].dropped == again
    assert dropped[0].cause.startswith("near-duplicate of b.html (source s)")


def test_texts_that_differ_in_width_and_spaces_only_are_exact_duplicates() -> None:
    kept, dropped = drop_duplicates(
        [_document("news", "税率１３％。", "a"), _document("news", "税率 13%。", "b")], 0.85
    )
    assert [document.origin for document in kept] == ["a"]
    assert dropped[0].cause == "duplicate of a (source s)"


def test_short_texts_must_be_equal_to_be_duplicates() -> None:
    texts = ["小规模纳税人征收率是多少？答：百分之三。", "小规模纳税人征收率是多少？答：百分之一。"]
    kept, _ = drop_duplicates([_document("board", text, str(at)) for at, text in enumerate(texts)], 0.5)
    assert len(kept) == 2


def test_one_form_with_other_figures_is_no_duplicate() -> None:
    form = BODY + "本期应缴{}元，减免{}元，实缴{}元，共{}户。"
    pair = [_document("news", form.format(*row), str(row)) for row in ((310, 20, 290, 7), (955, 61, 894, 32))]
    assert len(drop_duplicates(pair, 0.85)[0]) == 2


def test_another_kind_or_another_version_of_a_law_is_no_duplicate() -> None:
    def law(origin: str, rate: str) -> Document:
        parts = [
            DocumentPart(kind="article", label="第一条", text=BODY),
            DocumentPart(kind="article", label="第二条", text=rate),
        ]
        text = "\n".join(f"{part.label}　{part.text}" for part in parts)
        return new_document(Place("s", "official", origin), "statute", "法", text, parts)

    kept, dropped = drop_duplicates(
        [law("a", "税率百分之三。"), law("b", "税率百分之五。"), law("c", "税率百分之三。")], 0.85
    )
    assert [document.origin for document in kept] == ["a", "b"]
    assert [row.dropped.origin for row in dropped] == ["c"]
    assert len(drop_duplicates([_document("news", BODY, "a"), _document("risk", BODY, "b")], 0.85)[0]) == 2


def test_a_question_of_a_later_book_that_an_earlier_one_has_is_dropped() -> None:
    def book(origin: str, *stems: str) -> Document:
        parts = [
            DocumentPart(kind="question", label=f"单选{at}", text=stem, data={"stem": stem, "options": options})
            for at, stem in enumerate(stems, start=1)
            for options in [["一", "二"] if origin == "a" else ["二", "一"]]
        ]
        return new_document(Place("s", "books", origin), "exam_book", "书", "\n".join(stems), parts)

    books, dropped = drop_repeated_questions([book("a", "甲题", "乙题"), book("b", "乙题", "丙题")])
    assert [part.label for part in books[1].parts] == ["单选2"]
    assert [(document.origin, label, cause) for document, label, cause in dropped] == [
        ("b", "单选1", "the same question as 单选2 of a")
    ]
