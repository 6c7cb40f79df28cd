"""Read HTML: what a visitor sees, in order, with headings, tables and lists; not what scripts and styles say."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from bs4.element import Tag
from bs4.exceptions import ParserRejectedMarkup

from anabranch.errors import ReadingError
from anabranch.readers.bold_headings import mark_bold_headings
from anabranch.readers.css_visibility import CssVisibility
from anabranch.readers.document import (
    PLAIN,
    Block,
    Document,
    HeadingPath,
    ReadOptions,
    declared_title,
    titles,
    with_heading,
)
from anabranch.readers.document_parts import one_document
from anabranch.readers.documentation_site import without_site
from anabranch.readers.landmarks import main_content
from anabranch.readers.merged_cells import TableCell, lay_out, under_spans
from anabranch.readers.plain_text import paragraphs
from anabranch.readers.table_blocks import nameless_parts, table_parts
from anabranch.readers.visible_nodes import BLOCKS, Visible
from anabranch.text.normalization import squeeze

_HEADING = re.compile(r"h[1-6]")
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_MOST_COLUMNS = 100  # a colspan may claim any number
_LONGEST_CELL = 1000  # a cell with more is a column of the page, not of a table
_LONGEST_PRE = 4000  # a longer one is a text saved as a page, with paragraphs of its own
_NOT_IN_DATA = ["table", "ul", "ol", "pre", "h1", "h2", "h3", "h4", "h5", "h6"]


def read_html(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a page; title: `<title>`, else the first marked heading, else the name of the file.

    Raises:
        ReadingError: `empty` when a visitor would see no text, `broken` when it cannot be parsed.
    """
    soup = parse_html(path.read_bytes(), source)
    without_furniture(soup)
    was_marked = mark_bold_headings(soup)
    visible = Visible()
    has_site_around = without_site(soup) or source.startswith(("http://", "https://"))
    blocks = page_blocks(main_content(soup) if has_site_around else soup, visible)[0]
    title = declared_title(soup.title.get_text()) if soup.title else ""
    # The first bold line of a filing is "UNITED STATES": the name of the file says more.
    title = title or (path.stem if was_marked else "")
    yield one_document(source, path, blocks, {"format": "html"}, title, visible.notes())


# What Confluence puts around each page that it exports: where it is, who made it and when, what made the file.
_CONFLUENCE = "#breadcrumb-section, .page-metadata, #footer[role=contentinfo], .footer-body"


def without_furniture(soup: BeautifulSoup) -> None:
    """Take out of an exported page of Confluence what is not of the page; other pages stay as they are."""
    if soup.select_one("#main-content.wiki-content") is not None:
        for each in soup.select(_CONFLUENCE):
            each.decompose()


def visible_text(markup: str) -> str:
    """Return what a visitor would see of a fragment of HTML, one block a line."""
    return "\n".join(block.text for block in page_blocks(parse_html(markup, "a fragment of HTML"), Visible())[0])


def page_blocks(soup: Tag, visible: Visible, path: HeadingPath = ()) -> tuple[tuple[Block, ...], HeadingPath]:
    """Return what a visitor sees of a page, and the headings that are open at its end."""
    # What hides a part of it stands in the head of the whole page.
    whole = next((each for each in soup.parents if isinstance(each, BeautifulSoup)), soup)
    visible.obey(CssVisibility(whole if isinstance(whole, BeautifulSoup) else None))
    page = _Page(visible, path)
    return tuple(page.blocks(soup)), page.path


