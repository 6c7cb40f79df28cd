"""Read LaTeX: the prose that it sets, under its sections; not its commands, comments and preamble.

pylatexenc parses it and knows what common macros print; it runs no TeX, and opens no file that a document names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pylatexenc.latex2text import (
    EnvironmentTextSpec,
    LatexNodes2Text,
    MacroTextSpec,
    SpecialsTextSpec,
    get_default_latex_context_db,
)

from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import Sections, one_document
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.plain_text import paragraphs
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.readers.table_blocks import table_parts
from anabranch.text.normalization import squeeze

_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_TABLES = ("tabular", "tabular*", "tabularx", "longtable")
_SILENT = (
    "label", "maketitle", "includegraphics", "hline", "toprule", "midrule", "bottomrule", "cline", "cmidrule",
    "centering", "bibliography", "bibliographystyle", "newpage", "clearpage", "tableofcontents", "noindent",
    "usepackage", "vspace",
)  # fmt: skip
_CITES = ("cite", "citep", "citet", "citeauthor", "citeyear", "parencite", "textcite", "autocite", "footcite")
_REFERENCES = ("ref", "eqref", "pageref", "autoref", "cref", "Cref", "nameref")
# Nothing in them is a command.
_VERBATIM = re.compile(r"\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|comment)\}(.*?)\\end\{\1\}", re.DOTALL)
_OPTIONS = re.compile(r"\A\s*(?:\[[^\]\n]*\])?(?:\{\w+\}(?=\s*\n))?[ \t]*\n?")
# pylatexenc does not know that a link has two arguments; the second one is printed.
_LINK = re.compile(r"\\href\s*\{[^{}]*\}")
_BODY = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_DECLARED = r"\\%s\s*(?:\[[^\]]*\])?\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
# Marks for what comes back in another shape; `clean_text` leaves no such characters in a file.
_HEADING, _TABLE, _CODE, _CELL, _ROW = "\x02", "\x03", "\x04", "\x05", "\x06"
_MARK = re.compile(f"([{_HEADING}{_TABLE}{_CODE}])(\\d+)(?:{_HEADING}(.*))?\\Z", re.DOTALL)


@limited(MOST_PARSED_BYTES)
def read_latex(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a .tex file; title: the declared one, else the first section, else the file's name.

    Raises:
        ReadingError: `empty`, `broken` (binary data, braces that nest without end) or `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    body = _BODY.search(text)
    words = _LatexWords()
    facts = {"format": "latex", "author": words.declared(text, "author")}
    blocks = words.blocks(body[1] if body else text)
    yield one_document(source, path, blocks, facts, words.declared(text, "title"), notes)


class _LatexWords:
    """Turns nodes into text, keeping apart what is no prose."""

    def __init__(self) -> None:
        self._tables: list[list[list[str]]] = []
        self._code: list[str] = []
        known = get_default_latex_context_db()
        known.add_context_category("anabranch", macros=[*self._macros()], environments=[*self._environments()],
                                   specials=[SpecialsTextSpec("&", _CELL)], prepend=True)  # fmt: skip
        self._words = LatexNodes2Text(latex_context=known, math_mode="text")

    def declared(self, text: str, name: str) -> str:
        """Return what a macro of the preamble declares, without markup."""
        found = re.search(_DECLARED % name, text)
        return squeeze(self._words.latex_to_text(_LINK.sub("", found[1]))) if found else ""

    def blocks(self, text: str) -> Iterator[Block]:
        sections = Sections()
        for part in paragraphs(self._words.latex_to_text(_LINK.sub("", _VERBATIM.sub(self._hold, text)))):
            mark = _MARK.match(part.strip())
            if mark is None:
                words = "\n".join(filter(None, map(squeeze, _joined(part).replace(_CELL, " ").split(_ROW))))
                yield from [sections.text(words)] if words else []
            elif mark[1] == _HEADING:
                yield sections.title(int(mark[2]) + 1, mark[3] or "")
            elif mark[1] == _CODE:
                yield sections.text(self._code[int(mark[2])])
            else:
                yield from map(sections.text, table_parts(self._tables[int(mark[2])]))

    def _hold(self, found: re.Match[str]) -> str:
        if found[1] == "comment":
            return ""
        code = _OPTIONS.sub("", found[2]).rstrip()
        self._code.append(code)
        return f"\n\n{_CODE}{len(self._code) - 1}\n\n" if code.strip() else ""

    def _macros(self) -> Iterator[MacroTextSpec]:
        for level, name in enumerate(_LEVELS):
            yield MacroTextSpec(name, self._heading(level))
        yield from (MacroTextSpec(name, "") for name in _SILENT)
        yield from (MacroTextSpec(name, self._cite) for name in _CITES)
        yield from (MacroTextSpec(name, self._last) for name in _REFERENCES)
        yield MacroTextSpec("multicolumn", self._last)
        yield MacroTextSpec("caption", lambda node, l2tobj: f"\n\n{self._last(node, l2tobj)}\n\n")
        yield MacroTextSpec("\\", _ROW)
        yield MacroTextSpec("item", "\x06- ")

    def _environments(self) -> Iterator[EnvironmentTextSpec]:
        yield from (EnvironmentTextSpec(name, self._table) for name in _TABLES)
        # Their default is to keep each line break of the source.
        yield from (
            EnvironmentTextSpec(name, lambda node, l2tobj: f"\n\n{l2tobj.nodelist_to_text(node.nodelist)}\n\n")
            for name in ("itemize", "enumerate", "description", "abstract", "quote", "figure", "table", "center")
        )

    def _heading(self, level: int) -> Any:  # noqa: ANN401  # a callback of pylatexenc, which has no types
        return lambda node, l2tobj: f"\n\n{_HEADING}{level}{_HEADING}{squeeze(self._last(node, l2tobj))}\n\n"

    def _last(self, node: Any, l2tobj: Any) -> str:  # noqa: ANN401  # likewise
        """Return the text of the last argument, which is the one that is printed."""
        given = [each for each in (node.nodeargd.argnlist if node.nodeargd else ()) if each is not None]
        return str(l2tobj.nodelist_to_text(given[-1:])) if given else ""

    def _cite(self, node: Any, l2tobj: Any) -> str:  # noqa: ANN401  # likewise
        return f"[{squeeze(self._last(node, l2tobj))}]"

    def _table(self, node: Any, l2tobj: Any) -> str:  # noqa: ANN401  # likewise
        rows = str(l2tobj.nodelist_to_text(node.nodelist)).split(_ROW)
        cells = [[squeeze(cell) for cell in row.split(_CELL)] for row in rows if row.strip()]
        self._tables.append(cells)
        return f"\n\n{_TABLE}{len(self._tables) - 1}\n\n" if cells else ""


def _joined(part: str) -> str:
    return " ".join(part.split("\n"))
