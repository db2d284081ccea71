"""A choice: which option letters an answer picks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from taxpraben.reading.asked import Asked, Found
from taxpraben.reading.letter_patterns import (
    COMPLEMENT_WORDS,
    CONCLUDED_WORDS,
    DESCRIBED_WORDS,
    PICKED_WORDS,
    REJECTED_WORDS,
    STRONG_WORDS,
    LetterPatterns,
    letter_patterns,
)
from taxpraben.reading.option_text import by_option_text, may_mean_an_option
from taxpraben.reading.surface import (
    lowered,
    matches_at,
    narrow,
    occurrences,
    run_on_start,
    tagged,
    undecorated,
    without_instruction,
    without_markers,
)

_NEGATIVE_QUESTION = re.compile(
    r"(?:错误|不正确|不符合|不属于|不准确|不恰当|有误|不当|不合法|违法|不适用|不包括|不应|不得|不能|不需要?)[^。？?\n]{0,14}"
    r"(?:的(?:是|有|选项|一项|说法|表述|做法|情形)|哪|[？?]|[(（]\s*[)）])"
)
_BULLET = re.compile(r"(?m)^[^\S\n]*+(?:[-•·]|\d{1,2}\s*[.、)）])(?=\s)")
_WORDS = re.compile(r"\b(?:and|or|option)\b", re.IGNORECASE)
_EITHER = re.compile(r"或|\bor\b", re.IGNORECASE)
_AGAINST = re.compile(r"[不除排错]")
_NEGATIVE_PHRASE = re.compile(r"错|不正确|不符|不属|不准|不当|有误|违法|不合")
_ALL_OF_THEM = re.compile(
    r"(?:以上|上述|所有|全部|四个|五个)(?:选项|说法|答案|各项)?(?:都|均|全部|全)(?:是?正确|对|选|符合|是$|是[。,，])|^\s*(?:全选|全部选项|所有选项|全部正确|都正确|均正确|全对|都选)[。.]?\s*(?:\n|$)"
)


def find_letters(text: str, asked: Asked) -> Found:
    """Read the options that an answer picks, as sorted letters.

    In order: marked answers (a tag closes the answer; else the last of tagged, boxed, marked and corrected ones before
    a new turn), the whole text, ``all but``, verdicts on each option, the text of an option instead of its letter, the
    option that the answer opens with, the only one mentioned. A rejected option is no answer. A ``single`` with several
    letters stays unread.
    """
    patterns = letter_patterns(asked.letters)
    marked = without_instruction(undecorated(narrow(text)))
    plain = without_markers(marked)
    for found in (_all_but(plain, patterns, asked), _marked(marked, plain, patterns, asked)):
        if found is not None:
            return _quoted(found, text)
    plain = plain[: run_on_start(marked, _first_word(plain))]
    rejected = _rejected(plain, patterns, asked)
    for rule in (_whole, _all_of_them, _verdicts, _option_text, _opening, _mentioned):
        found = rule(plain, patterns, asked, rejected)
        if found is not None:
            return _quoted(found, text)
    closed = next((match for match in tagged(marked, asked.prompt) if match[1] and match[1].strip()), None)
    if closed:
        return Found(reason=f"the marked answer is no option: {closed[1].strip()[:40]}", settled=True)
    reason = f"no option of {asked.letters[0]} to {asked.letters[-1]} is picked"
    return Found(reason=reason, settled=not may_mean_an_option(plain, asked))


def _first_word(plain: str) -> int:
    return len(plain) - len(plain.lstrip())


@dataclass(frozen=True)
class _Hit:
    letters: str
    start: int
    end: int
    flags: tuple[str, ...] = ()
    reason: str = ""
    settled: bool = False


def _quoted(hit: _Hit, text: str) -> Found:
    evidence = text[hit.start : hit.end].strip()
    return Found(hit.letters or None, evidence, hit.reason, hit.flags, hit.settled)


def _letters_of(written: str, patterns: LetterPatterns) -> str:
    return "".join(sorted({letter.upper() for letter in patterns.letter.findall(_WORDS.sub(" ", written))}))


def _hit(
    written: str, start: int, end: int, patterns: LetterPatterns, asked: Asked, flags: tuple[str, ...] = ()
) -> _Hit:
    letters = _letters_of(written, patterns)
    if len(letters) > 1 and _EITHER.search(written):
        return _Hit("", start, end, reason=f"undecided between {letters}", settled=True)
    if asked.form == "single" and len(letters) > 1:
        return _Hit("", start, end, reason=f"several options: {letters}", settled=True)
    return _Hit(letters, start, end, flags)


def _tagged(match: re.Match[str], patterns: LetterPatterns, asked: Asked) -> _Hit | None:
    content = match[2] if match[2] is not None else match[1]
    if not content.strip():
        return None
    inside = patterns.whole.fullmatch(content)
    if inside:
        return _hit(inside[1], match.start(), match.end(), patterns, asked)
    by_text = by_option_text(content, asked)
    if by_text:
        return _hit(by_text, match.start(), match.end(), patterns, asked, ("option_text",))
    opened = patterns.head.match(content)
    if opened:
        return _hit(opened[1], match.start(), match.end(), patterns, asked)
    return None


def _is_negative(asked: Asked) -> bool:
    return _NEGATIVE_QUESTION.search(asked.question[-400:]) is not None


def _rejected(plain: str, patterns: LetterPatterns, asked: Asked) -> str:
    out: set[str] = set()
    for match in matches_at(patterns.rejected_before, plain, occurrences(plain, REJECTED_WORDS)):
        out.update(_letters_of(match[1], patterns))
    if not _is_negative(asked):
        for match in _verdict_matches(plain, patterns, asked):
            if _is_against(match["word"]):
                out.update(_letters_of(match[1], patterns))
    return "".join(sorted(out))


def _verdict_matches(plain: str, patterns: LetterPatterns, asked: Asked) -> Iterator[re.Match[str]]:
    return matches_at(patterns.verdict, plain, occurrences(plain, asked.letters))


def _is_against(word: str) -> bool:
    return word.startswith(("不", "错", "有误", "应排除", "排除", "incorrect", "wrong", "false", *"×✗✘✕❌"))


def _marked(marked: str, plain: str, patterns: LetterPatterns, asked: Asked) -> _Hit | None:
    hits: list[tuple[int, bool, _Hit]] = []
    for match in tagged(marked, asked.prompt):
        hit = _tagged(match, patterns, asked)
        if hit is not None:
            hits.append((match.start(), match[2] is None, hit))
    for match in _untagged(plain, patterns, asked):
        group = match.lastindex or 1
        hits.append((match.start(group), False, _hit(match[group], match.start(), match.end(group), patterns, asked)))
    if not hits:
        return None
    hits.sort(key=lambda hit: hit[0])
    first_start, closes, first = hits[0]
    if closes:
        return first  # a tag such as [答案]…<eoa> ends the answer; what follows is run on
    limit = run_on_start(marked, max(len(plain[: first.end].rstrip()), first_start))
    last = [hit for start, _, hit in hits if start <= limit][-1]
    return _with_listed(last, plain[:limit], patterns, asked)


def _with_listed(hit: _Hit, plain: str, patterns: LetterPatterns, asked: Asked) -> _Hit:
    """A marked letter that opens a list of options (A. …、B. …) stands for all that the list holds."""
    if asked.form != "set" or len(hit.letters) != 1 or not re.match(r"\s*[.、:：)）]\s*\S", plain[hit.end :]):
        return hit
    block = re.split(r"\n\s*\n|\n\s*(?:解析|理由|分析|解释)", plain[hit.end :], maxsplit=1)[0]
    letters = "".join(sorted({hit.letters, *(match[1] for match in patterns.listed.finditer(block))}))
    return _Hit(letters, hit.start, hit.end + len(block.rstrip()), hit.flags)


def _untagged(plain: str, patterns: LetterPatterns, asked: Asked) -> Iterator[re.Match[str]]:
    lower = lowered(plain)
    words = ((patterns.strong, STRONG_WORDS), (patterns.picked, PICKED_WORDS), (patterns.concluded, CONCLUDED_WORDS))
    for pattern, begins in words:
        for match in matches_at(pattern, plain, occurrences(lower, begins)):
            if _taken_back(plain, match.end(1)) or (pattern is patterns.concluded and _AGAINST.search(match.group())):
                continue
            yield match
    for match in matches_at(patterns.described, plain, occurrences(plain, DESCRIBED_WORDS)):
        # Without the question, 错误的是B could be the answer to one that asks for it, so it is left to later rules.
        if (_NEGATIVE_PHRASE.search(match[1]) is not None) == _is_negative(asked):
            yield match


def _taken_back(plain: str, end: int) -> bool:
    return (
        re.match(
            r"\s*(?:选?项)?\s*(?:是|为)?(?:错误|错的|错[,，。;；]|不对|不正确|不可取|不符合|吗|还是|\?|？)"
            r"|\s*(?:is|are|was)?(?:\s*also)?\s*(?:not|incorrect|wrong|false|invalid|can(?:no|')t)\b",
            plain[end : end + 24],
        )
        is not None
    )


def _whole(plain: str, patterns: LetterPatterns, asked: Asked, rejected: str) -> _Hit | None:
    del rejected
    match = patterns.whole.fullmatch(plain.strip())
    if not match and asked.form == "set":
        match = patterns.whole.fullmatch(_BULLET.sub(lambda mark: " " * len(mark.group()), plain).strip())
    if not match:
        return None
    start = len(plain) - len(plain.lstrip())
    return _hit(match[1], start, start + len(plain.strip()), patterns, asked)


def _all_but(plain: str, patterns: LetterPatterns, asked: Asked) -> _Hit | None:
    if asked.form != "set":
        return None
    match = next(matches_at(patterns.complement, plain, occurrences(plain, COMPLEMENT_WORDS)), None)
    if match is None and any(word in plain for word in ("以外", "之外", "其余", "其他", "其它")):
        match = next(matches_at(patterns.rest_of, plain, occurrences(plain, asked.letters)), None)
    if match:
        out = _letters_of(match[1], patterns)
        if _is_negative(asked) and _NEGATIVE_PHRASE.search(match.group()):
            return _Hit(out, match.start(), match.end())  # what is wrong was asked for
        rest = "".join(letter for letter in asked.letters if letter not in out)
        return _Hit(rest, match.start(), match.end(), ("complement",))
    return None


def _all_of_them(plain: str, patterns: LetterPatterns, asked: Asked, rejected: str) -> _Hit | None:
    del patterns, rejected
    if asked.form != "set":
        return None
    every = _ALL_OF_THEM.search(plain)
    if every:
        return _Hit(asked.letters, every.start(), every.end(), ("all_options",))
    return None


def _verdicts(plain: str, patterns: LetterPatterns, asked: Asked, rejected: str) -> _Hit | None:
    verdicts: dict[str, bool] = {}
    start, end = len(plain), 0
    for match in _verdict_matches(plain, patterns, asked):
        start, end = min(start, match.start()), max(end, match.end())
        for letter in _letters_of(match[1], patterns):
            verdicts[letter] = not _is_against(match["word"])
    wanted = not _is_negative(asked)
    picked = "".join(sorted(letter for letter, right in verdicts.items() if right is wanted))
    out = set(rejected).union(verdicts)
    if not picked and asked.form == "single" and wanted and len(out) == len(asked.letters) - 1:
        picked = next(letter for letter in asked.letters if letter not in out)
        return _Hit(picked, min(start, 0), max(end, len(plain)), ("by_elimination",))
    if not picked:
        return None
    return _hit(picked, start, end, patterns, asked, ("verdicts",))


def _option_text(plain: str, patterns: LetterPatterns, asked: Asked, rejected: str) -> _Hit | None:
    letters = by_option_text(plain, asked)
    letters = "".join(letter for letter in letters if letter not in rejected)
    heads = _heads(plain, patterns, asked)
    if heads and set(heads) <= set(letters):
        letters = heads  # C.彩票所得 is C, though another option's text may stand in it
    if not letters or set(letters) == set(asked.letters) or set(heads) - set(letters):
        return None
    stripped = plain.strip()
    start = plain.find(stripped)
    return _hit(letters, start, start + len(stripped), patterns, asked, ("option_text",))


def _head_matches(plain: str, patterns: LetterPatterns, asked: Asked) -> Iterator[re.Match[str]]:
    """What ``head.finditer`` finds, without trying every blank of a long run of blanks."""
    free = 0
    for at in occurrences(plain, asked.letters):
        start = len(plain[free:at].rstrip(" \t\r\f\v\u3000")) + free
        start = len(plain[free:start].rstrip(_OPENERS)) + free
        start = len(plain[free:start].rstrip()) + free
        if start > free and plain[start - 1] in "\n;；。,，":
            start -= 1
        match = patterns.head.match(plain, start) if at >= free else None
        if match:
            yield match
            free = match.end()


_OPENERS = "([（【《<「『\"'“”‘’{"


def _heads(plain: str, patterns: LetterPatterns, asked: Asked) -> str:
    return "".join(sorted({match[1] for match in _head_matches(plain, patterns, asked)}))


def _opening(plain: str, patterns: LetterPatterns, asked: Asked, rejected: str) -> _Hit | None:
    heads = [match for match in _head_matches(plain, patterns, asked) if match[1] not in rejected]
    if not heads:
        return None
    letters = "".join(sorted({match[1] for match in heads}))
    opens = not plain[: heads[0].start(1)].strip(" \n([（【\"'“‘<{:：")
    if asked.form == "set":
        listed = [match for match in heads if match.start() == 0 or plain[match.start()] in "\n;；" or opens]
        picked = "".join(sorted({match[1] for match in listed}))
        if not picked:
            return None
        if picked == asked.letters and not opens:
            return _Hit(
                "", heads[0].start(), heads[-1].end(), reason="every option is restated, none is picked", settled=True
            )
        together = patterns.mention.match(plain, heads[0].start(1)) if opens else None
        if together and len(_letters_of(together[1], patterns)) > 1:
            return _hit(together[1], heads[0].start(1), together.end(1), patterns, asked)
        flags = ("all_options",) if picked == asked.letters else ()
        return _Hit(picked, heads[0].start(), heads[-1].end(), flags)
    together = patterns.mention.match(plain, heads[0].start(1))
    if together and len(_letters_of(together[1], patterns)) > 1:
        return None
    if opens and (len(letters) == 1 or not _lists_every_option(letters, asked)):
        line = re.split(r"[\n]", plain[heads[0].start() :].lstrip(), maxsplit=1)[0]
        return _Hit(heads[0][1], heads[0].start(), heads[0].start() + len(line) + 1)
    if len(letters) == 1:
        return _Hit(letters, heads[0].start(), heads[0].end())
    return None


def _lists_every_option(letters: str, asked: Asked) -> bool:
    return len(letters) > 1 and len(letters) >= min(len(asked.letters), 3)


def _mentioned(plain: str, patterns: LetterPatterns, asked: Asked, rejected: str) -> _Hit | None:
    mentions = [
        (match, "".join(letter for letter in _letters_of(match[1], patterns) if letter not in rejected))
        for match in patterns.mention.finditer(plain)
        if match[1].upper() == match[1]
    ]
    mentions = [(match, letters) for match, letters in mentions if letters]
    distinct = {letters for _, letters in mentions}
    every = "".join(sorted({letter for letters in distinct for letter in letters}))
    if len(distinct) == 1 or (asked.form == "set" and distinct and every in distinct):
        match, letters = next(pair for pair in mentions if pair[1] == every or len(distinct) == 1)
        return _hit(letters, match.start(), match.end(), patterns, asked, ("mention",))
    if every:
        return _Hit("", 0, 0, reason=f"several options mentioned, none marked: {every}")
    return None
