"""Words too common to search for; BM25Okapi would give even these a weight above zero."""

from __future__ import annotations

import tomllib
from pathlib import Path

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.casefold().split())
    for language, words in tomllib.loads(Path(__file__).with_name("stopwords.toml").read_text("utf-8")).items()
}
"""Stop words by language, folded and without apostrophes, as in `anabranch.text.analyzer`."""
