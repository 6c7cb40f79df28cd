r"""The lines of a roff source: requests with their arguments and text, with conditions decided and escapes undone.

Only what man pages need of groff_char(7) and groff(7): nothing is computed, no macro that a page defines is run, and no
file that it names is read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from anabranch.text.normalization import squeeze

GLUE = "\x00"
"""Between words without a blank."""

_NEW_FORMAT = ".T&"  # the one request that stays among the lines of a table: formats follow

_LONGEST_STRING = 100  # characters; a string may be made of others, again and again
_MOST_NESTED = 20  # conditions in a row, each of which governs the next one
# A name has a bound, or each one that does not end would be looked for as far as the line goes.
_ESCAPE = re.compile(
    r"""\\(?:
    \((?P<two>..) | \[(?P<long>[^]\n]{0,80})\] | C'(?P<named>[^'\n]*)' | N'(?P<code>\d{1,7})'
    | \*(?:\((?P<string2>..) | \[(?P<string>[^]\n]{0,80})\] | (?P<string1>.))
    | [fFgkmMnVY](?:[+-]?\(.. | [+-]?\[[^]\n]{0,80}\] | [+-]?.)
    | s(?:[+-]?\(.. | \[[^]\n]{0,80}\] | '[^'\n]*' | [+-]?(?:[1-3]\d | \d))
    | o'(?P<first>.)[^'\n]*' | [AbBDhHlLRSvwxXZ]'[^'\n]*'
    | (?P<one>.) | $)""",
    re.VERBOSE,
)
_COMMENT = re.compile(r'(?<!\\)((?:\\\\)*)\\["#].*')
_CONTROL = re.compile(r"[.'][ \t]*(\\[{}]|[^ \t\\]*)[ \t]*(.*)", re.DOTALL)
_CONDITION = re.compile(
    r"(!?)[ \t]*(\\n\(..|\\n\[[^]]*\]|'[^']*'[^']*'|\"[^\"]*\"[^\"]*\"|\([^)]*\)|\S+)[ \t]*(.*)", re.DOTALL
)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\[ ]|[^ \t])+)')
_IS_MAN = re.compile(r"^[.'][ \t]*(?:TH|SH|Dd|Dt|Sh|so)(?:[ \t]|$)", re.MULTILINE)

# Names of single characters (groff_char(7)) that are not those of Unicode.
_SPECIAL: dict[str, str] = {
    pair.split(" ")[0]: pair.split(" ")[1]
    for pair in """
    em —|en –|hy ‐|- -|mi −|bu •|sq □|lq “|rq ”|Lq “|Rq ”|Bq „|bq ‚|oq ‘|cq ’|aq '|dq "|ga `|aa ´|ha ^|ti ~
    rs \\|sl /|ul _|ru _|br ¦|ba ¦|bv ¦|or ¦|bb ¦|sh #|Do $|at @|lB [|rB ]|lC {|rC }|la ⟨|ra ⟩|Fo «|Fc »|fo ‹
    fc ›|co ©|rg ®|tm ™|de °|sc §|ps ¶|dg †|dd ‡|mu ×|di ÷|+- ±|pl +|eq =|== ≡|!= ≠|<= ≤|>= ≥|~~ ≈|~= ≃|ap ∼
    -> →|<- ←|<> ↔|ua ↑|da ↓|rA ⇒|lA ⇐|hA ⇔|if ∞|no ¬|12 ½|14 ¼|34 ¾|S1 ¹|S2 ²|S3 ³|Eu €|eu €|Po £|Ye ¥|ct ¢
    OK ✓|fm ′|sd ″|ss ß|ae æ|AE Æ|oe œ|OE Œ|/o ø|/O Ø|oa å|oA Å|-d ð|-D Ð|Tp þ|TP Þ|.i ı|/l ł|/L Ł|r! ¡|r? ¿
    ff ff|fi fi|fl fl|Fi ffi|Fl ffl|*a α|*b β|*g γ|*d δ|*e ε|*l λ|*m μ|*p π|*s σ|*w ω|*W Ω|*D Δ|*S Σ|sr √
    is ∫|su ∑|mo ∈|** ∗""".strip()
    .replace("\n    ", "|")
    .split("|")
} | dict.fromkeys(("br", "ba", "bv", "or"), "|")
_ACCENTS = dict(zip("'`^:~,vo-", "\u0301\u0300\u0302\u0308\u0303\u0327\u030c\u030a\u0304", strict=True))
_SINGLE = {"e": "\\", "E": "\\", "\\": "\\", "~": "\u00a0", "0": " ", " ": " ", "t": "\t"} | dict.fromkeys(
    "&|^/,:%){}dupcarz!?", ""
)
_STRINGS = {"lq": "“", "rq": "”", "Lq": "“", "Rq": "”", "Tm": "™", "R": "®", "Aq": "'", "C'": '"', "C`": '"'}


class RoffLine(NamedTuple):
    """A line of a source.

    Attributes:
        request: The name of a request or a macro; empty for text.
        arguments: Its arguments, or the one text, escapes undone; of a table (`TS`) its lines.
    """

    request: str
    arguments: tuple[str, ...]


def is_man_page(text: str) -> bool:
    """Tell whether a text has the requests that every man page begins with."""
    return _IS_MAN.search(text) is not None


def roff_lines(text: str) -> Iterator[RoffLine]:
    """Yield what a page says, line by line."""
    yield from _Roff(text).lines()


def tidy(text: str) -> str:
    """Return words as a line, without what glues them."""
    return squeeze("".join(part.strip() for part in text.split(GLUE)))


def table_rows(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table as tbl(1) has it: options, formats up to a line that ends with a point, data."""
    separator, at = "\t", 0
    if lines and lines[0].rstrip().endswith(";"):
        given = re.search(r"tab *\((.)\)", lines[0])
        separator, at = given[1] if given else "\t", 1
    is_format, has_cell = True, False
    held: list[str] = []
    for line in lines[at:]:
        if is_format or line.rstrip() == _NEW_FORMAT:
            is_format = not line.rstrip().endswith(".")
            continue
        has_cell = "T{" in line if not held else has_cell
        held.append(line)
        # A cell may have lines of its own, between `T{` and `T}`.
        if has_cell and not (line.startswith("T}") and "T{" not in line.rpartition("T}")[2]):
            continue
        row = "\n".join(held)
        held = []
        if set(row.strip()) <= set("_="):
            continue
        yield tuple(tidy(cell) for cell in re.sub(r"T\{\n|\nT\}", "", row).split(separator))


