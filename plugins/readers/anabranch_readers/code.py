"""Read source code and configuration: kept as it stands, in one block for each definition, under its name.

Where functions, types and sections begin is known exactly for Python; else it is told by the look of a line.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from anabranch.readers.document import PLAIN, Block, Document, HeadingPath, ReadOptions, titles, with_heading
from anabranch.readers.document_parts import in_parts
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.size_limit import limited
from anabranch_readers.code_languages import LANGUAGES, LANGUAGES_BY_NAME


@limited(1 << 25, "Turn it into CSV or JSON lines, or split it.")  # so much of it is data, and not code
def read_code(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of a source file, or its parts where it is long; its title is its path.

    Indents and tabs stay. Invisible and bidirectional control characters go, which can make code read otherwise than
    it runs, and are counted.

    Raises:
        ReadingError: `empty`, `broken` (binary data), `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    language = LANGUAGES.get(path.suffix.lower()) or LANGUAGES_BY_NAME.get(path.name.lower(), "bash")
    metadata = {"format": "code", "language": language}
    whole = Document(source, source, (), metadata, key=source, notes=notes)
    yield from in_parts(_blocks(text.split("\n"), language), whole, tuple)


def _blocks(lines: Sequence[str], language: str) -> Iterator[Block]:
    # Of two on one line the later one counts: between them there is no text.
    marks = {definition.line: definition for definition in definitions(lines, language)}
    path: HeadingPath = ()
    for first, last in pairwise(sorted({0, *marks, len(lines)})):
        mark = marks.get(first)
        if mark is not None:
            path = with_heading(path, mark.depth, mark.name)[: None if mark.name else -1]
        text = "\n".join(lines[first:last]).strip("\n")
        if text.strip():
            yield Block(text, None, titles(path), is_preformatted=True)


_MODIFIERS = (
    "abstract|async|case|class|const|constexpr|data|declare|default|export|extern|final|inline|internal|local|open|"
    "override|partial|private|protected|pub|public|sealed|static|suspend|unsafe|virtual"
)
_KEYWORDS = (
    "class|contract|def|defmodule|defp|enum|extension|fn|fun|func|function|impl|interface|message|module|namespace|"
    "object|proc|procedure|protocol|record|rpc|service|struct|sub|trait|type|union"
)
_DECLARED = re.compile(
    rf"\s*(?:(?:{_MODIFIERS})(?:\([\w:]+\))?\s+)*(?:{_KEYWORDS})\b(?:\s*<[^<>]*>)?\s+(?:\([^()]*\)\s*)?"
    r"(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*)"
)
# A function as C and its heirs write it: words for its type, its name, a bracket, and no semicolon at the end.
_CALLABLE = re.compile(
    r"\s*(?!(?:await|case|catch|delete|else|for|goto|if|new|return|switch|throw|using|while|yield)\b)"
    r"(?:[\w:<>\[\],*&?.]+\s+)+[*&]*(?P<name>~?[A-Za-z_][\w:~]*)\s*\((?:[^;=]*[^;=\s])?\s*$"
)
_ASSIGNED = re.compile(
    r"\s*(?:export\s+)?(?:const\s+|let\s+|var\s+)?(?P<name>[A-Za-z_$.][\w$.]*)\s*(?:=|<-)\s*"
    r"(?:async\s*)?(?:function\b|\([^()]*\)[^=;]*=>|[\w$]+\s*=>)"
)
_CREATED = re.compile(
    r"\s*create\s+(?:or\s+replace\s+)?(?:\w+\s+)?(?:table|view|function|procedure|trigger|type|index)\s+"
    r"(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`\[\]]+)",
    re.IGNORECASE,
)
_SECTION = re.compile(r"\[{1,2}(?P<name>[^\[\]]+)\]{1,2}\s*(?:[#;].*)?$")
_LATEX = re.compile(
    r"\s*\\(?P<level>part|chapter|section|subsection|subsubsection)\*?(?:\[[^\]]*\])?\{(?P<name>[^{}]+)"
)
_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection")

_METHOD = re.compile(
    r"\s*(?:(?:async|get|set|static)\s+)*(?!(?:catch|for|function|if|switch|while|with)\b)(?P<name>[\w$#-]+)\s*"
    r"\([^()]*\)\s*\{\s*$"
)
_FAMILIES: dict[tuple[re.Pattern[str], ...], str] = {
    (_DECLARED, _CALLABLE): "c c# c++ dart groovy java",
    (_DECLARED, _ASSIGNED, _METHOD): "bash javascript r svelte typescript vue",
    (_CREATED,): "sql",
    (_SECTION,): "ini toml",
    (_LATEX,): "latex",
    (): "css json xml yaml",
}
_PATTERNS = {language: patterns for patterns, languages in _FAMILIES.items() for language in languages.split()}
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|%|@)")
_LONGEST_LINE = 200  # a longer one is generated, and regular expressions are slow on it
_LONGEST_NAME = 80
_MOST_PARSED = 1 << 21  # a syntax tree takes many times the memory of its text


@dataclass(frozen=True, slots=True)
class Definition:
    """Where something named begins.

    Attributes:
        line: Its first line, from 0; comments and decorators above it belong to it.
        depth: How far inside others it stands; 0 for those of the whole file.
        name: What it is called; empty where what stood at this depth has ended.
    """

    line: int
    depth: int
    name: str


def definitions(lines: Sequence[str], language: str) -> list[Definition]:
    """Return what a file defines, in order; of two on one line the later one counts.

    What the look of a line tells can be wrong; it only names a passage.
    """
    exact = _python(lines) if language == "python" else None
    return exact if exact is not None else list(_guess_definitions(lines, language))


def _python(lines: Sequence[str]) -> list[Definition] | None:
    text = "\n".join(lines)
    if len(text) > _MOST_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler thinks of the file is not the reader's business
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # Python 2, a template, a bomb
        return None
    return list(_definitions_in(module, lines, 0))


def _definitions_in(parent: ast.AST, lines: Sequence[str], depth: int) -> Iterator[Definition]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = min((node.lineno, *(decorator.lineno for decorator in node.decorator_list))) - 1
            yield Definition(_with_comments(lines, first), depth, node.name)
            if isinstance(node, ast.ClassDef):
                yield from _definitions_in(node, lines, depth + 1)
            yield Definition(node.end_lineno or len(lines), depth, "")


def _guess_definitions(lines: Sequence[str], language: str) -> Iterator[Definition]:
    patterns = _PATTERNS.get(language, (_DECLARED,))
    open_at: list[int] = []
    for number, line in enumerate(lines):
        if len(line) > _LONGEST_LINE or not line.strip() or _COMMENT.match(line):
            continue
        found = next(filter(None, (pattern.match(line) for pattern in patterns)), None)
        if found is not None:
            # The indent tells how deep it stands: brackets would have to be parsed, in forty languages.
            indent = _indent(line, found)
            open_at = [*(each for each in open_at if each < indent), indent]
            name = found["name"].strip(" \"`'")[:_LONGEST_NAME]
            yield Definition(_with_comments(lines, number), len(open_at) - 1, name)


def _indent(line: str, found: re.Match[str]) -> int:
    if "level" in found.re.groupindex:
        return _LEVELS.index(found["level"])
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _with_comments(lines: Sequence[str], first: int) -> int:
    """Return where the comments and annotations begin that stand right above a line."""
    while first > 0 and _COMMENT.match(lines[first - 1]):
        first -= 1
    return first
