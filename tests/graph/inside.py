"""The answer graph with all its channels as its output, for tests that look inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.retrievers import BaseRetriever

from anabranch.agent.graph import answer
from anabranch.agent.graph.dependencies import MAX_CONCURRENCY
from anabranch.agent.nodes.state import VISIBLE


def build(retrievers: Mapping[str, BaseRetriever] | None = None, **options: Any) -> Any:
    builder = answer.build(retrievers, **options)
    compile_as_is = builder.compile

    def compile_open(*arguments: Any, **options: Any) -> Any:
        compiled = compile_as_is(*arguments, **options)
        compiled.output_channels = VISIBLE
        return compiled

    builder.compile = compile_open  # type: ignore[method-assign]
    return builder


graph = build().compile(name="answer").with_config(max_concurrency=MAX_CONCURRENCY)