def parse_html(data: bytes | str, source: str) -> BeautifulSoup:
    """Return the tree of a page.

    Raises:
        ReadingError: `broken` when it cannot be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)  # XHTML with an XML declaration is still a page
        try:
            return BeautifulSoup(data, "lxml")
        except ParserRejectedMarkup as error:
            raise ReadingError(f"{source!r} is not HTML: {error}", reason="broken") from error


class _Page:
    """Collects text into blocks: a new one at each block-level tag, a list in one, a table in one."""

    def __init__(self, visible: Visible, path: HeadingPath) -> None:
        self.path = path
        self._visible = visible
        self._lines: list[tuple[str, list[str]]] = [("", [])]
        self._lists: list[int | None] = []
        self._whole: dict[int, list[str]] = {}

    def blocks(self, soup: Tag) -> Iterator[Block]:
        for kind, item in self._visible.events(soup, self._is_whole):
            if isinstance(item, str):
                # Put together before white space is squeezed: a word may be in several elements.
                self._lines[-1][1].append(item)
            elif id(item) in self._whole:
                yield from self._flush()
                for part in self._whole.pop(id(item)):
                    yield from self._emit(part, is_preformatted=item.name == "pre")
            elif item.name in BLOCKS or item.name in _LISTS:
                yield from self._open(item) if kind == "open" else self._close(item)
        yield from self._flush()

    def _is_whole(self, tag: Tag) -> bool:
        if tag.name == "pre":
            text = self._visible.raw(tag)
            self._whole[id(tag)] = list(paragraphs(text)) if len(text) > _LONGEST_PRE else [text]
        elif tag.name == "table" and not tag.find(_NOT_IN_DATA):
            hidden = self._visible.hidden
            spanned = [row[:_MOST_COLUMNS] for row in self._rows(tag) if any(row)]
            rows = [[cell or "" for cell in row] for row in spanned]
            if "docutils" in (tag.get("class") or []) and not tag.find("th"):
                self._whole[id(tag)] = list(nameless_parts(rows))
            elif is_data(rows) or is_item(rows):
                is_table = is_data(rows)
                self._whole[id(tag)] = (
                    list(table_parts(under_spans(spanned))) if is_table else [" ".join(filter(None, rows[0]))]
                )
            else:
                self._visible.hidden = hidden  # the walk goes in and counts again
        return id(tag) in self._whole

    def _rows(self, table: Tag) -> list[list[str | None]]:
        """Return the cells of a table in their columns; None continues the one before it."""
        rows: list[list[str]] = []
        tags: list[list[Tag]] = []
        for kind, item in self._visible.events(table):
            if isinstance(item, str):
                if rows and rows[-1]:
                    rows[-1][-1] += item
            elif item.name == "tr" and kind == "open":
                rows.append([])
                tags.append([])
            elif item.name in {"td", "th"} and rows:
                if kind == "open":
                    rows[-1].append("")
                    tags[-1].append(item)
            elif item.name in BLOCKS and rows and rows[-1]:
                rows[-1][-1] += " "
        return lay_out(
            [
                TableCell(squeeze(text), _span(tag, "colspan"), _span(tag, "rowspan"))
                for text, tag in zip(row, cells, strict=True)
            ]
            for row, cells in zip(rows, tags, strict=True)
        )

    def _open(self, tag: Tag) -> Iterator[Block]:
        if tag.name in _LISTS:
            if not self._lists:
                yield from self._flush()
            self._lists.append(1 if tag.name == "ol" else None)
        elif tag.name == "li" and self._lists:
            self._lines.append((self._marker(), []))
        elif tag.name == "br" and not self._lists and not "".join(self._lines[-1][1]).strip():
            yield from self._flush()  # an empty line, the old way to part paragraphs
        elif tag.name == "br" or (self._lists and not _HEADING.fullmatch(tag.name)):
            self._break()
        else:
            yield from self._flush()

    def _close(self, tag: Tag) -> Iterator[Block]:
        if tag.name in _LISTS:
            if self._lists:
                self._lists.pop()
            if not self._lists:
                yield from self._flush()
        elif _HEADING.fullmatch(tag.name):
            yield from self._flush(int(tag.name[1]))
        elif self._lists or tag.name == "br":
            self._break()
        else:
            yield from self._flush()

    def _marker(self) -> str:
        indent, number = "  " * (len(self._lists) - 1), self._lists[-1]
        if number is None:
            return f"{indent}- "
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _break(self) -> None:
        if self._lines[-1][1]:
            self._lines.append(("  " * len(self._lists), []))

    def _flush(self, level: int = 0) -> Iterator[Block]:
        written = ((prefix, squeeze("".join(texts))) for prefix, texts in self._lines)
        text = "\n".join(prefix + line for prefix, line in written if line)
        self._lines = [("  " * len(self._lists), [])]
        yield from self._emit(text, level)

    def _emit(self, text: str, level: int = 0, *, is_preformatted: bool = False) -> Iterator[Block]:
        if not text.strip():
            return
        if level:
            text = squeeze(text)
            self.path = with_heading(self.path, level, text)
        yield Block(text if level else text.rstrip(), None, titles(self.path), bool(level), is_preformatted)


def is_data(rows: Sequence[Sequence[str]]) -> bool:
    """Tell a table of data from one that only lays out a page: two rows, two columns, no long prose in a cell."""
    longest = max((len(cell) for row in rows for cell in row), default=0)
    return len(rows) >= 2 and max(sum(map(bool, row)) for row in rows) >= 2 and longest <= _LONGEST_CELL


def is_item(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a table is one list item: a bullet or a number in one cell, its text in the next."""
    cells = [cell for cell in rows[0] if cell] if len(rows) == 1 else []
    return len(cells) == 2 and len(cells[0]) <= 5


def _span(cell: Tag, name: str) -> int:
    span = str(cell.get(name) or "1")
    return max(1, int(span)) if span.isdecimal() and len(span) < 6 else 1
