"""From ranked lists to passages: fusion, auto-merging, whether the evidence suffices; retrievers of other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

from anabranch.registry import Registry
from anabranch.types import Arm

if TYPE_CHECKING:
    # It takes seconds to import, and reading the settings does not need it.
    from langchain_core.retrievers import BaseRetriever

# Retrievers of other packages: a class or a function that makes one without arguments.
RETRIEVERS: Registry[Callable[[], BaseRetriever]] = Registry("retriever", {})

CORPUS_RETRIEVERS: tuple[str, ...] = get_args(Arm)
# The chat model reads the corpus.
READER = "llm"
BUILT_IN_RETRIEVERS = (*CORPUS_RETRIEVERS, READER)
