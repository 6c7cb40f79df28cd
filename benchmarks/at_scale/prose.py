"""Sentences of real text, from whatever files the readers of Anabranch can read."""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers import READERS, read
from anabranch.readers.document import Document, ReadOptions
from anabranch.text.sentences import spans

SHORTEST, LONGEST = 40, 400
"""Characters of a sentence: shorter ones are labels, longer ones are tables and code."""

_TYPED = ReadOptions(ocr=False)
"""What OCR reads depends on what is installed, has words that nobody wrote, and takes seconds a picture."""

WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case: a rough count, with no stemming and no stop list."""
    return WORD.findall(text.lower())


def sentences(paths: Sequence[Path], most: int, seed: int) -> list[str]:
    """Return a sample of the distinct sentences below `paths`, the same one whatever the order of the files.

    A sentence stays while its hash is among the smallest: a uniform sample in memory for `most` sentences.

    Raises:
        ValueError: There are too few sentences to make anything of.
    """
    kept: list[tuple[int, str]] = []
    held: set[str] = set()
    for sentence in _proper(_read(paths)):
        rank = -int.from_bytes(hashlib.sha256(f"{seed}\0{sentence}".encode()).digest()[:8])
        if sentence in held:
            continue
        if len(kept) < most:
            heapq.heappush(kept, (rank, sentence))
        elif rank > kept[0][0]:
            held.discard(heapq.heapreplace(kept, (rank, sentence))[1])
        else:
            continue
        held.add(sentence)
    if len(kept) < 200:
        raise ValueError(f"{list(map(str, paths))!r} hold {len(kept)} sentences; 200 are the least")
    return [sentence for _, sentence in sorted(kept, reverse=True)]


def _read(paths: Sequence[Path]) -> Iterator[str]:
    for file in _files(paths):
        try:
            for document in read(file, file.name, _TYPED):
                if isinstance(document, Document):
                    yield from (block.text for block in document.blocks if not block.is_heading)
        except ReadingError:
            continue  # a folder of anything may hold anything


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in below if file.is_file() and file.suffix.lower() in READERS)


def _proper(texts: Iterable[str]) -> Iterator[str]:
    """Yield what reads like a sentence: of some length, in several words, and mostly letters."""
    for text in texts:
        for start, end in spans(text):
            sentence = " ".join(text[start:end].split())
            letters = sum(map(str.isalpha, sentence))
            parted = sentence.count(" ") >= 4
            if parted and SHORTEST <= len(sentence) <= LONGEST and letters >= 0.7 * len(sentence):
                yield sentence
