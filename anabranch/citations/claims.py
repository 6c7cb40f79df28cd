"""Splits an answer into its claims, each with the passages that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from anabranch.citations.quantities import Figure, figures, has
from anabranch.safety.link_removal import strip_links
from anabranch.text.analyzer import analyser
from anabranch.text.sentences import spans

# Every repetition is bounded or possessive, because a model may write a hundred thousand of the same character.
_NUMBER = r"[0-9]{1,3}"
_LIST = rf"{_NUMBER}(?:[ \t]{{0,3}}[,;\-–][ \t]{{0,3}}{_NUMBER}){{0,60}}"

# A citation marker: [1], [1, 2], [1-3], the lenticular form of some models, or the sign for no support, [?].
MARKER = re.compile(rf"\[(?P<square>{_LIST}|\?)\]|【(?P<lens>{_LIST})(?:†[^\[\]【】\n]{{0,30}})?】")
_RANGE = re.compile(rf"({_NUMBER})(?:[ \t]*[-–][ \t]*({_NUMBER}))?")
_BULLET = re.compile(r"[ \t]*(?:>[ \t]?)*(?:(?:[-*+•‣◦▪–]|\(?(?:[0-9]{1,3}|[A-Za-z])[.)])[ \t]+(?=\S))?")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪–>|]|\(?(?:[0-9]{1,3}|[A-Za-z])[.)])[ \t]")
_HEADING = re.compile(r"[ \t]{0,3}(?:#{1,6}[ \t]|(?:\*\*|__)[^*_\n]{1,200}(?<![.!?])(?:\*\*|__):?[ \t]*$)")
# The fence of a block of code, or the line under a table's head: a marker would break it.
_RULE = re.compile(
    r"[ \t>]*+(?:(?:`{3,}+|~{3,}+)[ \t]*+[\w+#.-]{0,30}|\|?+[ \t]*+:?-{3,}+:?[ \t]*+(?:\|[ \t:|-]*+)?)[ \t]*$"
)

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_ENDS_BLOCK = re.compile(r"[:：][*_ \t]{0,6}$|[\]】][.!?]?[ \t]*$")
_COLON = re.compile(r"[:：][*_\s]*$")
_NUMBERING = re.compile(r"\A[#*_>\s]*(?:\(?\d{1,3}(?:\.\d{1,3})*[.):]|\d{1,3}(?:\.\d{1,3})+)(?:\s|$)")
# Stands for a character of a marker; no text has it.
_GONE = "\0"
_GAP = re.compile(rf"(?<![{_GONE}\s])[{_GONE}\s]++(?=[.,;:!?])")
# Least words on both sides of a marker that ends a clause.
_FEW = 3


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker at [start, end) of an answer, with the numbers of the passages it names."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Claim:
    """One statement of an answer.

    Attributes:
        text: Its text on one line, without markers and links (`strip_links`).
        start: Where it starts in the answer.
        end: Where it ends, its markers included.
        markers: Numbers of the passages it cites, each once, in order.
    """

    text: str
    start: int
    end: int
    markers: tuple[int, ...]


def markers(text: str) -> list[Marker]:
    """Return the citation markers of a text, in order; [1-3] names three passages, [?] none."""
    return [Marker(match.start(), match.end(), _read_numbers(match)) for match in MARKER.finditer(text)]


def _read_numbers(match: re.Match[str]) -> tuple[int, ...]:
    found: dict[int, None] = {}
    for part in _RANGE.finditer(match["square"] or match["lens"] or ""):
        first = int(part[1])
        last = int(part[2]) if part[2] else first
        # A long range, such as "[1-999]", would name passages that do not exist.
        found |= dict.fromkeys(range(first, last + 1) if first <= last < first + 100 else (first, last))
    return tuple(found)


def claims(answer: str, question: str = "") -> list[Claim]:
    """Return the claims of an answer, in order.

    A marker belongs to the sentence it follows, before or after the full stop; if a sentence cites after each of its
    clauses, each clause is a claim. List items are claims. Headings, heads of tables, questions, and lines that end in
    a colon are leads: they are claims only if they cite, or have a number that neither the question nor the introduced
    claims have. Text without a content word, code between fences, and the rules of tables are no claims; nor is a first
    sentence of one word that cites nothing, such as "Yes.".
    """
    stated = _list_stated(answer)
    # "Yes." before a sentence is a reply; alone, it is a claim.
    return _without_mere_leads([one for one in stated if len(stated) == 1 or not _is_reply(*one)], question)


def _is_reply(claim: Claim, is_lead: bool) -> bool:  # a pair of `_stated`
    one_word = len(analyser().terms(claim.text)) == 1 and not any(map(str.isdigit, claim.text))
    return claim.start == 0 and not claim.markers and one_word and not is_lead


def _without_mere_leads(stated: Sequence[tuple[Claim, bool]], question: str) -> list[Claim]:
    """Leave out the leads that only introduce the claims after them, up to the next lead."""
    result: list[Claim] = []
    asked = figures(question)
    introduced: list[Claim] = []
    after_lead = False
    # From the end, because a lead stands before the claims that it introduces.
    for claim, is_lead in reversed(stated):
        if is_lead:
            known = [*asked, *(figure for one in introduced for figure in figures(one.text))]
            if _has_news(claim, known, len(introduced)):
                result.append(claim)
        else:
            introduced = [] if after_lead else introduced
            introduced.append(claim)
            result.append(claim)
        after_lead = is_lead
    return result[::-1]


def _has_news(lead: Claim, known: Sequence[Figure], introduced: int) -> bool:
    """Tell whether a lead has a new number; the number of a heading or of the introduced claims does not count."""
    stated = figures(_NUMBERING.sub("", lead.text))
    return any(str(introduced) not in figure.values and not has(known, figure) for figure in stated)


def _list_stated(answer: str) -> list[tuple[Claim, bool]]:
    """Return the claims of an answer, each with whether it may be only a lead."""
    found = markers(answer)
    masked = _mask_markers(answer, found)
    result: list[tuple[Claim, bool]] = []
    at = 0
    for line, end, is_head in _split_blocks(answer):
        bullet = _BULLET.match(answer, line, end)
        start = bullet.end() if bullet else line
        for first, last in spans(masked[start:end]):
            inside = []
            while at < len(found) and found[at].start < start + last:
                inside.append(found[at])
                at += 1
            for begin, stop, named, cites in _split_clauses(masked, start + first, start + last, inside):
                if claim := _make_claim(answer, masked, begin, stop, named):
                    result.append((claim, not cites and (is_head or _leads(claim.text))))
    return result


def _mask_markers(answer: str, found: list[Marker]) -> str:
    """Replace the markers by blanks, which do not disturb the sentence rules and keep all positions."""
    parts, done = [], 0
    for marker in found:
        parts += [answer[done : marker.start], " " * (marker.end - marker.start)]
        done = marker.end
    return "".join([*parts, answer[done:]])


def _split_blocks(answer: str) -> Iterator[tuple[int, int, bool]]:
    """Yield blocks of lines, such as a list item, a paragraph or a heading, without rules and code between fences.

    Each has whether it is a heading or the head of a table.
    """
    start, position, closed, heads, fence = 0, 0, False, False, ""
    for line in answer.splitlines(keepends=True):
        opened = _FENCE.match(line)
        if fence or opened:
            if position > start and not fence:
                yield start, position, heads
            if not fence and opened:
                fence = opened[1]
            elif opened and opened[1].startswith(fence):
                fence = ""
            position += len(line)
            start, heads, closed = position, False, False
            continue
        heading, rule = _HEADING.match(line), _RULE.match(line)
        if position > start and (closed or heading or rule or not line.strip() or _ITEM.match(line)):
            yield start, position, heads or (rule is not None and "|" in line)
            start, heads = position, False
        heads = heads or heading is not None
        closed = bool(heading or _ENDS_BLOCK.search(line.rstrip()[-80:])) or not line.strip()
        position += len(line)
        if rule:
            start = position
    if position > start:
        yield start, position, heads


def _split_clauses(
    masked: str, start: int, end: int, inside: list[Marker]
) -> Iterator[tuple[int, int, tuple[int, ...], bool]]:
    """Yield (start, end, numbers, cites) of each clause that has markers of its own."""
    cuts, before = [start], 0
    for left, right in pairwise([Marker(start, start, ()), *inside]):
        if left.end > start and _parts(masked, before, left.end, right.start):
            cuts.append(left.end)
            before = 0
        before += len(analyser().terms(masked[left.end : right.start]))
    at = 0
    for first, last in pairwise([*cuts, end]):
        named: dict[int, None] = {}
        begin = at
        while at < len(inside) and inside[at].start < last:
            named |= dict.fromkeys(inside[at].numbers)
            at += 1
        yield first, last, tuple(named), at > begin


def _parts(masked: str, before: int, start: int, end: int) -> bool:
    """Tell whether the text between two markers is a clause of its own."""
    between = masked[start:end]
    after = len(analyser().terms(between))
    starts_anew = between.lstrip()[:1].isupper() and after > 0 and before > 1
    return starts_anew or min(before, after) >= _FEW


def _leads(text: str) -> bool:
    """Tell whether a sentence may be only a lead: a heading, a question, or one that ends in a colon."""
    asks = text.rstrip("*_\"'”’)").endswith(("?", "？"))
    return asks or bool(_COLON.search(text) or _HEADING.match(text))


def _make_claim(answer: str, masked: str, start: int, end: int, named: tuple[int, ...]) -> Claim | None:
    piece = answer[start:end]
    start += len(piece) - len(piece.lstrip(" \t\n\r|"))
    end -= len(piece) - len(piece.rstrip(" \t\n\r|"))
    text = strip_links(_without_gaps(answer[start:end], masked[start:end]))
    return Claim(text, start, end, named) if start < end and analyser().terms(text) else None


def _without_gaps(written: str, masked: str) -> str:
    """Return a claim on one line, without the blanks that a marker leaves before a stop.

    Other blanks are the writer's: " .env", " .05", and the French " ;".
    """
    marked = "".join(_GONE if one != other else other for one, other in zip(written, masked, strict=True))
    closed = _GAP.sub(lambda gap: "" if _GONE in gap[0] else gap[0], marked)
    return " ".join(closed.replace(_GONE, " ").split())
