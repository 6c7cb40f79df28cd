"""What of a passage can stand in an answer, as it stands there: sentences, lists, rows of tables, and code.

A row says nothing by itself: "Net loss | (1,009) | (1,752)" needs to know which year is which. So it is shown as a
small Markdown table with the head of its own, as the reader of documents writes tables: one row per line, cells between
bars, the head first. A list and a block of code keep their lines and come with what introduces them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from anabranch.citations.table_cells import row_cells
from anabranch.extracts.shell_commands import SAID, command_spans, is_code, is_shell
from anabranch.text.sentences import running_spans

MOST_HEADING_WORDS = 12
# A cell of so many words is a sentence of its own.
LEAST_WORDS = 8
# Characters of a list or of code together with what introduces it.
LONGEST_BLOCK = 500
_PAIR = 2  # cells: what something is called, and its figure
# Share of the words that are numbers, from which a line without a stop is of an index or of a table.
MOST_NUMBERS = 0.3
StatementForm = Literal["sentence", "list", "row", "code"]

_ASKED = re.compile(r"[?？؟](?:[\"'”’)\]*_]|\s)*$")
_SPOKEN = re.compile(r"^\W*?[\"“”„«»‹›「『]|[\"“”«»‹›」』]\W*$")
_LEADERS = re.compile(r"(?:\.[ \t]?){4,}\s*\d|…\s*\d+\s*$")
_CODE = re.compile(r"[{}]|[=!]=|\w=[\"'\w{\[(]|\w\.\w+\(|\w\[[\w\"']+\]|;\s*$|=>|::")
_BULLET = re.compile(r"^(?:[-*+•‣·–]|\(?\d{1,3}[.)])\s+")
_NUMBER_ALONE = re.compile(r"\s*\(?\d{1,3}[.)]\s*")
# As contracts number their clauses, a line each: a wrapped line may begin with "3.1 percent".
_CLAUSE = re.compile(r"\n(?=[ \t]*\d{1,3}(?:\.\d{1,3})+\.?[ \t]+[^\W\d_a-z])")
_DASH = re.compile(r"\s*[-*+•‣·–]\s")
# Characters of an item of a list that is shown whole, with all its sentences.
_LONGEST_ITEM = 250
_INDEX = re.compile(r"\[\d")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"[\s|:-]+$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?:19|20)\d\d")
_AMOUNT = re.compile(r"(?!(?:19|20)\d\d\Z)[-+−–(<>~≈$€£¥₩\s]*\d[\d.,'’\s]*[)%$€£¥₩\s]*")

# English sentences that only say where to read on: "Also see the section on filters."
_ENGLISH_ELSEWHERE = re.compile(
    r"^\W*(?:(?:also|please|but|and)\W+){0,2}"
    r"(?:for (?:more|further|additional|other|details|information|a)\b[^.;]{0,80}?,?\s+(?:please\s+)?)?"
    r"(?:see|refer to|read|consult|check out|have a look at|take a look at|visit|turn to)\b(?! that\b| how many\b)",
    re.IGNORECASE,
)
_ENGLISH_PLACE = re.compile(
    r"\b(?:sections?|chapters?|tables?|figures?|fig|appendi(?:x|ces)|notes?|pages?|pp?\.|parts?|items?|docs|documentation|"
    r"guide|readme|manual|wiki|website|links?|below|above|following|here|https?)\b",
    re.IGNORECASE,
)
_ENGLISH_CONTENTS = re.compile(r"^\W*(?:table of contents|contents|index)\b\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One piece of a passage that can stand by itself.

    Attributes:
        text: As an answer shows it; lists, rows and code on several lines.
        said: In one line of words, as it is compared with a question.
        start: Where it starts in the passage: two that share a character say the same twice.
        end: Where it ends.
        form: What it is.
        label: What a row is called: its first cell.
        asked: The question before it, which it may answer; empty where there is none.
    """

    text: str
    said: str
    start: int
    end: int
    form: StatementForm = "sentence"
    label: str = ""
    asked: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of one kind at [start, end) of a passage."""

    kind: Literal["prose", "table", "code"]
    start: int
    end: int


def says_something(text: str) -> bool:
    """Say whether a sentence can stand in an answer: a heading, a question or a line of code or an index cannot."""
    words = text.split()
    refers_elsewhere = _ENGLISH_CONTENTS.match(text) or (_ENGLISH_ELSEWHERE.match(text) and _ENGLISH_PLACE.search(text))
    if refers_elsewhere or len(_CODE.findall(text)) >= 2 or _ASKED.search(text) or _LEADERS.search(text):
        return False
    if SAID.search(text):
        return True
    numbers = sum(bool(_DIGIT.match(word)) for word in words)
    return len(words) > MOST_HEADING_WORDS and numbers < MOST_NUMBERS * len(words)


def statements(passage: str, title: str = "") -> Iterator[Statement]:
    """Yield the statements of a passage in reading order; headings, questions and cross-references are none.

    Args:
        passage: Its text.
        title: What a table is about that has no line above it here: the innermost title over the passage.
    """
    # What stands right above a table or a block of code says what it is about.
    above: tuple[int, int] | None = None
    for block in _parted(passage, _blocks(passage)):
        text = passage[block.start : block.end]
        if block.kind == "table":
            line = passage[slice(*above)] if above else title
            # A command is not what a table is about.
            yield from _rows(text, block.start, title if is_shell(line) else line)
        elif block.kind == "code" and above:
            yield from _code(passage, above, block)
        elif block.kind == "prose":
            pieces = _pieces(text, block.start)
            yield from _prose(passage, pieces)
            above = pieces[-1] if pieces else above


def _blocks(passage: str) -> Iterator[_Block]:
    """Cut a passage into prose, tables, and code between fences."""
    kind: Literal["prose", "table", "code"] = "prose"
    start = at = 0
    fence = ""
    for line in passage.splitlines(keepends=True):
        opened = _FENCE.match(line)
        now: Literal["prose", "table", "code"] = "code" if fence or opened else "table" if _ROW.match(line) else "prose"
        if now != kind or (opened and not fence):
            if at > start:
                yield _Block(kind, start, at)
            start, kind = at, now
        if opened:
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        at += len(line)
    if at > start and not fence:  # code without an end would make code of all that follows it in an answer
        yield _Block(kind, start, at)


def _parted(passage: str, blocks: Iterator[_Block]) -> Iterator[_Block]:
    """Part prose from paragraphs of commands: readers of documents leave out the fences of a block of code."""
    for block in blocks:
        at = block.start
        for start, end in command_spans(passage, block.start, block.end) if block.kind == "prose" else ():
            if start > at:
                yield _Block("prose", at, start)
            yield _Block("code", start, end)
            at = end
        if at < block.end:
            yield replace(block, start=at)


def _pieces(text: str, at: int) -> list[tuple[int, int]]:
    """Return where the sentences of prose are that starts at a character of a passage, items with their numbers."""
    found: list[tuple[int, int]] = []
    begun: int | None = None
    for start, end in _clauses(text):
        if not text[start:end].strip():
            continue
        if _NUMBER_ALONE.fullmatch(text, start, end):
            begun = start if begun is None else begun
            continue
        if begun is None and found and _belongs(text, found[-1][0] - at, start, end):
            found[-1] = (found[-1][0], at + end)
            continue
        found.append((at + (start if begun is None else begun), at + end))
        begun = None
    return found


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences are, those of a contract's clauses without the heading on the line before."""
    for start, end in running_spans(text):
        cuts = [
            start,
            *(found.end() for found in _CLAUSE.finditer(text, start, end) if text[start : found.start()].strip()),
        ]
        yield from zip(cuts, [*cuts[1:], end], strict=True)


