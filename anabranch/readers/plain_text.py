"""Read plain text: paragraphs at blank lines, wrapped lines made whole, chapters where they are obvious."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from anabranch.readers.dehyphenation import join_all, vocabulary
from anabranch.readers.document import PLAIN, Block, Document, HeadingPath, ReadOptions, titles, with_heading
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.size_limit import MOST_TEXT_BYTES, limited
from anabranch.text.line_starts import entry_kinds, line_kind

_BLANK = re.compile(r"\n[ \t\xa0]*(?:\n[ \t\xa0]*)+")
_CHAPTER = re.compile(
    r"(?:(part|book|volume|teil|buch|partie|parte)|chapter|kapitel|chapitre|cap[ií]tulo|capitolo|act|scene|appendix)"
    r"\s+(?:\d{1,3}|[ivxlc]{1,7}|one|two|three|four|five|six|seven|eight|nine|ten|(?-i:[A-Z]))"
    r"(?:\s*[.:—–-][^\n]{0,80}|\s*\n[^\n]{1,80}|(?-i: [A-Z])[^\n]{0,80})?",
    re.IGNORECASE,
)
_SOFT_BREAK = re.compile(r"\u00ad\r?\n[ \t]*")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+])\1{2,}\Z")
_WIDEST, _NARROWEST, _FULL = 120, 30, 0.75  # characters; half of all wrapped lines are at least so full
_OPENING, _FEW_LINES, _MANY_LINES = 0.85, 3, 12  # the share of lines of verse that begin so, and how many tell


@limited(MOST_TEXT_BYTES)
def read_text(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a text file.

    Raises:
        ReadingError: `empty`, `broken` (binary data) or `encoding`.
    """
    text, notes = decode(path.read_bytes(), source)
    text, notes = clean_text(_SOFT_BREAK.sub("", text), notes)
    # By its file's name, whatever its chapters are called: the first of them names itself and not the whole.
    is_log = path.suffix.lower() == ".log"
    parts = paragraphs(text) if is_log else unwrap(text)
    yield one_document(source, path, _headed(parts, is_log=is_log), {"format": "text"}, path.stem, notes)


def paragraphs(text: str) -> list[str]:
    """Return the runs of lines that blank lines set apart, line breaks and indents kept, none of them empty."""
    parts = (part.strip("\n").rstrip() for part in _BLANK.split(text))
    return [part for part in parts if part.strip()]


def unwrap(text: str) -> list[str]:
    """Return the paragraphs of `text` with the line breaks undone that a fixed width forced.

    A break was forced when the next word would not have fitted on its line; the width is that of the longest lines.
    Verse, lists, tables, minutes, chats and code, whose lines end where they like, keep theirs.
    """
    found = [part for paragraph in paragraphs(text) for part in _from_titles(paragraph)]
    width = _width(found)
    if not width or _is_verse([line for part in found for line in part.split("\n")[1:]], _MANY_LINES):
        return found
    words = vocabulary(text.split("\n"))
    return [_unwrap(paragraph.split("\n"), width, words) for paragraph in found]


def _from_titles(paragraph: str) -> Iterator[str]:
    """Yield a paragraph in parts that begin where a line is underlined to its length."""
    lines = paragraph.split("\n")
    start = 0
    for at in range(1, len(lines) - 1):
        title, below = lines[at].rstrip(), lines[at + 1].rstrip()
        is_over = _UNDERLINE.match(lines[at - 1].rstrip()) is not None  # the title began a line ago
        if len(title) == len(below) and _UNDERLINE.match(below) and not (is_over or _UNDERLINE.match(title)):
            yield "\n".join(lines[start:at])
            start = at
    yield "\n".join(lines[start:])


