"""Cuts an answer into the sentences that claim something, each with its citation markers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anabranch.corpus.sentences import spans
from anabranch.replies.refusal import is_refusal

_RANGE = 10
_NUMBERS = r"\d{1,4}(?:\s*[-–]\s*\d{1,4})?"
_MARKER = re.compile(
    rf"(?:\[\^?(?:(?:passages?|sources?|docs?|documents?|n)\.?[:\s]*)?{_NUMBERS}(?:\s*[,;&]\s*(?:and\s+)?{_NUMBERS})*\]"
    r"|【\d{1,4}(?:[†:][^】\n]{0,40})?】)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
# A line that starts in lower case goes on with the one before it.
_BLOCK = re.compile(r"[ \t]*#[^\n]*|[^\n]+(?:\n[ \t]*(?=[a-z])(?![a-z][.)]\s)[^\n]+)*")
_SPACED_STOP = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")
_BULLET = re.compile(r"^\s*(?:(?:>|[-*+•‣–]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+)*")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|__[^_]+__:?\s*$|[-=*_|:\s+]+$)")
_CHATTER = re.compile(
    r"^\W*(?:here (?:is|are)|here['’]s|sure|certainly|of course|i hope|let me know|feel free|in summary\W*$|yes\W*$|"
    r"no\W*$|note that this answer|please)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker such as [1] or [1, 2] in an answer.

    Attributes:
        start: Its first character in the answer.
        end: One past its last character.
        numbers: The passage numbers it names, in order.
    """

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer that says something about the world.

    Attributes:
        text: Its words on one line, without markers and list signs.
        start: Its first character in the answer.
        end: One past its last character, its markers included.
        markers: The passage numbers it cites, in order, each once.
    """

    text: str
    start: int
    end: int
    markers: tuple[int, ...]


def markers(answer: str) -> list[Marker]:
    """Return every citation marker of an answer, in order; those in code are code."""
    code = [match.span() for pattern in (_FENCE, _CODE) for match in pattern.finditer(answer)]
    found = (Marker(match.start(), match.end(), _named(match[0])) for match in _MARKER.finditer(answer))
    return [marker for marker in found if not any(start <= marker.start < end for start, end in code)]


def _named(text: str) -> tuple[int, ...]:
    """Return the numbers in "[1, 3-5]"; a range of more than ten is a year span or a page range, not a citation."""
    numbers: list[int] = []
    if text.startswith("【"):
        return (int(re.findall(r"\d+", text)[0]),)
    for first, last in re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", text):
        low, high = int(first), int(last or first)
        numbers += range(low, high + 1) if low <= high < low + _RANGE else (low, high)
    return tuple(dict.fromkeys(numbers))


def claims(answer: str) -> list[Claim]:
    """Cut an answer into claims.

    A marker after a full stop belongs to the sentence before it. No claims: headings, list signs, lead-ins that end
    with a colon, questions, code, pleasantries, and sentences that say that the passages do not tell something.

    Args:
        answer: Markdown of any origin.

    Returns:
        The claims in order; they do not overlap. Never raises.
    """
    found = markers(answer)
    blank = list(answer)
    for start, end in [match.span() for match in _FENCE.finditer(answer)]:
        blank[start:end] = ["\n" if char == "\n" else " " for char in answer[start:end]]
    for marker in found:
        blank[marker.start : marker.end] = " " * (marker.end - marker.start)
    text = "".join(blank)
    return [
        claim
        for block in _BLOCK.finditer(text)
        for own, start, end in _sentences(text, block.start(), block.end())
        if (claim := _claim(text, own, start, end, found)) is not None
    ]


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield where each sentence's markers may begin, where it begins and ends; none of a heading."""
    block = text[start:end]
    if _HEADING.match(block):
        return
    bullet = _BULLET.match(block)
    skipped = start + (bullet.end() if bullet else 0)
    for first, last in spans(text[skipped:end]):
        yield (skipped + first if first else start), skipped + first, skipped + last


def _claim(text: str, own: int, start: int, end: int, found: list[Marker]) -> Claim | None:
    mine = [marker for marker in found if own <= marker.start < end]
    words = _SPACED_STOP.sub("", " ".join(text[start:end].split()))
    if not _is_claim(words) or (words.startswith("|") and not mine):
        return None
    sentence = text[start:end]
    first = start + len(sentence) - len(sentence.lstrip())
    last = start + len(sentence.rstrip())
    numbers = dict.fromkeys(number for marker in mine for number in marker.numbers)
    return Claim(
        text=words,
        start=min([first, *(marker.start for marker in mine)]),
        end=max([last, *(marker.end for marker in mine)]),
        markers=tuple(numbers),
    )


def _is_claim(words: str) -> bool:
    plain = words.strip("*_ \"'“”‘’")
    if not plain or plain.endswith((":", "：", "?", "？")) or _CHATTER.match(plain) or is_refusal(plain):
        return False
    found = _WORD.findall(plain)
    return len(found) > 1 or any(char.isdigit() or ord(char) > 0x2E7F for word in found for char in word)
