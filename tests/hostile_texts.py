"""Texts that cost whoever reads them more than they cost whoever writes them: one piece, again and again."""

from __future__ import annotations

from tests.text.repeated_atoms import ATOMS as ATOMS_OF_WORDS

ATOMS_OF_FORMATS = (
    "中", "\r", "\xad", "\x00", ",", ":", ";", "!", "?", "+", "=", ")", "]", "}", "$", "%", "^", "ab ", "a1 ", "a b\n",
    "1.2", "a. ", "A. ", "IV. ", "a-\n", "(a)", "[1]", "a: b\n", "a::", " \n", "\n ", "- a\n", "# a\n", "| a ",
    "|a|\n", "|\n", "---\n", "===\n", "a\n=\n", "```\n", "//", "<<", "<a>", "</p>", "<!--", "&amp", "[a](", "[a]: ",
    "![", "\\a{", "\\par ", "{\\", "https://", "link:", "From a\n", "12:34:56\n", " --> ", "=?a?q?", '"a",', '""',
    "a,", "BEGIN:", "$a", "**a ", "(((", "@a ", "/*", 'x="', "{{", "<table>", "import a\n", "p {", "a(b ",
    "Anna Berg ", "12 of 30 ", "not ", "she said ", "1848 ", "a, b and ", "x-1_", "“a” ", "Zoë's ",
)  # fmt: skip
"""Pieces of the formats that documents are in."""

ATOMS = (*ATOMS_OF_WORDS, *ATOMS_OF_FORMATS)


def repeated(atom: str, length: int) -> str:
    """Return a text of so many characters."""
    return (atom * (length // len(atom) + 1))[:length]
