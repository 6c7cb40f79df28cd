"""Let a chat model, or a generator given in code, make further queries; else only the question is searched for.

Pseudo-relevance feedback was measured and left out: docs/adr/0010-fusion.md.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.agent.prompts import CHAIN_FORM, ONLY_FORM, QUERY_FORM, REACH_FORM, REWRITE
from anabranch.errors import ModelError, SettingsError
from anabranch.parsing.query_plan import QueryPlan, parse_plan
from anabranch.retrieval import BUILT_IN_RETRIEVERS
from anabranch.retrieval.inferred_filter import (
    SAMPLE,
    FilterCondition,
    MetadataField,
    collect_fields,
    join_conditions,
    read_condition,
    show_fields,
)
from anabranch.retrieval.question_words import FORM, SPELLING, WORD, list_queries
from anabranch.retrieval.spelling import correct_words, other_forms, replace_words
from anabranch.safety.link_removal import make_plain
from anabranch.safety.prompt_template import messages
from anabranch.store.filters import parse_filters
from anabranch.store.protocol import MetadataSample
from anabranch.types import NO_CHAIN, NO_COVERAGE, Query

if TYPE_CHECKING:
    from anabranch.models.chat import Chat


GENERATOR_SECONDS = 60.0
"""Seconds that a query generator may take, if `model_timeout` is unset."""


async def rewrite(state: RetrievalState, turn: Turn) -> Update:
    """Add up to `n_queries` - 1 queries to the question; if that fails, only the question is searched for."""
    # The question, and queries from a review, stay in every round.
    kept = [query for query in state["queries"] if query["kind"] not in REWRITE]
    room = turn.settings.n_queries - len(kept)
    strategy, is_first = turn.settings.strategy, not state.get("round")
    plan = QueryPlan([])
    asks = room > 0 and strategy in REWRITE
    # A second search is the chat model's, which is told what the first one did not find.
    generator = turn.query_generator if is_first else None
    chat = await turn.chat() if asks and generator is None else None
    fields = await _list_fields(turn, chat) if chat is not None and is_first else []
    try:
        if asks and generator is not None:
            from anabranch.retrieval.query_generator import generate_queries

            question, seconds = state["turn"]["standalone_question"], turn.settings.model_timeout or GENERATOR_SECONDS
            plan = QueryPlan(await generate_queries(generator, question, room, seconds))
        elif chat is not None and turn.budget.allows():
            async with turn.awaiting_model():
                plan = await _ask(chat, turn, state, strategy, room, fields)
    except ModelError as error:
        turn.degraded("rewrite", error)
    spelling: dict[str, str] = {}
    if kept and is_first:
        spelling = await correct_words(await turn.corpus(), kept[0]["text"], turn.scope)
    # The weight is shared by the model's queries, however many there are.
    weight, texts = turn.settings.variant_weight, plan.queries
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
    # The first plan counts: later rounds look for what the first one missed.
    is_chained = bool(plan.steps) and turn.settings.hops > 0 and is_first
    chain = {"chain": {**NO_CHAIN, "steps": list(plan.steps)}} if is_chained else {}
    is_planned = chat is not None and _plans_reach(turn, chat) and is_first
    reach = {} if not is_planned else {"coverage": {**NO_COVERAGE, "reach": plan.reach, "rows": plan.rows}}
    narrowed = await _narrow(state, turn, plan, fields) if fields and plan.only else {}
    return {"queries": [*kept, *derived], "round": state.get("round", 0) + 1, **chain, **reach, **narrowed}


async def _list_fields(turn: Turn, chat: Chat) -> list[MetadataField]:
    """Return the fields that the model may make a filter of; none where no filter is to be inferred.

    Queries may go to other services, so values of documents are shown only where the corpus alone is searched; and
    without a grade of the evidence, nothing would tell that a filter was wrong.
    """
    settings = turn.settings
    wanted = chat.is_hosted if settings.infer_filter is None else settings.infer_filter
    if not wanted or settings.grade == "none" or not {*BUILT_IN_RETRIEVERS}.issuperset(settings.retrievers):
        return []
    corpus = await turn.corpus()
    if not isinstance(corpus, MetadataSample):
        return []
    fields = await asyncio.to_thread(collect_fields, await corpus.sample_metadata(turn.scope, SAMPLE))
    return fields if show_fields(fields) else []


async def _narrow(state: RetrievalState, turn: Turn, plan: QueryPlan, fields: list[MetadataField]) -> Update:
    """Return the turn with the filter that the model proposed, as far as it fits the documents and the question."""
    # In a thread, because a field may have 20,000 values.
    read = await asyncio.to_thread(lambda: [(written, read_condition(written, fields)) for written in plan.only])
    left = [f"{make_plain(written)} (no document has it)" for written, found in read if found is None]
    known = [found for _, found in read if found is not None]
    asked = f"{state['turn']['question']} {state['turn']['standalone_question']}"
    said, *words = await (await turn.corpus()).analyse([asked, *(each.words for each in known)])
    conditions = [each for each, terms in zip(known, words, strict=True) if not set(said).isdisjoint(terms)]
    # What the question does not say is an idea of the model's.
    left += [f"{each.text} (the question does not say it)" for each in known if each not in conditions]
    why = ""
    # The values that a chain finds may stand in any document.
    if plan.steps and turn.settings.hops > 0:
        why = "the question takes several searches"
    elif conditions and not _fits_beside(state["turn"]["filters"], conditions):
        why = "with the filters that you gave, it is too large"
    if why:
        left += [f"{each.text} ({why})" for each in conditions]
        conditions = []
    if left:
        turn.degraded("rewrite", f"a filter that the model proposed was left out: {'; '.join(left)}")
    if not conditions:
        return {}
    inferred = join_conditions(conditions)
    turn.count(only=inferred["text"])
    return {"turn": {**state["turn"], "inferred": inferred}}


def _fits_beside(filters: dict[str, Any] | None, conditions: list[FilterCondition]) -> bool:
    """Tell whether a search takes these conditions together with the caller's filters, whose size has a limit."""
    try:
        parse_filters({"and": [filters or {}, join_conditions(conditions)["filters"]]})
    except SettingsError:
        return False
    return True


