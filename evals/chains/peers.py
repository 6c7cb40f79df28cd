"""LlamaIndex's engines for such questions, over the same passages and with their own prompts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from evals.synthesis.systems import ANSWER_TOKENS, KEY, MODEL, PATIENCE

WINDOW = 3900
"""LlamaIndex's own default for a model that it does not know."""
PEERS = "llama-index-core llama-index-llms-openai-like"
ENGINES = ("LlamaIndex SubQuestionQueryEngine", "LlamaIndex MultiStepQueryEngine")
DESCRIPTION = "paragraphs of an encyclopedia about people, places, works and events"
"""What both are told of the documents."""

Find = Callable[[str], list[str]]
"""Returns the passages that a query finds, best first."""


async def ask_engine(name: str, question: str, base_url: str, find: Find) -> str:
    """Ask one of `ENGINES`; it searches by `find`.

    Raises:
        ImportError: Its packages are not installed.
        Exception: Whatever the engine raises, such as where it cannot read its model's reply.
    """
    # The engine of several steps has no async form.
    return await asyncio.to_thread(_query, name, question, base_url, find)


def _query(name: str, question: str, base_url: str, find: Find) -> str:
    from llama_index.core import Settings, get_response_synthesizer
    from llama_index.core.indices.query.query_transform.base import StepDecomposeQueryTransform
    from llama_index.core.query_engine import MultiStepQueryEngine, RetrieverQueryEngine, SubQuestionQueryEngine
    from llama_index.core.question_gen.llm_generators import LLMQuestionGenerator
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from llama_index.core.tools import QueryEngineTool
    from llama_index.llms.openai_like import OpenAILike

    # By its own count it would ask a server on the internet for a tokenizer.
    Settings.tokenizer = lambda text: re.findall(r"\w+|[^\w\s]", text)

    class Found(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            texts = find(query_bundle.query_str)
            return [NodeWithScore(node=TextNode(text=text), score=1 / at) for at, text in enumerate(texts, start=1)]

    def make_model(tokens: int) -> Any:  # noqa: ANN401  # an LLM of theirs
        return OpenAILike(
            model=MODEL, api_base=base_url, api_key=KEY, is_chat_model=True, max_retries=0, context_window=WINDOW,
            max_tokens=tokens, temperature=0.0, timeout=PATIENCE,
        )  # fmt: skip

    # The questions of a plan are JSON, which 80 tokens would cut off.
    writer, planner = make_model(ANSWER_TOKENS), make_model(4 * ANSWER_TOKENS)
    engine = RetrieverQueryEngine(retriever=Found(), response_synthesizer=get_response_synthesizer(llm=writer))
    if name == ENGINES[1]:
        steps = MultiStepQueryEngine(
            engine,
            query_transform=StepDecomposeQueryTransform(llm=planner, verbose=False),
            response_synthesizer=get_response_synthesizer(llm=writer),
            index_summary=DESCRIPTION,
        )
        return str(steps.query(question))
    tool = QueryEngineTool.from_defaults(query_engine=engine, name="documents", description=DESCRIPTION)
    parts = SubQuestionQueryEngine.from_defaults(
        query_engine_tools=[tool],
        llm=writer,
        question_gen=LLMQuestionGenerator.from_defaults(llm=planner),
        response_synthesizer=get_response_synthesizer(llm=writer),
        verbose=False,
        use_async=False,
    )
    return str(parts.query(question))
