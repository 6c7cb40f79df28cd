"""Read reStructuredText: headings, lists, tables and code as docutils parses them; directives are not text.

Of Sphinx's own directives and roles docutils knows nothing and hands back their source; what they would show is taken
from that. Nothing is included, fetched or run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree

from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import Sections, one_document
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.readers.table_blocks import nameless_parts, table_parts
from anabranch.text.normalization import squeeze

_SETTINGS = {
    "report_level": 5,
    "halt_level": 6,  # none: what is wrong in a file must not cost the rest
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "syntax_highlight": "none",
    "doctitle_xform": False,
    "docinfo_xform": False,
}
_UNSEEN = (
    nodes.comment,
    nodes.target,
    nodes.substitution_definition,
    nodes.pending,
    nodes.image,
    nodes.raw,
    nodes.meta,
)
_VERBATIM = (nodes.literal_block, nodes.doctest_block, nodes.math_block)
_LISTS = (nodes.bullet_list, nodes.enumerated_list)
_DIRECTIVE = re.compile(r"\.\. +(?P<name>[\w:+.-]+)::[ \t]*(?P<argument>[^\n]*)")
_OPTIONS = re.compile(r"(?:[ \t]*:[\w-]+:[^\n]*\n)*")
_ROLE = re.compile(r":[\w:+.-]{1,100}:`[~!]?([^`<]*[^`<\s])(?:\s*<[^>`]*>)?`")
_CODE = frozenset({"code-block", "sourcecode", "parsed-literal", "testcode", "testoutput", "prompt", "ipython"})
# What they show is in another file, or nothing.
_POINTERS = frozenset({"toctree", "index", "currentmodule", "module", "literalinclude", "include", "highlight", "raw"})
# As Sphinx prints them.
_SAID = {
    "versionadded": "New in version ",
    "versionchanged": "Changed in version ",
    "deprecated": "Deprecated since version ",
}
_DEEPEST = 8  # directives of Sphinx in each other


@limited(MOST_PARSED_BYTES)
def read_rst(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a file; title: the first heading, else the file's name.

    Raises:
        ReadingError: `empty`, `broken` (binary data) or `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    yield one_document(source, path, _Tree().blocks(text), {"format": "rst"}, notes=notes)


class _Tree:
    def __init__(self, depth: int = 0) -> None:
        self._sections = Sections()
        self._depth = depth

    def blocks(self, text: str) -> Iterator[Block]:
        yield from self._walk(publish_doctree(text, settings_overrides=_SETTINGS), 0)

    def _walk(self, parent: nodes.Element, level: int) -> Iterator[Block]:
        for node in parent.children:
            yield from self._node(node, level)

    def _node(self, node: nodes.Node, level: int) -> Iterator[Block]:
        if isinstance(node, _UNSEEN) or not isinstance(node, nodes.Element):
            return
        if isinstance(node, nodes.section):
            yield from self._walk(node, level + 1)
        elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
            yield self._sections.title(level, inline(node))
        elif isinstance(node, nodes.system_message):
            yield from self._unknown(node)
        elif isinstance(node, nodes.table):
            yield from self._table(node)
        elif isinstance(node, nodes.Admonition) and not isinstance(node, nodes.admonition):
            yield from self._text(f"{str(node.tagname).capitalize()}: {_lines_of(node)}")
        elif isinstance(node, (*_VERBATIM, *_LISTS, nodes.definition_list, nodes.field_list, nodes.footnote)):
            yield from self._text(_lines_of(node))
        elif isinstance(node, nodes.TextElement):
            yield from self._text(inline(node))
        else:
            yield from self._walk(node, level)

    def _text(self, text: str) -> Iterator[Block]:
        if text.strip():
            yield self._sections.text(text.strip("\n").rstrip())

    def _table(self, table: nodes.Element) -> Iterator[Block]:
        yield from (
            self._sections.text(squeeze(inline(title))) for title in table.children if isinstance(title, nodes.title)
        )
        rows = [
            [squeeze(_lines_of(entry)) for entry in row.children if isinstance(entry, nodes.Element)]
            for row in table.findall(nodes.row)
        ]
        parts = table_parts if any(True for _ in table.findall(nodes.thead)) else nameless_parts
        yield from (self._sections.text(part) for part in parts(rows))

    def _unknown(self, message: nodes.Element) -> Iterator[Block]:
        """Yield what a directive would show that docutils does not know, or a part that it could not parse."""
        for each in message.findall(nodes.literal_block):
            source = each.astext()
            found = _DIRECTIVE.match(source)
            if found is None:
                yield from self._text(source)
            elif not (found["name"] in _POINTERS or found["name"].startswith("auto")):
                yield from self._directive(found, source[found.end() :].lstrip("\n"))

    def _directive(self, found: re.Match[str], rest: str) -> Iterator[Block]:
        body = textwrap.dedent(rest)
        body = body[_OPTIONS.match(body).end() :].strip("\n")  # type: ignore[union-attr]  # it matches nothing, too
        if found["name"] in _CODE:
            yield from self._text(body)
            return
        yield from self._text(_SAID.get(found["name"], "") + _without_roles(found["argument"].strip()))
        if body and self._depth < _DEEPEST:
            inner = _Tree(self._depth + 1)
            inner._sections.path = self._sections.path
            yield from inner.blocks(body)


def inline(node: nodes.Node) -> str:
    """Return the words of an element without its markup."""
    if isinstance(node, nodes.Text):
        return str(node.astext())
    if isinstance(node, nodes.problematic):
        return _without_roles(node.astext())
    if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
        return f"[{node.astext()}]"
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if isinstance(node, (nodes.system_message, *_UNSEEN)):
        return ""
    return "".join(inline(child) for child in node.children)


def _without_roles(text: str) -> str:
    return _ROLE.sub(r"\1", text).replace("``", "")


def _lines_of(node: nodes.Node, indent: str = "") -> str:
    """Return an element as lines: items with their marks, code with its indent."""
    if isinstance(node, _VERBATIM):
        return textwrap.indent(node.astext(), indent)
    if isinstance(node, _LISTS):
        first = int(node.get("start", 1))
        is_numbered = isinstance(node, nodes.enumerated_list)
        marks = [f"{first + at}." if is_numbered else "-" for at in range(len(node.children))]
        return _items(node, marks, indent)
    if isinstance(node, (nodes.definition_list_item, nodes.field)):
        return indent + _named(node, nodes.definition | nodes.field_body, "{}:")
    if isinstance(node, (nodes.footnote, nodes.citation)):
        return _named(node, nodes.Body, "[{}]")
    if isinstance(node, (nodes.TextElement, nodes.Text)):
        return indent + inline(node)
    return "\n".join(filter(None, (_lines_of(each, indent) for each in node.children)))


def _named(node: nodes.Element, body: Any, form: str) -> str:  # noqa: ANN401  # a class or several
    names = ", ".join(inline(each) for each in node.children if not isinstance(each, body))
    texts = " ".join(_lines_of(each) for each in node.children if isinstance(each, body))
    return f"{form.format(names)} {texts}".rstrip(": ")


def _items(node: nodes.Element, marks: Sequence[str], indent: str) -> str:
    lines = []
    for mark, item in zip(marks, node.children, strict=True):
        text = _lines_of(item, f"{indent}  ")
        lines.append(f"{indent}{mark} {text.lstrip()}")
    return "\n".join(lines)
