"""Says when the documents of a run are in languages that the embedder does not read well."""

from __future__ import annotations

from anabranch.models.embedder import Embedder, is_multilingual, unread_script
from anabranch.models.minilm.bundled import MINILM_NAME
from anabranch.text.language import language_of

# Share of the passages from which on the advice is given: a few quotations do not count.
_LEAST = 0.1
# Documents that are looked at, and characters of each: a share needs no more.
_MOST_DOCUMENTS, _LOOK_AT = 1_000, 4_000
# What the bundled embedder was trained on.
_ITS_LANGUAGE = "english"


class LanguageTally:
    """Counts the passages of a run by whether the embedder reads their document's language."""

    def __init__(self, embedder: Embedder) -> None:
        """Take the embedder; nothing is asked of it before the first document."""
        self._embedder = embedder
        self._documents = self._passages = self._foreign = 0

    def add(self, text: str, passages: int) -> None:
        """Count the passages of a document."""
        if self._documents == _MOST_DOCUMENTS or not passages:
            return
        self._documents += 1
        self._passages += passages
        if self._is_foreign(text[:_LOOK_AT]):
            self._foreign += passages

    def advice(self) -> list[str]:
        """Return one sentence that names the share and what to do; none where all is well."""
        share = self._foreign / self._passages if self._passages else 0.0
        if share < _LEAST or is_multilingual(self._embedder):
            return []
        problem = f"{share:.0%} of the new passages are in languages that {self._embedder.name} reads badly"
        return [
            f"{problem}. Run `anabranch corpus rebuild --corpus CORPUS --embedder multilingual`; it needs the extra "
            "`multilingual`."
        ]

    def _is_foreign(self, text: str) -> bool:
        if unread_script(self._embedder, text):
            return True
        return self._embedder.name == MINILM_NAME and language_of(text, _ITS_LANGUAGE) != _ITS_LANGUAGE
