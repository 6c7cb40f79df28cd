"""Headings of a PDF: from its outline when it has one, else from the size and weight of its type."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from anabranch.readers.document import Block
from anabranch_readers.pdf_layout.paragraphs import Paragraph

_LARGER = 1.12  # times the body's type: 12 points head a text of 10, 11 do not
_SLIGHTLY_LARGER = 1.05  # where a number says the same
# Bold type a little smaller than the text still heads a part of it, most of all Helvetica in a text in Times, which
# looks larger than it is; smaller still, it is a note.
_SMALLEST, _ABOUT = 0.85, 0.95
_LONGEST, _MOST_WORDS, _MOST_ROWS = 140, 18, 3  # more is a sentence in bold
_DEEPEST = 6
_RUN_IN = 99  # the level of a heading that the outline does not have: below all that it has
_STOPS = ".:。．： "
_LETTER = re.compile("[^\\W\\d_\u02b0-\u02ff\U0001d400-\U0001d7ff]")  # but those of formulas
_WORD = re.compile(f"{_LETTER.pattern}{{3}}|[\u2e80-\ud7ff]{{2}}")
_CAPTION = re.compile(r"(?:fig|tab|abb|scheme|listing|algorithm|tableau|bild|obr|rys)\w*\.?\s*\d", re.IGNORECASE)
_ROMAN = re.compile(r"(?:[IVX]{1,5}|[A-Z])\.\s+\S")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S")
_DIVISION = re.compile(
    r"(part|book|teil|partie)\s+[\divxlc]+\b|(item|chapter|section|article|note)\s+\d", re.IGNORECASE
)
# What ends like a sentence, or begins like a list item or a remark in brackets, heads nothing.
_NO_HEADING = re.compile(r"[.,;:]$|^[(\[•*–—-]|…")

# Entries of (level from 1, title, 1-based page).
PdfOutline = Sequence[tuple[int, str, int]]
Style = tuple[float, bool, bool, int]


def with_outline(paragraphs: Sequence[Paragraph], outline: PdfOutline) -> Iterator[Block]:
    """Yield blocks whose heading path follows the outline.

    An entry begins at the paragraph of its page that says its title, else at the top of that page.
    """
    pages: dict[int, list[Paragraph]] = defaultdict(list)
    for paragraph in paragraphs:
        pages[paragraph.page].append(paragraph)
    entries: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for level, title, page in outline:
        entries[page].append((level, title))
    path: list[tuple[int, str]] = []
    for page in sorted({*pages, *entries}):
        starts, titles = _placed(entries[page], pages[page])
        for at, paragraph in enumerate(pages[page]):
            heads = at in titles or paragraph.is_run_in
            own = [(_RUN_IN, _title(paragraph))] if heads and at not in titles else []
            for level, title in [*starts.get(at, ()), *own]:
                path = [*(entry for entry in path if entry[0] < level), (level, title)]
            yield _block(paragraph, tuple(title for _, title in path), heads)
        if not pages[page]:
            for level, title in entries[page]:
                path = [*(entry for entry in path if entry[0] < level), (level, title)]


def _placed(
    entries: Sequence[tuple[int, str]], paragraphs: Sequence[Paragraph]
) -> tuple[Mapping[int, list[tuple[int, str]]], set[int]]:
    """Return which entries begin at which paragraph, and which paragraphs are the titles themselves."""
    starts: dict[int, list[tuple[int, str]]] = defaultdict(list)
    titles: set[int] = set()
    at = 0
    for level, title in entries:
        wanted = _letters(title)
        found = next((i for i in range(at, len(paragraphs)) if _is_title(paragraphs[i], wanted)), None)
        if found is not None:
            at = found
            titles.add(found)
        starts[at].append((level, title))
    return starts, titles


def _is_title(paragraph: Paragraph, wanted: str) -> bool:
    letters = _letters(paragraph.text) if len(paragraph.text) <= 2 * _LONGEST else ""
    return bool(letters) and (
        letters == wanted or (len(letters) >= 4 and wanted.endswith(letters)) or letters.endswith(wanted)
    )


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def with_type(paragraphs: Sequence[Paragraph]) -> Iterator[Block]:
    """Yield blocks whose heading path follows the type: larger than the body, or bold, and short.

    Larger comes above smaller, upright above italic, `1` above `1.1`.
    """
    body = body_size(paragraphs)
    path: list[tuple[Style, str]] = []
    for paragraph in paragraphs:
        heads = paragraph.is_run_in or is_heading(paragraph, body)
        if heads:
            style = _style(paragraph)
            path = [entry for entry in path if entry[0] < style][: _DEEPEST - 1]
            path.append((style, _title(paragraph)))
        yield _block(paragraph, tuple(title for _, title in path), heads)


def body_size(paragraphs: Sequence[Paragraph]) -> float:
    """Return the font size, to half a point, in which most letters are set; 0 without paragraphs."""
    letters: Counter[float] = Counter()
    for paragraph in paragraphs:
        letters[round(paragraph.size * 2) / 2] += len(paragraph.text)
    return letters.most_common(1)[0][0] if letters else 0.0


def is_heading(paragraph: Paragraph, body: float) -> bool:
    """Tell whether a paragraph heads the ones after it, `body` being the size of running text in points."""
    text = paragraph.text
    short = len(text) <= _LONGEST and len(text.split()) <= _MOST_WORDS and paragraph.rows <= _MOST_ROWS
    if paragraph.table or not short or len(_LETTER.findall(text)) < 2 or _CAPTION.match(text):
        return False
    if _NO_HEADING.search(text) and not _DIVISION.match(text):
        return False
    return paragraph.size >= _LARGER * body or (paragraph.size >= _SMALLEST * body and _stands_out(paragraph, body))


def _stands_out(paragraph: Paragraph, body: float) -> bool:
    """Tell a title in type of about the size of the text: bold, or one line in capitals, italics or with a number."""
    text = paragraph.text
    if paragraph.bold and (paragraph.size >= _ABOUT * body or _WORD.search(text)):
        return True
    if paragraph.rows > 1 or not (text[0].isupper() or text[0].isdigit()) or not _WORD.search(text):
        return False
    number = bool(_NUMBERED.match(text) or _ROMAN.match(text))
    if paragraph.italic:
        return number or (text[0].isupper() and len(_WORD.findall(text)) > 1)
    # More figures than letters: a row of numbers that a program printed.
    is_said = text.isupper() and len(_LETTER.findall(text)) >= sum(map(str.isdigit, text))
    return (number and (text.isupper() or paragraph.size >= _SLIGHTLY_LARGER * body)) or is_said


def _title(paragraph: Paragraph) -> str:
    return paragraph.text.rstrip(_STOPS) if paragraph.is_run_in else paragraph.text


def _style(paragraph: Paragraph) -> Style:
    if paragraph.is_run_in:  # below all others
        return (0.0, False, False, _depth(paragraph.text))
    return (-round(paragraph.size * 2) / 2, not paragraph.bold, paragraph.italic, _depth(paragraph.text))


def _depth(text: str) -> int:
    """Return how deep the words themselves say a heading is: `Part II` -1, `Item 5` 0, `3` or no number 1, `3.1` 2."""
    division, number = _DIVISION.match(text), _NUMBERED.match(text)
    if division:
        return -1 if division.group(1) else 0
    return number.group(1).count(".") + 1 if number else 1


def _block(paragraph: Paragraph, heading: tuple[str, ...], is_heading: bool) -> Block:
    return Block(paragraph.text, paragraph.page, heading, is_heading)
