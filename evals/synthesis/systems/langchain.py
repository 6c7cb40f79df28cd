"""LangChain's question answering chains, with their own prompts."""

from __future__ import annotations

from langchain_classic.chains.question_answering import load_qa_chain
from langchain_core.documents import Document

from evals.synthesis.packs import Pack
from evals.synthesis.systems import Said, texts_of
from evals.synthesis.systems.openai_chat import openai_chat


async def answer(pack: Pack, mode: str, base_url: str) -> Said:
    """Run the chain over the passages, or over the windows."""
    documents = [Document(page_content=text) for text in texts_of(pack, mode)]
    async with openai_chat(base_url) as model:
        chain = load_qa_chain(model, chain_type=mode)
        found = await chain.ainvoke({"input_documents": documents, "question": pack.text})
    return Said(found["output_text"])