def _plans_reach(turn: Turn, chat: Chat) -> bool:
    """Tell whether the model says how much is to be read; with `auto`, only a hosted model is asked.

    A false plan reads every document: a model of 1.5 B made one for five of nine questions that a few passages answer.
    """
    return chat.is_hosted if turn.settings.coverage == "auto" else turn.settings.coverage != "passages"


async def _ask(
    chat: Chat, turn: Turn, state: RetrievalState, strategy: str, room: int, fields: list[MetadataField]
) -> QueryPlan:
    # The user's prompt replaces that of any strategy.
    own, question = turn.settings.rewrite_prompt or REWRITE[strategy], state["turn"]["standalone_question"]
    usual = f"Number of lines: {room}\nQuestion: {question}"
    system, user = messages(own, usual, guard=QUERY_FORM, query_str=question, num_queries=str(room))
    # The plan is made here, where no passage can have a say in it, and of metadata only short values.
    forms = [CHAIN_FORM] if turn.settings.hops else []
    forms += [REACH_FORM] if _plans_reach(turn, chat) else []
    forms += [ONLY_FORM] if fields else []
    planned = "" if state.get("round") else "".join(forms)
    lines = [user, *([f"Metadata of the documents, which is data: {show_fields(fields)}"] if fields else [])]
    if state.get("round", 0) > 0:
        lines.append(f"Already searched: {'; '.join(list_queries(state['queries']))}")
        missing = await _find_missing(turn, state)
        lines += [f"What was not found: {'; '.join(missing)}"] if missing else []
    if fields:
        await turn.audit("read", step="rewrite", fields=[field.name for field in fields])
    # Room for each query, and for what models write around them.
    reply = await chat.ask(system + planned, "\n".join(lines), max_tokens=60 * room + 100 + (100 if planned else 0))
    return parse_plan(reply, limit=room, original=question)


async def _find_missing(turn: Turn, state: RetrievalState) -> list[str]:
    """Return the words of the question that were not found.

    Only the question's own words: a judge's words may repeat passages, and queries may go to other services.
    """
    corpus = await turn.corpus()
    words = list(dict.fromkeys(WORD.findall(state["turn"]["standalone_question"])))
    missing, *analysed = await corpus.analyse([state["evidence"]["missing"], *words])
    return [word for word, terms in zip(words, analysed, strict=True) if not set(missing).isdisjoint(terms)]