def _width(found: Sequence[str]) -> int:
    """Return the width that lines were wrapped at, 0 if they were not."""
    inner = sorted(len(line.rstrip()) for part in found for line in part.split("\n")[:-1])
    if len(inner) < 2:
        return 0
    width = inner[min(len(inner) - 1, 95 * len(inner) // 100)]
    # Wrapped lines are nearly full; lines that end where they like are not.
    is_wrapped = _NARROWEST <= width <= _WIDEST and inner[len(inner) // 2] >= _FULL * width
    return width if is_wrapped else 0


def _unwrap(lines: Sequence[str], width: int, words: frozenset[str]) -> str:
    if _begin_alike(lines):
        return "\n".join(line.rstrip() for line in lines)
    kinds = entry_kinds(lines)
    runs = [[lines[0].rstrip()]]
    for above, line in pairwise(lines):
        first_word = len(line.strip().split(" ", 1)[0])
        forced = len(above.rstrip()) + 1 + first_word > width and line[:1] not in {" ", "\t", "|"}
        forced = forced and not _UNDERLINE.match(line.rstrip())
        if forced and line_kind(line) not in kinds:
            runs[-1].append(line.strip())
        else:
            runs.append([line.rstrip()])
    return "\n".join(join_all(run, words, "keep") for run in runs)


def _begin_alike(lines: Sequence[str]) -> bool:
    """Tell whether the lines of a paragraph are entries of their own or verses, by how they begin."""
    firsts = [line.split(maxsplit=1)[0] for line in lines if line.strip()]
    return (len(firsts) > 2 and len(set(firsts)) == 1) or _is_verse(lines[1:], _FEW_LINES)


def _is_verse(lines: Sequence[str], least: int) -> bool:
    """Tell whether most lines begin something new, with a capital or a figure; in scripts without capitals, never.

    In German, the most capital of languages, two lines in five of wrapped prose do so: a few lines also have to end
    with a mark, as those of verse do.
    """
    said = [line.strip() for line in lines if line.strip()]
    opening = sum(line[0].isupper() or line[0].isdigit() for line in said)
    ended = sum(line[-1] in ".,;:!?…—" for line in said)
    is_sure = len(said) >= _MANY_LINES or 2 * ended >= len(said)
    is_cased = any(map(str.islower, "".join(said)))
    return is_cased and is_sure and len(said) >= least and opening >= _OPENING * len(said)


def _headed(parts: Sequence[str], *, is_log: bool) -> Iterator[Block]:
    path: HeadingPath = ()
    underlines: list[str] = []
    numeral = 0
    for part in parts:
        found = _underlined(part, underlines)
        if found:
            level, title, rest = found
            path = with_heading(path, level, title)
            yield Block(title, None, titles(path), is_heading=True)
            if rest:
                yield Block(rest, None, titles(path))
            continue
        level, numeral = _chapter(part.strip(), numeral)
        if level:
            path = with_heading(path, level, " ".join(part.split()))
        lines = part.split("\n")
        keeps = not level and len(lines) > 1 and (is_log or bool(entry_kinds(lines)) or _begin_alike(lines))
        yield Block(part.strip() if level else part, None, titles(path), bool(level), keeps)


def _chapter(part: str, numeral: int) -> tuple[int, int]:
    """Return the level of an obvious chapter line (0: none) and the last Roman numeral that stood alone.

    A numeral alone is a heading only when it continues the count, so that a lone "I" or "C" elsewhere stays text.
    """
    found = _CHAPTER.fullmatch(part)
    if found and not part.endswith((",", ";")) and (len(part.split()) <= 3 or not part.endswith(".")):
        return (1, 0) if found.group(1) else (2, numeral)
    value = _roman(part.rstrip("."))
    return (2, value) if value and value in {1, numeral + 1} else (0, numeral)


def _roman(text: str) -> int:
    if not 0 < len(text) <= 7 or not set(text) <= set(_ROMAN):
        return 0
    values = [_ROMAN[letter] for letter in text]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))


def _underlined(part: str, underlines: list[str]) -> tuple[int, str, str] | None:
    """Return level, title and the rest of a paragraph that begins with an underlined title (reStructuredText)."""
    lines = [line.rstrip() for line in part.split("\n")]
    over = bool(len(lines) >= 3 and _UNDERLINE.match(lines[0]) and lines[2] == lines[0])
    title, line, rest = (lines[1], lines[2], lines[3:]) if over else (lines[0], "".join(lines[1:2]), lines[2:])
    if not _UNDERLINE.match(line) or not any(map(str.isalnum, title)) or len(line) < len(title.strip()):
        return None
    style = line[0] * (2 if over else 1)
    if style not in underlines:
        underlines.append(style)
    return underlines.index(style) + 1, title.strip(), "\n".join(rest).strip("\n")
