"""What a reader is given and hands on, and what a corpus keeps: documents, their blocks, the chunks cut from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from anabranch.text.normalization import squeeze
from anabranch.types import Chunk as Chunk  # noqa: PLC0414  # whoever reads and cuts documents finds it here

# Depth in the chunk tree: 0 is the largest chunk (2048 tokens), 2 the leaf (128).
Level = Literal[0, 1, 2]


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text that belongs together: a paragraph, a list, a table, a heading.

    Attributes:
        text: The words, newline-free or not, never empty once stripped.
        page: 1-based page in the source, None where the format has no pages.
        heading: Titles from the outermost section to the innermost, empty above the first heading.
        is_heading: Whether this block is itself the last title of `heading`.
        is_preformatted: Whether its line breaks and indents say something: code, a log, a transcript, verse. It is cut
            between lines, and no sentences are sought in it.
    """

    text: str
    page: int | None = None
    heading: tuple[str, ...] = ()
    is_heading: bool = False
    is_preformatted: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """One source turned into text.

    Attributes:
        source: What a person calls it: the path relative to what was ingested, or `file.jsonl#id` for a JSONL line.
        title: From the document itself, else from its name.
        blocks: In reading order.
        metadata: JSON-serialisable facts about the document, searchable by filters.
        access: Access tags; empty means everybody may read it.
        key: The name evaluation knows it by (`id` of a JSONL line, else the source).
        notes: What a person should know about the reading (pages without text, hidden text dropped).
    """

    source: str
    title: str
    blocks: tuple[Block, ...]
    metadata: dict[str, Any] = field(default_factory=dict)
    access: tuple[str, ...] = ()
    key: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """One part of a file that could not be read, while the rest could; yielded in place of a document.

    Attributes:
        source: Where it is, as a person would say it: `notes.jsonl:12` is line 12.
        reason: One word, from the same set as `ReadingError.reason`.
        message: What is wrong, on one line.
    """

    source: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a person wants files to be read in one run.

    Attributes:
        passwords: Tried in turn on protected files; never written anywhere.
        ocr: Whether pages that are pictures of text go through Tesseract, where it is on this machine.
        ocr_languages: Tesseract's names of the languages on those pages, such as `eng` or `deu`.
    """

    passwords: tuple[str, ...] = field(default=(), repr=False)
    ocr: bool = True
    ocr_languages: tuple[str, ...] = ("eng",)


# No passwords; OCR where it can be had.
PLAIN = ReadOptions()


def access_tags(given: object) -> tuple[str, ...]:
    """Return the access tags that a document itself declares, each once.

    Raises:
        ValueError: It is anything but a list of strings, each with something visible in it. To read that as no tags
            could show the document to everybody.
    """
    if not isinstance(given, list) or not all(isinstance(tag, str) and tag.strip() for tag in given):
        raise ValueError(f"'access' has to be a list of tags, not {given!r}")
    return tuple(dict.fromkeys(tag.strip() for tag in given))


# The headings that a block stands under, outermost first, each with its level (1 is the highest).
HeadingPath = tuple[tuple[int, str], ...]

# What programs leave where a title belongs: their own name, the name of a file, a number.
_NO_TITLE = re.compile(r"untitled.*|microsoft word.*|document\d*|\S+\.\w{2,5}|[\W\d_]*", re.IGNORECASE)


def with_heading(open_headings: HeadingPath, level: int, title: str) -> HeadingPath:
    """Return the path after a heading of `level`: those above it stay, its equals and those below it close."""
    return (*(entry for entry in open_headings if entry[0] < level), (level, title))


def titles(open_headings: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return the titles alone, as `Block.heading` wants them."""
    return tuple(title for _, title in open_headings)


def declared_title(title: str | None) -> str:
    """Return the title a file declares, or nothing when a program left its own mark there (a file name, a number)."""
    text = squeeze(title or "")
    return "" if _NO_TITLE.fullmatch(text) else text
