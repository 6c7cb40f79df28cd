"""Read Markdown (CommonMark with tables): headings, code, lists and tables stay what they are, markup goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from anabranch.corpus.document import Block, Document
from anabranch.corpus.reading.cleaning import clean, clean_counted, squeeze
from anabranch.corpus.reading.encoding import decode
from anabranch.corpus.reading.headed import Open, titles, under
from anabranch.corpus.reading.html import visible_text
from anabranch.errors import ReadingError

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_EDGES = {
    "tr_open": "|",
    "td_open": " ",
    "th_open": " ",
    "td_close": " |",
    "th_close": " |",
    "tr_close": "\n",
    "paragraph_close": "\n",
    "heading_close": "\n",
}

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def read_markdown(path: Path, source: str) -> Iterator[Document]:
    """Yield the one document of a Markdown file; title: front matter, else the first H1, else the file's name.

    Raises:
        ReadingError: `empty`, `broken` (binary data) or `encoding`.
    """
    text, notes = decode(path.read_bytes(), source)
    text, hidden = clean_counted(text)
    if hidden:
        notes = (*notes, f"invisible characters were removed ({hidden})")
    front, body = _front_matter(text)
    tokens = _PARSER.parse(body)
    blocks = tuple(_blocks(tokens))
    if not blocks:
        raise ReadingError(f"{source!r} holds no text.", reason="empty")
    title = front or next((block.text for block in blocks if block.is_heading and len(block.heading) == 1), path.stem)
    yield Document(source, title, blocks, {"format": "markdown"}, key=source, notes=notes)


def _front_matter(text: str) -> tuple[str, str]:
    """Return the title that front matter declares (or nothing) and the text after it."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return "", text
    declared = _FRONT_TITLE.search(found.group(1) or "")
    return squeeze(declared.group(1)).strip("\"'") if declared else "", text[found.end() :]


def _blocks(tokens: Sequence[Token]) -> Iterator[Block]:
    path: Open = ()
    for group in _top_level(tokens):
        text = _render(group).strip("\n")
        if not text.strip():
            continue
        heads = group[0].type == "heading_open"
        if heads:
            path = under(path, int(group[0].tag[1]), text)
        yield Block(text, None, titles(path), heads)


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    depth = 0
    for token in tokens:
        group.append(token)
        depth += token.nesting
        if depth == 0:
            yield group
            group = []


def _render(tokens: Sequence[Token]) -> str:
    """Return the text of one top-level block, with the marks that carry meaning: bullets, numbers, cell borders."""
    parts: list[str] = []
    lists: list[int | None] = []
    for token in tokens:
        if token.type == "bullet_list_open":
            lists.append(None)
        elif token.type == "ordered_list_open":
            lists.append(int(token.attrs.get("start", 1)))
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            lists.pop()
        elif token.type == "list_item_open":
            parts.append(_marker(lists))
            lists[-1] = None if lists[-1] is None else lists[-1] + 1
        else:
            parts.append(_part(token))
    return re.sub(r"\n{2,}", "\n", "".join(parts)) if tokens[0].nesting else "".join(parts)


def _marker(lists: Sequence[int | None]) -> str:
    return "  " * (len(lists) - 1) + ("- " if lists[-1] is None else f"{lists[-1]}. ")


def _part(token: Token) -> str:
    if token.type == "inline":
        return _inline(token.children or [])
    if token.type in {"fence", "code_block"}:
        return token.content.rstrip("\n") + "\n"
    if token.type == "html_block":
        return visible_text(token.content) + "\n"
    return _EDGES.get(token.type, "")


def _inline(tokens: Sequence[Token]) -> str:
    return clean("".join(_inline_part(token) for token in tokens))


def _inline_part(token: Token) -> str:
    if token.type == "image":
        return _inline(token.children or [])
    if token.type in {"text", "code_inline"}:
        return token.content
    return {"softbreak": " ", "hardbreak": "\n"}.get(token.type, "")
