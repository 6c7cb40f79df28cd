"""Have a chat model make further search queries; without one, the question alone is searched for.

Pseudo-relevance feedback could make them from the corpus itself. It was measured and left out: docs/adr/0010-fusion.md.
"""

from __future__ import annotations

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import RetrievalState
from anabranch.agent.nodes.support.dependencies import corpus_of, model_of, scope_of
from anabranch.agent.nodes.support.question_words import FORM, SPELLING, shown_queries
from anabranch.agent.nodes.support.slow_reply import shown_meanwhile
from anabranch.agent.nodes.support.state_records import Degraded, Query
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import spares
from anabranch.agent.prompts import QUERY_FORM, REWRITE
from anabranch.errors import ModelError
from anabranch.models.chat import Chat
from anabranch.parsing.query_list import WORD, parse_queries
from anabranch.retrieval.spelling import corrected, other_forms, respelled
from anabranch.safety.prompt_template import messages


@traced("rewrite")
async def rewrite(state: RetrievalState, context: Context) -> Update:
    """Add up to `n_queries` - 1 queries to the question; if that fails, only the question is searched for."""
    # What a person wrote stays in every round: the question, and the queries that they put in its place.
    kept = [query for query in state["queries"] if query["kind"] not in REWRITE]
    # The question counts, and so does what a person put in its place.
    room = context.n_queries - len(kept)
    strategy = context.strategy
    texts: list[str] = []
    degraded: list[Degraded] = []
    chat = await model_of(context) if room > 0 and strategy in REWRITE else None
    if chat is not None and spares(context, state["trace"]):
        try:
            async with shown_meanwhile("rewrite", context, state):
                texts = await _ask(chat, context, state, strategy, room)
        except ModelError as error:
            degraded.append(failed("rewrite", error))
    spelling: dict[str, str] = {}
    if kept and not state.get("round"):
        scope = scope_of(context, state.get("active_filters"))
        spelling = await corrected(await corpus_of(context), kept[0]["text"], scope)
    # Together they weigh as much whether the model wrote one or seven.
    derived = [Query(text=text, weight=context.variant_weight / len(texts), kind=strategy) for text in texts]
    if spelling:
        text = kept[0]["text"]
        forms = other_forms(text, spelling)
        kind = FORM if len(forms) == len(spelling) else SPELLING
        kept.append(Query(text=respelled(text, spelling), weight=context.variant_weight, kind=kind))
        spelling = {word: near for word, near in spelling.items() if word not in forms}
    return {
        "queries": [*kept, *derived],
        "round": state.get("round", 0) + 1,
        "degraded": degraded,
        "counts": {
            "queries": len(kept) + len(derived),
            "kind": strategy if derived else "none",
            **({"spelling": spelling} if spelling else {}),
        },
    }


async def _missing(context: Context, state: RetrievalState) -> list[str]:
    """Return the words of the question that were not found.

    A judge read passages before it said what is missing, and queries may go to retrievers outside: only the question's
    own words go on.
    """
    corpus = await corpus_of(context)
    words = list(dict.fromkeys(WORD.findall(state["standalone_question"])))
    said, *analysed = await corpus.analyse([state["evidence"]["missing"], *words])
    return [word for word, terms in zip(words, analysed, strict=True) if not set(said).isdisjoint(terms)]


async def _ask(chat: Chat, context: Context, state: RetrievalState, strategy: str, room: int) -> list[str]:
    # One prompt of the user's takes the place of that of any strategy: it says what kind of queries it wants.
    own, question = context.rewrite_prompt or REWRITE[strategy], state["standalone_question"]
    usual = f"Number of lines: {room}\nQuestion: {question}"
    system, user = messages(own, usual, guard=QUERY_FORM, query_str=question, num_queries=str(room))
    lines = [user]
    if state.get("round", 0) > 0:
        lines.append(f"Already searched: {'; '.join(shown_queries(state))}")
        missing = await _missing(context, state)
        lines += [f"What was not found: {'; '.join(missing)}"] if missing else []
    # For each query, and for what models write around them: a reply that was cut off loses the last query.
    reply = await chat.ask(system, "\n".join(lines), max_tokens=60 * room + 100)
    return parse_queries(reply, limit=room, original=question)
