"""Texts that cost whoever reads them more than they cost whoever writes them: one piece, again and again."""

from __future__ import annotations

ATOMS = (
    *("a", "A", "1", "é", "中", " ", "\t", "\n", "\r", "\u00a0", "\u00ad", "\u200b", "\x00"),
    *".,:;!?-_*+=|<>&/\\()[]{}\"'`~$@#%^",
    *("ab ", "a1 ", "a b\n", "1, ", "1.2", "a. ", "A. ", "1. ", "IV. ", "a-\n", "(a)", "[1]", "(1) ", "a: b\n", "a::"),
    *("\n\n", " \n", "\n ", "- a\n", "# a\n", "> ", "| a ", "|a|\n", "|\n", "---\n", "===\n", "a\n=\n", "```\n", "//"),
    *("<<", "<a>", "<a ", "</p>", "<!--", "&lt;", "&amp", "[[", "[a](", "[a]: ", "](", "![", "\\a{", "\\par ", "{\\"),
    *("https://", "link:", "a@b.c ", "From a\n", "12:34:56\n", " --> ", "=?a?q?", '"a",', '""', "a,", "BEGIN:", "$a"),
    *("**a ", "(((", "@a ", "/*", 'x="', "{{", "<table>", "import a\n", "p {", "a(b "),
    *("Ida ", "Anna Berg ", "e.g. ", "12 of 30 ", "not ", "she said ", "1848 ", "a, b and ", "x-1_", "“a” ", "Zoë's "),
)


def repeated(atom: str, length: int) -> str:
    """Return a text of so many characters."""
    return (atom * (length // len(atom) + 1))[:length]
