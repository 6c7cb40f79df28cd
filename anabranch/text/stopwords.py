"""Words too common to search by; own lists, because BM25Okapi gives even these a weight above zero."""

from __future__ import annotations

import tomllib
from pathlib import Path

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.casefold().split())
    for language, words in tomllib.loads(Path(__file__).with_name("stopwords.toml").read_text("utf-8")).items()
}
"""By language, folded and without apostrophes, as `anabranch.text.analyzer` sees them; none for the others."""