def _belongs(text: str, item: int, start: int, end: int) -> bool:
    """Tell whether a sentence is one more of the item of a list before it, which says half without it."""
    return (
        bool(_DASH.match(text, item))
        and end - item <= _LONGEST_ITEM
        and "\n" not in text[item:start]
        and not _ASKED.search(text[item:start])
        and not _BULLET.match(text[start:end].lstrip())
    )


def _prose(passage: str, pieces: Sequence[tuple[int, int]]) -> Iterator[Statement]:
    for index, asked in enumerate(_questions(passage, pieces)):
        for each in _piece(passage, pieces, index):
            yield replace(each, asked=asked)


def _questions(passage: str, pieces: Sequence[tuple[int, int]]) -> list[str]:
    """Return the question over each piece: the one before it in its paragraph, or right above that.

    In a list of frequent questions nothing else says what an answer is about. There a question begins a line, or
    follows on another one; what is asked elsewhere, and what somebody says, is part of the text.
    """
    over: list[str] = []
    asked, is_answered = "", False
    for index, (start, end) in enumerate(pieces):
        before = passage[pieces[index - 1][0] : start] if index else "\n"
        breaks = before.count("\n", len(before.rstrip()))
        if is_answered and breaks > 1:
            asked = ""
        is_question = bool(_ASKED.search(passage[start:end]))
        over.append("" if is_question else asked)
        if is_question:
            leads = (breaks or asked) and not _SPOKEN.search(passage[start:end])
            asked = _plain(passage[start:end].strip()) if leads else ""
        is_answered = not is_question
    return over


