"""Read a man page, in the macros of man(7) or mdoc(7): sections and options as headings, lists and tables.

Own code, because what formats man pages (mandoc, groff) is missing from Windows and from small images, and would make
other text of the same file on each machine; for a page of 300 kB it takes no second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from anabranch.errors import ReadingError
from anabranch.readers import READERS
from anabranch.readers.document import PLAIN, Block, Document, Failure, HeadingPath, ReadOptions, titles, with_heading
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.extensionless import mail_extension
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.readers.table_blocks import table_parts
from anabranch_readers.man_sections import LONGEST_TAG, ManItem, ManPart, ManSection, blocks_of
from anabranch_readers.mdoc_inline import CALLED, MdocInline
from anabranch_readers.roff_lines import GLUE, is_man_page, roff_lines, table_rows, tidy

_LONGEST_TAGS = 1_000  # of several that stand together
_DEEPEST = 20


@limited(MOST_PARSED_BYTES)
def read_man_page(path: Path, source: str, options: ReadOptions = PLAIN) -> Iterator[Document | Failure]:
    """Yield the one document of a man page; or those of mail, whose files may be numbered, too.

    Raises:
        ReadingError: `unsupported` when it is neither: files are numbered for other reasons, too; `empty` also for a
            page that is another name of a page.
    """
    data = path.read_bytes()
    if kind := mail_extension(data):
        yield from READERS.get(kind)(path, source, options)
        return
    try:
        text, notes = decode(data, source)
    except ReadingError as error:  # a library, such as libm.so.6
        raise ReadingError(f"{source!r} is not of a kind that can be read.", reason="unsupported") from error
    text, notes = clean_text(text, notes)
    if not is_man_page(text):
        raise ReadingError(f"{source!r} is not of a kind that can be read.", reason="unsupported")
    page = _ManPage()
    page.take(text)
    if page.alias and not any(section.parts for section in page.sections):
        raise ReadingError(f"{source!r} is another name of {page.alias!r}.", reason="unsupported")
    facts = {"format": "man", "section": page.number}
    yield one_document(source, path, page.blocks(), facts, page.title, notes)


class _ManPage:
    """A page as it is read: its sections, and in each what stands there, items within items.

    Attributes:
        sections: The first one is what stands above all headings.
        name: The page's name.
        number: The section of the manual that it is in.
        alias: The page that its source names in its place.
    """

    def __init__(self) -> None:
        self.sections = [ManSection(1, "")]
        self.name = self.number = self.alias = ""
        self._depth = 0
        self._open: list[ManItem] = []
        self._words: list[str] = []
        self._kept: list[str] | None = None
        self._has_tag_next = False
        self._tag_before = ""
        self._address = ""
        self._lists: list[tuple[str, int]] = []
        self._inline = MdocInline()

    @property
    def title(self) -> str:
        """The name with the number, as pages cite each other."""
        name = self.name.lower() if self.name.isupper() else self.name
        return f"{name}({self.number})" if name and self.number else name

    def take(self, text: str) -> None:
        """Read a source."""
        for request, arguments in roff_lines(text):
            if not request:
                self._add(*arguments)
            elif request in CALLED:
                if request == "Nm" and self.sections[-1].title == "SYNOPSIS":  # there it begins a line, in any language
                    self._break()
                self._add(self._inline.write([request, *arguments]))
            elif handle := _REQUESTS.get(request):
                handle(self, arguments)
        self._end_paragraph()

    def blocks(self) -> Iterator[Block]:
        """Yield what was read."""
        path: HeadingPath = ()
        for section, following in zip(self.sections, (*self.sections[1:], None), strict=True):
            if section.title and (section.parts or (following and following.level > section.level)):
                path = with_heading(path, section.level, section.title)
                yield Block(section.title, None, titles(path), is_heading=True)
            yield from blocks_of(section.parts, path)

    # What the macros do, of man(7) first.

    def _add(self, text: str) -> None:
        if self._has_tag_next and text.strip():
            self._has_tag_next = False
            self._open_item(self._tag_before + tidy(text))
            self._tag_before = ""
        elif self._kept is not None:
            self._kept.append(text.replace(GLUE, ""))
        elif text.strip():
            # An indented line begins anew.
            self._words.append(f"\n{text}" if text.startswith((" ", "\t")) else text)
        else:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        self._has_tag_next = False
        if self._kept is not None:
            text = "\n".join(self._kept).strip("\n").rstrip()
            self._kept = []
            self._put("kept", text)
        lines = _tidy_lines(" ".join(self._words))
        self._words = []
        self._put("text", lines)

    def _put(self, kind: Literal["text", "kept", "table"], text: str) -> None:
        if text.strip():
            self._here.append((kind, text))

    @property
    def _here(self) -> list[ManPart]:
        return self._open[-1].parts if self._open else self.sections[-1].parts

    def _open_item(self, tag: str) -> None:
        self._close_items(self._depth)
        item = ManItem(tag, self._depth)
        self._here.append(item)
        if len(self._open) < _DEEPEST:
            self._open.append(item)

    def _close_items(self, depth: int) -> None:
        while self._open and self._open[-1].depth >= depth:
            self._open.pop()

    def _head(self, level: int, title: str) -> None:
        self._end_paragraph()
        self._kept, self._depth, self._lists = None, 0, []
        self._open.clear()
        self.sections.append(ManSection(level, tidy(title)))

    def _section(self, arguments: Sequence[str]) -> None:
        self._head(1, " ".join(arguments))

    def _subsection(self, arguments: Sequence[str]) -> None:
        self._head(2, " ".join(arguments))

    def _break(self, _: Sequence[str] = ()) -> None:
        if self._kept is None:
            self._words.append("\n")

    def _space(self, _: Sequence[str] = ()) -> None:
        if self._kept is None:
            self._end_paragraph()
        else:
            self._kept.append("")

    def _paragraph(self, _: Sequence[str] = ()) -> None:
        self._end_paragraph()
        self._close_items(self._depth)

    def _tagged(self, _: Sequence[str] = ()) -> None:
        self._end_paragraph()
        self._has_tag_next = True

    def _another_tag(self, _: Sequence[str] = ()) -> None:
        is_short = bool(self._open) and len(self._open[-1].tag) <= _LONGEST_TAGS
        if is_short and not self._open[-1].parts and not self._words:
            self._tag_before = f"{self._open.pop().tag}, "
            self._here.pop()
        self._tagged()

    def _indented(self, arguments: Sequence[str]) -> None:
        self._end_paragraph()
        if arguments and arguments[0].strip():
            self._open_item(tidy(arguments[0]))

    def _deeper(self, _: Sequence[str] = ()) -> None:
        self._end_paragraph()
        last = self._here[-1] if self._here else None
        self._depth += 1
        # Programs that make man pages set a tag as a paragraph, and what it stands for indented below.
        if isinstance(last, tuple) and last[0] == "text" and _may_be_tag(last[1]):
            self._here.pop()
            self._open_item(last[1].replace("\n", ", "))
            if self._open:
                self._open[-1].depth = self._depth

    def _higher(self, _: Sequence[str] = ()) -> None:
        self._end_paragraph()
        self._close_items(self._depth)
        self._depth = max(0, self._depth - 1)

    def _keep_lines(self, _: Sequence[str] = ()) -> None:
        self._end_paragraph()
        self._kept = []

    def _fill_lines(self, _: Sequence[str] = ()) -> None:
        self._end_paragraph()
        self._kept = None

    def _spaced(self, arguments: Sequence[str]) -> None:
        self._add(" ".join(arguments))

    def _alternating(self, arguments: Sequence[str]) -> None:
        self._add("".join(arguments))

    def _synopsis(self, arguments: Sequence[str]) -> None:
        self._break()
        self._spaced(arguments)

    def _option(self, arguments: Sequence[str]) -> None:
        self._add(f"[{' '.join(arguments)}]")

    def _address_begins(self, arguments: Sequence[str]) -> None:
        self._address = arguments[0] if arguments else ""

    def _address_ends(self, arguments: Sequence[str]) -> None:
        self._add(f"<{self._address}>{GLUE}{''.join(arguments)}")

    def _named_address(self, arguments: Sequence[str]) -> None:
        address, text, after = (*arguments, "", "", "")[:3]
        self._add(f"{text} <{address}>{GLUE}{after}")

    def _table(self, lines: Sequence[str]) -> None:
        self._end_paragraph()
        for text in table_parts(list(table_rows(lines))):
            self._put("table", text)

    def _named(self, arguments: Sequence[str]) -> None:
        self.name, self.number = (*arguments, "", "")[:2]

    def _another_page(self, arguments: Sequence[str]) -> None:
        self.alias = " ".join(arguments)

    # Of mdoc(7).

    def _list(self, arguments: Sequence[str]) -> None:
        self._end_paragraph()
        self._depth += 1
        kind = next((each for each in arguments if each.startswith("-")), "-item")
        self._lists.append((kind, 0))

    def _list_ends(self, _: Sequence[str] = ()) -> None:
        if self._lists:
            self._lists.pop()
            self._higher()

    def _list_item(self, arguments: Sequence[str]) -> None:
        self._end_paragraph()
        kind, number = self._lists[-1] if self._lists else ("-item", 0)
        if self._lists:
            self._lists[-1] = (kind, number + 1)
        said = self._inline.write(list(arguments))
        if kind in {"-bullet", "-dash", "-hyphen"}:
            self._open_item("-")
        elif kind == "-enum":
            self._open_item(f"{number + 1}.")
        elif kind in {"-tag", "-hang", "-ohang", "-inset", "-diag"}:
            self._open_item(tidy(said))
        else:
            self._close_items(self._depth)
            self._add(said)

    def _display(self, arguments: Sequence[str]) -> None:
        if {"-literal", "-unfilled"} & set(arguments):
            self._keep_lines()
        else:
            self._end_paragraph()

    def _display_line(self, arguments: Sequence[str]) -> None:
        self._keep_lines()
        self._add(self._inline.write(list(arguments)))
        self._fill_lines()

    def _described(self, arguments: Sequence[str]) -> None:
        self._add("- " + self._inline.write(list(arguments)))


_REQUESTS: dict[str, Callable[[_ManPage, Sequence[str]], None]] = {
    name: handle
    for names, handle in (
        ("SH", _ManPage._section),
        ("SS", _ManPage._subsection),
        ("Sh", lambda page, words: page._section([page._inline.write(list(words))])),
        ("Ss", lambda page, words: page._subsection([page._inline.write(list(words))])),
        ("TH Dt", _ManPage._named),
        ("so", _ManPage._another_page),
        ("PP P LP HP", _ManPage._paragraph),
        ("sp Sp Pp", _ManPage._space),
        ("br", _ManPage._break),
        ("TP", _ManPage._tagged),
        ("TQ", _ManPage._another_tag),
        ("IP", _ManPage._indented),
        ("RS", _ManPage._deeper),
        ("RE", _ManPage._higher),
        ("nf EX Vb", _ManPage._keep_lines),
        ("fi EE Ve", _ManPage._fill_lines),
        ("B I R SM SB CW", _ManPage._spaced),
        ("BR RB BI IB IR RI", _ManPage._alternating),
        ("SY", _ManPage._synopsis),
        ("OP", _ManPage._option),
        ("UR MT", _ManPage._address_begins),
        ("UE ME", _ManPage._address_ends),
        ("URL MTO", _ManPage._named_address),
        ("TS", _ManPage._table),
        ("Bl", _ManPage._list),
        ("El", _ManPage._list_ends),
        ("It", _ManPage._list_item),
        ("Bd", _ManPage._display),
        ("Ed", _ManPage._fill_lines),
        ("D1 Dl", _ManPage._display_line),
        ("Nd", _ManPage._described),
    )
    for name in names.split()
}
"""What is not here is layout, and prints nothing."""


def _may_be_tag(text: str) -> bool:
    return len(text) <= LONGEST_TAG and not text.endswith((".", ":", ";", ",", "?", "!"))


def _tidy_lines(text: str) -> str:
    return "\n".join(line for line in map(tidy, text.split("\n")) if line)
