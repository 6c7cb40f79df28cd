"""Say that the documents do not hold the answer: what was searched for, what is missing, what is nearest."""

from __future__ import annotations

import asyncio
import re
from itertools import chain
from operator import itemgetter

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.agent.nodes.support.answer_messages import new_message_id, show
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of
from anabranch.agent.nodes.support.question_words import shown_queries
from anabranch.agent.nodes.support.tracing import Update, traced
from anabranch.readers.document import Chunk
from anabranch.safety.link_removal import strip_links
from anabranch.synthesis.statements import statements
from anabranch.text.language import language_of
from anabranch.text.phrases import phrases_for

NEAREST = 3
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s<>\[\]]+", re.IGNORECASE)
PREVIEW_CHARS = 160


@traced("abstain")
async def abstain(state: State, context: Context) -> Update:
    """Write the abstention; nothing in it is an answer."""
    # Of verbatim sentences nobody can say that the model answered.
    is_written = state["unsupported"] and state["route"]["name"] != "compose"
    said = strip_links(state["draft"]["answer"]) if is_written else ""
    nearest = await _nearest(context, state, said)
    # A short question does not tell its language; the documents are most likely in the reader's.
    words = phrases_for(state["original_question"], language_of(" ".join(chunk.text for chunk, _ in nearest)))
    lines = [words["unsupported"], said] if said else [words["not_found"]]
    # A model may have written the queries, and a link in one would be live.
    queries = [f"“{strip_links(query).strip()}”" for query in shown_queries(state)]
    if queries:
        lines.append(f"{words['looked_for']}: {', '.join(queries)}.")
    # The words that no passage has say more than a confidence does.
    missing = state["evidence"]["missing"]
    if missing:
        lines.append(f"{words['missing']}: {missing.rstrip('.')}.")
    elif state["evidence"]["verdict"] != "enough" and state["evidence"]["reasons"]:
        lines.append(f"{words['why']}: {'; '.join(state['evidence']['reasons'])}.")
    if nearest:
        lines.append(f"{words['nearest']}:\n" + "\n".join(line for _, line in nearest))
    answer = "\n\n".join(lines)
    message_id = new_message_id()  # the reader may have seen a draft under the one of before
    show(message_id, answer)
    return {
        "answer": answer,
        "abstained": True,
        "citations": [],
        "message_id": message_id,
        "counts": {"nearest": len(nearest)},
    }


async def _nearest(context: Context, state: State, said: str) -> list[tuple[Chunk, str]]:
    """Return the best leaves, each with its line; a parent would begin with words that nobody looked for.

    Of an answer that a model wrote (`said`) the leaves with most of the words that it adds to the question come first:
    if it is right after all, it is seen there.
    """
    # In the order of the candidates, which is that of relevance; passages are merged, and their order is another.
    kept = {leaf for passage in state["passages"] for leaf in passage["leaves"]}
    ids = [candidate["id"] for candidate in state["candidates"] if candidate["id"] in kept]
    ids = ids if said else ids[:NEAREST]
    if not ids:
        return []
    corpus = await corpus_of(context)
    found = await chunks_of(context, state, ids, corpus=corpus)
    chunks = [found[chunk_id] for chunk_id in ids if chunk_id in found]
    by_chunk = await asyncio.to_thread(lambda: [_pieces(chunk) for chunk in chunks])
    texts = [state["standalone_question"], said, *chain.from_iterable(by_chunk)]
    asked, answered, *analysed = map(set, await corpus.analyse(texts))
    terms = iter(analysed)
    near = list[tuple[int, Chunk, str]]()
    for chunk, pieces in zip(chunks, by_chunk, strict=True):
        shared = [(len(have & (answered - asked)), len(have & asked)) for have in (next(terms) for _ in pieces)]
        best = max(shared)
        near.append((best[0], chunk, _line(chunk, pieces[shared.index(best)])))
    near.sort(key=itemgetter(0), reverse=True)
    return [(chunk, line) for _, chunk, line in near[:NEAREST]]


def _pieces(chunk: Chunk) -> list[str]:
    """Return the statements of a leaf, one line each; headings share words with a question and say nothing."""
    said = [" ".join(one.said.split()) for one in statements(chunk.text, chunk.heading.rpartition(" > ")[2])]
    return said or [" ".join(chunk.text.split())]


def _line(chunk: Chunk, statement: str) -> str:
    """Return where a leaf is, and a statement of it."""
    page = f", p. {chunk.page}" if chunk.page is not None else ""
    # A link in it is no source: the passage is one, and is named.
    shown = strip_links(statement)
    line = f"- {chunk.source}{page}: {shown[:PREVIEW_CHARS]}{' ...' if len(shown) > PREVIEW_CHARS else ''}"
    # The address of a page stays; any other name may be its author's, and hold more than a name.
    return line if _ADDRESS.fullmatch(chunk.source) else strip_links(line)