def _piece(passage: str, pieces: Sequence[tuple[int, int]], index: int) -> Iterator[Statement]:
    start, end = pieces[index]
    piece = " ".join(passage[start:end].split())
    last = _list_end(passage, pieces, index)
    if last > index:
        yield _list(passage, pieces[index : last + 1])
    elif piece.endswith(":") and not _BULLET.match(piece):
        yield from _announced(passage, (start, end), pieces[index + 1 : index + 2])
    elif not piece.endswith(":") and says_something(_plain(piece)):
        yield Statement(piece if _BULLET.match(piece) else _plain(piece), _plain(piece), start, end)


def _announced(passage: str, lead: tuple[int, int], following: Sequence[tuple[int, int]]) -> Iterator[Statement]:
    """Yield a line that ends in a colon with the sentence or the commands after it; alone it says nothing."""
    for start, end in following:
        block = _Block("code", start, end)
        said = " ".join(passage[lead[0] : end].split())
        if is_code(passage[start:end]):
            yield from _code(passage, lead, block)
        elif len(said) <= LONGEST_BLOCK and says_something(said) and not said.endswith(":"):
            yield Statement(said, said, lead[0], end)


def _plain(piece: str) -> str:
    return _HEADING.sub("", _BULLET.sub("", piece))


def _list_end(passage: str, pieces: Sequence[tuple[int, int]], index: int) -> int:
    """Return the place of the last item of the list that a piece introduces, as far as there is room, else its own.

    A line that ends in a colon introduces one, and so does a heading: a piece without a stop.
    """
    start, end = pieces[index]
    lead = passage[start:end].strip()
    if _BULLET.match(lead) or not (lead.endswith((":", "：")) or _HEADING.match(lead) or not SAID.search(lead)):
        return index
    last = index
    for place in range(index + 1, len(pieces)):
        if not _BULLET.match(passage[pieces[place][0] : pieces[place][1]].lstrip()):
            break
        if pieces[place][1] - start > LONGEST_BLOCK:
            break
        last = place
    return last if last > index + (not lead.endswith((":", "："))) else index


def _list(passage: str, pieces: Sequence[tuple[int, int]]) -> Statement:
    lead, *items = [" ".join(passage[start:end].split()) for start, end in pieces]
    lead = _HEADING.sub("", lead)
    return Statement(
        "\n".join([lead, "", *items]),
        " ".join([lead, *(_BULLET.sub("", item) for item in items)]),
        pieces[0][0],
        pieces[-1][1],
        "list",
    )


def _code(passage: str, above: tuple[int, int], block: _Block) -> Iterator[Statement]:
    """Yield a block of code with the sentence or the heading above it: no word of the code can be cited."""
    lead = _plain(" ".join(passage[slice(*above)].split()))
    code = passage[block.start : block.end].strip("\n")
    code = code if _FENCE.match(code) else f"```\n{code.rstrip()}\n```"
    # "argv[1]" would read as a citation.
    if (
        lead
        and not _INDEX.search(code)
        and len(lead) + len(code) <= LONGEST_BLOCK
        and not passage[above[1] : block.start].strip()
    ):
        yield Statement(f"{lead}\n\n{code}", f"{lead} {' '.join(code.split())}", above[0], block.end, "code")