class _Roff:
    def __init__(self, text: str) -> None:
        self._left = [line.rstrip("\r") for line in reversed(text.split("\n"))]
        self._strings = dict(_STRINGS)
        self._branches: list[bool] = []
        self._nested = 0

    def lines(self) -> Iterator[RoffLine]:
        while self._left:
            line = self._next_line()
            found = _CONTROL.fullmatch(line) if line.startswith((".", "'")) else None
            if found is None:
                self._nested = 0
                yield RoffLine("", (self._unescaped(line),))
                continue
            name, rest = found[1], found[2]
            if name in {"if", "ie", "el", "while"}:
                self._decide(name, rest)
                continue
            self._nested = 0
            if name in {"de", "de1", "dei", "am", "ig"}:
                self._skip_definition(name, rest)
            elif name in {"ds", "as"}:
                self._define(name, rest)
            elif name == "TS":
                yield RoffLine("TS", tuple(self._table()))
            elif name and name != "\\}":
                yield RoffLine(name, tuple(map(self._unescaped, _arguments(rest))))

    def _next_line(self) -> str:
        parts = [_COMMENT.sub(r"\1", self._left.pop())]
        # An odd number of backslashes at its end joins a line with the next one.
        while self._left and (len(parts[-1]) - len(parts[-1].rstrip("\\"))) % 2:
            parts[-1] = parts[-1][:-1]
            parts.append(_COMMENT.sub(r"\1", self._left.pop()))
        return "".join(parts)

    def _decide(self, name: str, rest: str) -> None:
        """Put what a true condition governs back in line; skip what a false one does."""
        if name == "el":
            is_true = not (self._branches and self._branches.pop())
        else:
            found = _CONDITION.fullmatch(rest)
            rest = found[3] if found else ""
            # `n` is output to a terminal; a groff has the register `.g`; others and strings are not known.
            is_true = found is not None and (found[2] in {"n", "\\n(.g", "\\n[.g]"}) != (found[1] == "!")
            is_true = is_true and name != "while"
            if name == "ie":  # between it and its `.el` may stand other conditions
                self._branches.append(is_true)
        self._nested = self._nested + 1 if is_true else 0
        if is_true and self._nested <= _MOST_NESTED:
            self._left.append(rest.replace("\\{", "", 1).lstrip())
            return
        depth = rest.count("\\{") - rest.count("\\}")
        while depth > 0 and self._left:
            line = self._left.pop()
            depth += line.count("\\{") - line.count("\\}")

    def _skip_definition(self, name: str, rest: str) -> None:
        words = rest.split()
        end = words[-1] if len(words) > (0 if name == "ig" else 1) else "."
        while self._left:
            line = self._left.pop()
            if line.startswith((".", "'")) and line[1:].strip() == end:
                return

    def _define(self, name: str, rest: str) -> None:
        key, _, value = rest.partition(" ")
        before = self._strings.get(key, "") if name == "as" else ""
        self._strings[key] = (before + self._unescaped(value.lstrip().removeprefix('"')))[:_LONGEST_STRING]

    def _table(self) -> Iterator[str]:
        while self._left:
            line = self._next_line()
            if line.startswith(".TE"):
                return
            if not line.startswith(".") or line.rstrip() == _NEW_FORMAT:
                yield self._unescaped(line)

    def _unescaped(self, text: str) -> str:
        return _ESCAPE.sub(self._resolve, text) if "\\" in text else text

    def _resolve(self, found: re.Match[str]) -> str:
        what, value = found.lastgroup, found[found.lastgroup] if found.lastgroup else ""
        if what == "one":
            return _SINGLE.get(value, value)
        if what in {"two", "long", "named"}:
            return _find_character(value)
        if what in {"string", "string1", "string2"}:
            return self._strings.get(value, "")
        if what == "code":
            return chr(int(value)) if 31 < int(value) < 0x110000 else ""
        return value


def _find_character(name: str) -> str:
    """Return the character of a name: one of the table, of Unicode (`u00E9`), or a letter with an accent (`'e`)."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}(?:_[0-9A-F]{4,6})*", name):
        codes = [int(code, 16) for code in name[1:].split("_")]
        return "".join(chr(code) for code in codes if code < 0x110000)
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return ""


def _arguments(text: str) -> list[str]:
    return [bare or quoted.replace('""', '"') for quoted, bare in _ARGUMENT.findall(text)]
