"""Have a chat model make further search queries; without one, the question alone is searched for.

Pseudo-relevance feedback could make them from the corpus itself. It was measured and left out: docs/adr/0010-fusion.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.prompts import QUERY_FORM, REWRITE
from anabranch.errors import ModelError
from anabranch.parsing.query_list import parse_queries
from anabranch.retrieval.question_words import FORM, SPELLING, WORD, list_queries
from anabranch.retrieval.spelling import correct_words, other_forms, replace_words
from anabranch.safety.prompt_template import messages
from anabranch.types import Query

if TYPE_CHECKING:
    from anabranch.models.chat import Chat


async def rewrite(state: RetrievalState, turn: Turn) -> Update:
    """Add up to `n_queries` - 1 queries to the question; if that fails, only the question is searched for."""
    # What a person wrote stays in every round: the question, and the queries that they put in its place.
    kept = [query for query in state["queries"] if query["kind"] not in REWRITE]
    # The question counts, and so does what a person put in its place.
    room = turn.settings.n_queries - len(kept)
    strategy = turn.settings.strategy
    texts: list[str] = []
    chat = await turn.chat() if room > 0 and strategy in REWRITE else None
    if chat is not None and turn.budget.allows():
        try:
            async with turn.awaiting_model():
                texts = await _ask(chat, turn, state, strategy, room)
        except ModelError as error:
            turn.degraded("rewrite", error)
    spelling: dict[str, str] = {}
    if kept and not state.get("round"):
        spelling = await correct_words(await turn.corpus(), kept[0]["text"], turn.scope)
    # Together they weigh as much whether the model wrote one or seven.
    weight = turn.settings.variant_weight
    derived = [Query(text=text, weight=weight / len(texts), kind=strategy) for text in texts]
    if spelling:
        text = kept[0]["text"]
        forms = other_forms(text, spelling)
        kind = FORM if len(forms) == len(spelling) else SPELLING
        kept.append(Query(text=replace_words(text, spelling), weight=weight, kind=kind))
        spelling = {word: near for word, near in spelling.items() if word not in forms}
    turn.count(queries=len(kept) + len(derived), kind=strategy if derived else "none")
    if spelling:
        turn.count(spelling=spelling)
    return {"queries": [*kept, *derived], "round": state.get("round", 0) + 1}


async def _ask(chat: Chat, turn: Turn, state: RetrievalState, strategy: str, room: int) -> list[str]:
    # One prompt of the user's takes the place of that of any strategy: it says what kind of queries it wants.
    own, question = turn.settings.rewrite_prompt or REWRITE[strategy], state["turn"]["standalone_question"]
    usual = f"Number of lines: {room}\nQuestion: {question}"
    system, user = messages(own, usual, guard=QUERY_FORM, query_str=question, num_queries=str(room))
    lines = [user]
    if state.get("round", 0) > 0:
        lines.append(f"Already searched: {'; '.join(list_queries(state['queries']))}")
        missing = await _find_missing(turn, state)
        lines += [f"What was not found: {'; '.join(missing)}"] if missing else []
    # For each query, and for what models write around them: a reply that was cut off loses the last query.
    reply = await chat.ask(system, "\n".join(lines), max_tokens=60 * room + 100)
    return parse_queries(reply, limit=room, original=question)


async def _find_missing(turn: Turn, state: RetrievalState) -> list[str]:
    """Return the words of the question that were not found.

    A judge read passages before it said what is missing, and queries may go to retrievers outside: only the question's
    own words go on.
    """
    corpus = await turn.corpus()
    words = list(dict.fromkeys(WORD.findall(state["turn"]["standalone_question"])))
    missing, *analysed = await corpus.analyse([state["evidence"]["missing"], *words])
    return [word for word, terms in zip(words, analysed, strict=True) if not set(missing).isdisjoint(terms)]