def _rows(table: str, at: int, above: str) -> Iterator[Statement]:
    """Yield the rows of a table: those whose columns have names, and names with one figure.

    Of several figures without names of their columns nobody could tell which is which.
    """
    lines = table.splitlines(keepends=True)
    cells = [row_cells(line) for line in lines]
    heads = _heads(lines, cells)
    names = _joined_names(cells[:heads])
    caption = " ".join(above.split())
    for number, (line, row) in enumerate(zip(lines, cells, strict=True)):
        start, at = at, at + len(line)
        if number < heads or _RULE.fullmatch(line):
            continue
        told = [cell for cell in row if len(cell.split()) >= LEAST_WORDS]
        is_named = _are_named(names, row)
        # A table may only lay out prose: its cells are statements then, and its rows none.
        if told and not (is_named and len(_told(row, names)) <= LONGEST_BLOCK):
            yield from (Statement(cell, cell, start, at) for cell in told if says_something(cell))
        elif _is_told(row, names) if is_named else _is_pair(row):
            said = f"{caption} {_told(row, names)}" if len(caption) < LONGEST_BLOCK else _told(row, [])
            yield Statement(_table(names, row), said.strip(), start, at, "row", row[0])


def _is_told(row: Sequence[str], names: Sequence[str]) -> bool:
    """Tell whether a row says something of what it is called; a figure in a column of figures is no name."""
    is_figure = _AMOUNT.fullmatch(row[0]) and (not names[0] or _DIGIT.search(names[0]))
    return any(cell and not _ASKED.search(cell) for cell in row[1:]) and not is_figure


def _is_pair(row: Sequence[str]) -> bool:
    filled = [*filter(None, row)]
    return any(map(_DIGIT.search, row[1:])) and len(filled) <= _PAIR and not _AMOUNT.fullmatch(row[0])


def _are_named(names: Sequence[str], row: Sequence[str]) -> bool:
    return len(names) == len(row) and any(names[1:])


def _is_head(lines: Sequence[str], cells: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first line names the columns: a rule follows, it has no name itself, or no digit.

    With digits it is one as well where they are of years and dates, and amounts stand below. A sentence is no name.
    """
    if len(lines) < 2:
        return False
    if _RULE.fullmatch(lines[1]):
        return True
    if any(len(cell.split()) >= LEAST_WORDS and says_something(cell) for cell in cells[0]):
        return False
    if not cells[0][0] or not any(map(_DIGIT.search, cells[0])):
        return True
    below = (cell for row in cells[1:] for cell in row[1:])
    return not any(map(_AMOUNT.fullmatch, cells[0])) and any(map(_AMOUNT.fullmatch, below))


def _heads(lines: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """Return how many lines name the columns: below the first one, those of years, or without a name and an amount."""
    if not _is_head(lines, cells):
        return 0
    heads = 1
    while heads < len(lines) - 1 and not any(map(_AMOUNT.fullmatch, cells[heads])):
        if cells[heads][0] and not _names_years(cells[heads], cells[heads + 1 :]):
            break
        heads += 1
    return heads


def _names_years(line: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Tell whether a line names columns by years: several, amounts below them, and no further year."""
    columns = [at for at, cell in enumerate(line) if _YEAR.fullmatch(cell)]
    values = [row[at] for row in below for at in columns if at < len(row)]
    return len(columns) > 1 and any(map(_AMOUNT.fullmatch, values)) and not any(map(_YEAR.fullmatch, values))


def _joined_names(heads: Sequence[Sequence[str]]) -> list[str]:
    if len({len(row) for row in heads}) != 1:
        return list(heads[0]) if heads else []
    return [" ".join(filter(None, column)) for column in zip(*heads, strict=True)]


def _table(names: Sequence[str], row: Sequence[str]) -> str:
    """Return a row as a Markdown table; without a head where the names are not known or not as many."""
    named = names if _are_named(names, row) else [""] * len(row)
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (named, ["---"] * len(row), row)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _told(row: Sequence[str], names: Sequence[str]) -> str:
    """Return a row as words: "Net loss: 2021 (1,009); 2020 (1,752)."."""
    named = names if len(names) == len(row) else [""] * len(row)
    values = "; ".join(f"{name} {cell}".strip() for name, cell in zip(named[1:], row[1:], strict=True) if cell)
    return f"{row[0]}: {values.rstrip('.')}." if row[0] else f"{values.rstrip('.')}."
