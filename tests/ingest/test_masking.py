"""How well personal data is found in sentences written for this, and the way back with the key."""

import pytest

from stages.ingest.addresses import find_addresses
from stages.ingest.masking import mask, take_out
from stages.ingest.names_in_text import find_names
from stages.ingest.outcome import Place, new_document
from stages.ingest.pseudonyms import assign_pseudonyms
from stages.ingest.sealing import SealError, new_key, reveal, write_sealed
from taxpraben.records.document import Document, DocumentPart
from tests.ingest.masking_set import EXACT, KINDS, Found, measure, read_sentences


@pytest.fixture(scope="module")
def found() -> Found:
    return measure()


def test_the_sentences_are_three_hundred_and_hold_ten_kinds() -> None:
    sentences = read_sentences()
    assert len(sentences) == 300
    assert {kind for _, spans in sentences for kind, _ in spans} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_nine_in_ten_are_found_and_ninety_nine_in_a_hundred_where_a_check_digit_tells(found: Found, kind: str) -> None:
    least = 0.99 if kind in EXACT else 0.90
    assert found.recall(kind) >= least, [line for line in found.wrong if kind in line]
    assert found.precision(kind) >= least, [line for line in found.wrong if kind in line]


@pytest.mark.parametrize(
    "text",
    [
        "国家税务总局某市税务局稽查局依法作出处理决定。",
        "《中华人民共和国税收征收管理法》第六十三条规定了偷税的处理。",
        "甲公司向乙公司销售货物，丙方收取手续费。",
        "张某某、李某甲等人虚开发票。",
        "我公司是一家建筑企业，母公司在境外。",
        "上海一家公司向居民企业支付股息。",
        "一般纳税人可以自行开具增值税专用发票，并进行抵扣。",
        "向中国工商银行申请贷款，利息能否扣除？",
        "蒋经理和王老师都说可以。",
        "云栖市人民法院、云栖市人民检察院、云栖市公安局联合发布通告。",
        "税款3.5万元，滞纳金按日加收万分之五。",
        "出口企业向境外单位提供服务，适用零税率。",
    ],
)
def test_public_bodies_laws_and_kinds_of_companies_stay(text: str) -> None:
    assert mask(_document("board", text)).text == text


def test_province_city_and_district_stay_of_an_address() -> None:
    text = "住云栖省示范市青禅区季花五路12号3栋1201室，已成年。"
    assert find_addresses(text) == ["季花五路12号3栋1201室"]
    assert mask(_document("board", text)).text == "住云栖省示范市青禅区[地址]，已成年。"


def test_a_place_without_house_or_village_is_no_address() -> None:
    assert find_addresses("该市开发区设立三个服务中心，示范区街道办事处负责。") == []


def test_one_name_has_one_pseudonym_in_title_text_and_parts() -> None:
    text = "会计韩小梅把发票交给出纳杨一帆。韩小梅说没有问题。"
    part = DocumentPart(kind="exchange", label="问答", text=text, data={"answer": "韩小梅"})
    masked = mask(new_document(Place("s", "sites", "o"), "board", "韩小梅来信", text, [part]))
    assert masked.title == "甲来信"
    assert masked.text == "会计甲把发票交给出纳乙。甲说没有问题。"
    assert masked.parts[0].data == {"answer": "甲"}


def test_people_named_in_an_authoritys_own_document_stay() -> None:
    text = "局长韩小梅主持会议，会计杨一帆列席。"
    assert mask(_document("official", text)).text == text


def test_users_of_a_forum_are_masked() -> None:
    assert mask(_document("opinion", "//@丸子的妈:同问，@小鱼_88 你说呢")).text == "//@[用户]:同问，@[用户] 你说呢"


def test_a_word_beside_a_name_is_not_taken_into_it() -> None:
    people, companies = find_names("韩小梅在公司做账。涉税中介云栖示范财税咨询有限公司为云栖示范财税咨询有限公司分部。")
    assert people == ["韩小梅"]
    assert companies == ["云栖示范财税咨询有限公司"]


def test_what_was_taken_out_comes_back_with_the_key_only(tmp_path) -> None:
    text = "𠮷县来信人何静雅，电话13900000000；何静雅住云栖市示范区虚构路8号。"
    masked, taken = take_out(_document("board", text))
    assert "何静雅" not in masked.text
    key, path = new_key(), tmp_path / "pseudonyms.jsonl"
    assert write_sealed(path, [masked], {masked.document_id: taken}, key) == 1
    first = path.read_bytes()
    assert "何静雅" not in first.decode()
    assert reveal(path, masked, key) == text
    with pytest.raises(SealError, match="not the key"):
        reveal(path, masked, new_key())
    write_sealed(path, [masked], {masked.document_id: taken}, key)
    assert path.read_bytes() == first


def test_a_document_changed_since_is_not_revealed_with_wrong_places(tmp_path) -> None:
    masked, taken = take_out(_document("board", "来信人何静雅。"))
    key, path = new_key(), tmp_path / "pseudonyms.jsonl"
    write_sealed(path, [masked], {masked.document_id: taken}, key)
    with pytest.raises(SealError, match="changed since"):
        reveal(path, mask(_document("board", "来信人何静雅，再问一次。")), key)


def test_a_short_key_is_refused_by_name(tmp_path) -> None:
    with pytest.raises(SealError, match="TAXPRABEN_PSEUDONYM_KEY is too short"):
        write_sealed(tmp_path / "p.jsonl", [], {}, "123456")


@pytest.mark.parametrize(
    "text",
    [
        "该企业的员工成本和其他支出增加，成本核算有误。",
        "会计方法，应保持一致；员工安全，人人有责。",
        "被告人全部退赃，股东全部转出，居民应税所得照缴。",
        "注册资本15000000000元，股本13900000000股。",
    ],
)
def test_words_behind_a_role_and_figures_of_eleven_digits_stay(text: str) -> None:
    assert mask(_document("board", text)).text == text


def test_no_two_companies_share_a_pseudonym_and_none_takes_what_the_text_uses() -> None:
    companies = [f"第{number}号公司" for number in range(30)]
    given = assign_pseudonyms("甲、乙二人与A公司合谋。", ["王小明"], companies)
    assert given["王小明"] == "丙"
    assert len({given[name] for name in companies}) == 30
    assert "A公司" not in given.values()


def test_what_a_company_is_called_for_short_is_masked_unless_it_is_a_role() -> None:
    for alias, masked in (("青禾", True), ("纳税人", False), ("出租方", False), ("该公司", False)):
        text = f"云栖青禾贸易有限公司（以下简称“{alias}”）少缴税款。"
        assert (alias in assign_pseudonyms(text, [], ["云栖青禾贸易有限公司"])) == masked


def _document(kind: str, text: str) -> Document:
    part = DocumentPart(kind="body", label="正文", text=text)
    return new_document(Place("s", "sites", "o"), kind, "题", text, [part])  # type: ignore[arg-type]
