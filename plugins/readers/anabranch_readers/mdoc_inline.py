"""The inline macros of mdoc(7), which say what a word is: `.Fl v Ar file` prints "-v file"."""

from __future__ import annotations

from collections.abc import Callable

from anabranch_readers.roff_lines import GLUE

_ENCLOSING = {
    "Op": "[]", "Dq": "“”", "Sq": "‘’", "Ql": "‘’", "Qq": '""', "Pq": "()", "Bq": "[]", "Brq": "{}", "Aq": "<>",
}  # fmt: skip
_CONSTANT = {
    "Oo": "[\0", "Do": "“\0", "So": "‘\0", "Qo": '"\0', "Po": "(\0", "Bo": "[\0", "Bro": "{\0", "Ao": "<\0",
    "Oc": "\0]", "Dc": "\0”", "Sc": "\0’", "Qc": '\0"', "Pc": "\0)", "Bc": "\0]", "Brc": "\0}", "Ac": "\0>",
    "Ns": "\0", "Ap": "\0'\0", "Ta": "|", "At": "AT&T UNIX", "Bx": "BSD", "Dx": "DragonFly", "Fx": "FreeBSD",
    "Nx": "NetBSD", "Ox": "OpenBSD", "Ux": "UNIX",
}  # fmt: skip
_ALONE = {"Ar": "file ...", "Fl": "-\0"}
# Macros that say what a word is, and print no more than it.
_PLAIN = frozenset({
    "Ad", "An", "Bf", "Bk", "Cd", "Cm", "Dv", "Ef", "Ek", "Em", "Er", "Ev", "Fa", "Fc", "Fo", "Ft", "Ic", "In", "Lb",
    "Li", "Lk", "Ms", "Mt", "No", "Pa", "Re", "Rs", "St", "Sx", "Sy", "Tn", "Va", "Vt", "Xc", "Xo",
    "%A", "%B", "%C", "%D", "%I", "%J", "%N", "%O", "%P", "%Q", "%R", "%T", "%U", "%V",
})  # fmt: skip
CALLED = _PLAIN | {"Ar", "Fl", "Fn", "Nm", "Pf", "Sm", "Xr", *_ENCLOSING, *_CONSTANT}
"""Macros that may stand within a line."""
_PUNCTUATION = frozenset([".", ",", ":", ";", ")", "]", "?", "!", "(", "["])


class MdocInline:
    """Writes out lines of such macros, one after the other: the name of a page is said once."""

    def __init__(self) -> None:
        """Begin with no name."""
        self._called_by = ""

    def write(self, words: list[str]) -> str:
        """Return what a line of mdoc macros prints; words that are none stay."""
        out: list[str] = []
        ends: list[str] = []
        prefix = ""
        left = words[::-1]
        at_end = next((at for at, word in enumerate(left) if word not in _PUNCTUATION), len(left))
        while left:
            word = left.pop()
            if word in _ENCLOSING:
                out.append(_ENCLOSING[word][0] + GLUE)
                ends.append(GLUE + _ENCLOSING[word][1])
            elif word in CALLED:
                is_alone = not left or left[-1] in CALLED or left[-1] in _PUNCTUATION
                prefix = "-" if word == "Fl" and not is_alone else ""
                out += self._called(word, left, is_alone=is_alone)
            elif word in _PUNCTUATION:
                if len(left) <= at_end:  # at the end of a line it stands outside
                    out += ends[::-1]
                    ends.clear()
                out.append(word + GLUE if word in "([" else GLUE + word)
            else:
                out.append(prefix + word)
        return " ".join(out + ends[::-1])

    def _called(self, macro: str, left: list[str], *, is_alone: bool) -> list[str]:
        """Return what a macro prints itself; it may take the words that it needs."""
        if macro == "Nm":
            if is_alone:
                return [self._called_by]
            self._called_by = self._called_by or left[-1]
        if macro in _CONSTANT:
            return [_CONSTANT[macro]]
        if is_alone:
            return [_ALONE[macro]] if macro in _ALONE else []
        return [_TAKING[macro](left)] if macro in _TAKING else []


def _cite_page(left: list[str]) -> str:
    name = left.pop()
    return f"{name}({left.pop()})" if left and left[-1][:1].isdigit() else name


def _write_call(left: list[str]) -> str:
    name, words = left.pop(), []
    while left and left[-1] not in _PUNCTUATION:
        words.append(left.pop())
    return f"{name}({', '.join(words)})"


_TAKING: dict[str, Callable[[list[str]], str]] = {
    "Pf": lambda left: left.pop() + GLUE,
    "Xr": _cite_page,
    "Fn": _write_call,
    "Sm": lambda left: left.pop() and "",
}
