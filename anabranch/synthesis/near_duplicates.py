"""Finds passages that repeat better ones: a copy in another format, or a part of one that was cut elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import NamedTuple

# Signs that change what a number or a line of code says belong to it: 3.1 is not 3, and (5) not 5. All other
# punctuation, and the marks of Markdown, are form. The run before a number is short, or a long one would take quadratic
# time. The last part are signs of their own, of which the vowels of many scripts are some.
_WORD = re.compile(
    r"(?:[-−($€£¥]{1,3}(?=\d))?[^\W_]+(?:[.,:/-](?=\d)[^\W_]+)*(?: ?[%‰€$£¥]|[+#]+)?|!(?=[\w(=])|[<>=+]+|[^\w\s!]"
)
_MARKDOWN = frozenset("`^|~")
# A few words stand in many texts by chance: so short a passage repeats only one that has no other words.
_LEAST_WORDS = 8


class _Run(NamedTuple):
    """Passages of one document that adjoin, as one text, and where in it each of them begins."""

    start: int
    end: int
    words: str
    passages: tuple[tuple[int, str], ...]

    def find(self, words: str) -> str | None:
        """Return the id of the passage in which these words begin."""
        at = self.words.find(words)
        return None if at < 0 else [passage_id for begin, passage_id in self.passages if begin <= at][-1]

    def joined(self, other: _Run) -> _Run:
        """Return this run with one that begins where it ends; they share a blank."""
        shift = len(self.words) - 1
        passages = tuple((begin + shift, passage_id) for begin, passage_id in other.passages)
        return _Run(self.start, other.end, self.words[:-1] + other.words, self.passages + passages)


class Duplicates:
    """Remembers passages and finds the one that a later one repeats, word for word.

    A passage repeats others if all its words stand there, in their order and without a gap; case, white space,
    punctuation and marks such as asterisks aside. Two that differ in one number, name or "not" are no duplicates, as
    they would be by a share of equal shingles (Broder 1997): a question may ask for just that.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._equal: dict[str, str] = {}
        self._runs: defaultdict[str, list[_Run]] = defaultdict(list)

    def find(self, passage_id: str, text: str, *, doc_id: str = "", start: int = 0, end: int = 0) -> str | None:
        """Return the id of an earlier passage that this one repeats, else remember this one and return None.

        Args:
            passage_id: What to remember it by.
            text: Its text.
            doc_id: Its document; remembered passages that adjoin there are compared as one.
            start: First character in the document's text.
            end: One past the last character.
        """
        found = list(filter(_is_told, _WORD.findall(unicodedata.normalize("NFKC", text).casefold())))
        # With blanks around them, so that no part of a word is taken for one.
        words = f" {' '.join(each.replace(' ', '') for each in found) or text} "
        original = self._equal.get(words)
        if original is None and len(found) >= _LEAST_WORDS:
            places = (run.find(words) for runs in self._runs.values() for run in runs)
            original = next((place for place in places if place is not None), None)
        if original is None:
            self._equal[words] = passage_id
            self._remember(doc_id, _Run(start, end, words, ((0, passage_id),)))
        return original

    def _remember(self, doc_id: str, run: _Run) -> None:
        """Add a run; in a document, it is joined with the one that ends where it begins, and the one after it."""
        apart = list[_Run]()
        for each in self._runs[doc_id]:
            if each.end == run.start < run.end:
                run = each.joined(run)
            elif each.start == run.end > run.start:
                run = run.joined(each)
            else:
                apart.append(each)
        self._runs[doc_id] = [*apart, run]


def _is_told(word: str) -> bool:
    """Tell whether a match of `_WORD` is more than form: of single signs, marks on letters and symbols such as ✓."""
    if len(word) > 1 or word.isalnum() or word == "!":
        return True
    return unicodedata.category(word)[0] in "MS" and word not in _MARKDOWN
