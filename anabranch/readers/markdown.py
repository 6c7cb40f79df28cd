"""Read Markdown (CommonMark with tables): headings, code, lists and tables stay what they are, markup goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from anabranch.errors import ReadingError
from anabranch.readers.document import (
    PLAIN,
    Block,
    Document,
    HeadingPath,
    ReadOptions,
    access_tags,
    titles,
    with_heading,
)
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.frontmatter import FrontMatter, front_matter
from anabranch.readers.html import visible_text
from anabranch.readers.size_limit import MOST_TEXT_BYTES, limited
from anabranch.readers.table_blocks import table_parts
from anabranch.text.normalization import clean, squeeze

# Each line for itself: what reaches over lines is tried anew from every one of a thousand empty lines.
_ACCESS = re.compile(r"^[^\w\n]*access\W*:", re.MULTILINE | re.IGNORECASE)
# The modules that an MDX page imports and exports stand in paragraphs of their own (mdxjs.com/docs/what-is-mdx#esm).
_ESM = re.compile(
    r"(?:^|(?<=\n\n))(?:import|export)\s[^\n]*(?:from\s+['\"]|['\"];?$|=|\{)(?:[^\n]|\n(?!\n))*", re.MULTILINE
)
_LINE_BREAK = re.compile(r"<br[\s/>]", re.IGNORECASE)
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

# Raw HTML is passed on as such, so that `visible_text` can tell what of it is seen.
_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@limited(MOST_TEXT_BYTES)
def read_markdown(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a Markdown file; title: front matter, else the first H1, else the file's name.

    All other keys of the front matter are metadata, but `access`, a list of access tags.

    Raises:
        ReadingError: `empty`, `broken` (binary data, or an `access` that is no list of tags) or `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    front = front_matter(_ESM.sub("", text) if path.suffix.lower() == ".mdx" else text)
    written = markdown_blocks(front.body)[0]
    blocks = (Block(front.unread), *written) if front.unread else written
    if not blocks:
        raise ReadingError(f"{source!r} holds no text.", reason="empty")
    facts = {name: value for name, value in front.facts.items() if name.lower() not in {"title", "access"}}
    yield Document(
        source,
        _title(front) or next((block.text for block in blocks if _is_top(block)), path.stem),
        blocks,
        {**facts, "format": "markdown"},
        access=_access(front, source),
        key=source,
        notes=(*notes, *front.notes),
    )


def _title(front: FrontMatter) -> str:
    title = next((value for name, value in front.facts.items() if name.lower() == "title"), None)
    return squeeze(str(title)) if isinstance(title, str | int | float) and not isinstance(title, bool) else ""


def _is_top(block: Block) -> bool:
    return block.is_heading and len(block.heading) == 1


def _access(front: FrontMatter, source: str) -> tuple[str, ...]:
    given = [value for name, value in front.facts.items() if name.lower() == "access"]
    if _ACCESS.search(front.unread):  # whom it was meant for cannot be known, so that nobody may see it
        given = [front.unread]
    try:
        return tuple(dict.fromkeys(tag for each in given for tag in access_tags(each)))
    except ValueError as error:
        msg = f"The front matter of {source!r} is not valid: {error}."
        raise ReadingError(msg, reason="broken", hint="Write it like this: access: [staff, board]") from error


def markdown_blocks(text: str, path: HeadingPath = ()) -> tuple[tuple[Block, ...], HeadingPath]:
    """Return the blocks of a text that stands under the headings of `path`, and the headings open at its end."""
    blocks: list[Block] = []
    for group in _top_level(_PARSER.parse(text)):
        if group[0].type == "table_open":
            blocks += [Block(text, None, titles(path)) for text in table_parts(_rows(group))]
            continue
        written = _render(group).strip("\n")
        if not written.strip():
            continue
        heads = group[0].type == "heading_open"
        if heads:
            path = with_heading(path, int(group[0].tag[1]), written)
        is_code = group[0].type in {"fence", "code_block"}
        blocks.append(Block(written, None, titles(path), heads, is_code))
    return tuple(blocks), path


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    depth = 0
    for token in tokens:
        group.append(token)
        depth += token.nesting
        if depth == 0:
            yield group
            group = []


def _rows(tokens: Sequence[Token]) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_inline(token.children or []))
    return rows


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
    # A block that nothing opens and closes is code, whose empty lines are its own.
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
    if token.type == "html_inline" and _LINE_BREAK.match(token.content):
        return " "
    return {"softbreak": " ", "hardbreak": "\n"}.get(token.type, "")
