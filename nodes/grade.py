"""Judge whether to search once more: from scores, and then from a model if `grade` is 'llm'.

No verdict refuses a question for which passages were found.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from anabranch.agent.nodes.state import RetrievalState, Update
from anabranch.agent.nodes.turn import Turn
from anabranch.errors import ModelError, SettingsError
from anabranch.extracts.nearest_passages import select_leaves, take_fitting
from anabranch.parsing.evidence_verdict import parse_verdict
from anabranch.retrieval.answerability import CALIBRATED, EvidenceJudgement, judge, judge_either
from anabranch.retrieval.inferred_filter import without_inferred
from anabranch.retrieval.question_words import (
    ALONE,
    TOGETHER,
    WORD,
    find_light_terms,
    find_own_words,
    map_terms,
    respell_question,
)
from anabranch.retrieval.term_statistics import idf_of, occurring_in
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.safety.prompt_template import messages
from anabranch.text.phrases import without_courtesy
from anabranch.types import Evidence

if TYPE_CHECKING:
    from anabranch.store.protocol import CorpusReader

MAX_MISSING = 200

ELSEWHERE = "elsewhere"
"""Name of the score that says how much is covered without an inferred filter."""


async def grade(state: RetrievalState, turn: Turn) -> Update:
    """Grade the evidence 'enough', 'thin' or 'nothing', with reasons and what is missing."""
    digest = _digest(state)
    judgement = await _judge_scores(state, turn)
    # The scores are kept whatever decides, because they are shown and measured.
    measured = {"covered": round(judgement.covered, 4), "confidence": round(judgement.confidence, 4)}
    if state["turn"].get("inferred"):
        measured[ELSEWHERE] = await _cover_elsewhere(state, turn)
    scores, before = {**state["evidence"]["scores"], **measured}, state["evidence"]
    if state["round"] > 1 and before["digest"] == digest:
        # Asking a model again about the same passages would cost a call, and it may contradict itself.
        reasons = [*before["reasons"], "another round found the same passages"]
        turn.count(verdict=before["verdict"], round=state["round"], unchanged=True)
        return {"evidence": {**before, "reasons": reasons, "scores": scores}}
    if turn.settings.grade == "none" and state["passages"]:
        judgement = EvidenceJudgement("enough", ("not graded: the setting `grade` is 'none'",), ())
    by_model = turn.settings.grade == "llm" and judgement.verdict != "nothing"
    if by_model and turn.budget.allows(tokens=turn.settings.window_tokens):
        try:
            async with turn.awaiting_model():
                judgement = await _ask_model(state, turn)
        except ModelError as error:
            turn.degraded("grade", error)
    turn.count(verdict=judgement.verdict, round=state["round"], confidence=measured["confidence"])
    evidence = Evidence(
        verdict=judgement.verdict,
        reasons=list(judgement.reasons),
        missing=", ".join(judgement.missing)[:MAX_MISSING],
        digest=digest,
        scores=scores,
    )
    return {"evidence": evidence}


async def _judge_scores(state: RetrievalState, turn: Turn) -> EvidenceJudgement:
    corpus, scores, queries = await turn.corpus(), state["evidence"]["scores"], state["queries"]
    standalone = state["turn"]["standalone_question"]
    question = respell_question(standalone, queries)
    idf = await idf_of(corpus, [question], turn.scope)
    passages, own = await _find_words(state, turn, question), find_own_words(standalone, queries)

    async def judge_question(question: str, score: str) -> EvidenceJudgement:
        words = await _needed_terms(state, corpus, question)
        judgement = judge(
            passages=passages,
            # The weights were fitted to the cosines of the calibrated embedders.
            cosine=scores.get(score) if corpus.embedder.name in CALIBRATED else None,
            terms=list(words),
            idf=idf,
            light=find_light_terms(words, question),
        )
        # "Wi-Fi" is three terms and one word, and a sentence in Japanese as many terms as it has pairs of letters.
        missing = (own.get(words[term], words[term]) for term in judgement.missing)
        return replace(judgement, missing=tuple(dict.fromkeys(missing)))

    judgement = await judge_question(question, "dense")
    # The previous question is in front of this one, so its words were looked up, too.
    if queries[0]["kind"] != TOGETHER:
        return judgement
    return judge_either(await judge_question(without_courtesy(state["turn"]["question"]), ALONE), judgement)


async def _needed_terms(state: RetrievalState, corpus: CorpusReader, question: str) -> dict[str, str]:
    """Return the terms that passages have to hold, with their words: an inferred filter has seen to its own."""
    words, inferred = await map_terms(corpus, question), state["turn"].get("inferred")
    if inferred is None:
        return words
    (met,) = await corpus.analyse([inferred["text"]])
    return {term: word for term, word in words.items() if term not in met}


async def _cover_elsewhere(state: RetrievalState, turn: Turn) -> float:
    """Return how many of the question's words one passage holds, as `covered` does, without the inferred filter."""
    corpus, scope = await turn.corpus(), turn.with_state({**state, "turn": without_inferred(state["turn"])}).scope
    question = respell_question(state["turn"]["standalone_question"], state["queries"])
    (found,) = await corpus.search("bm25", [question], turn.settings.top_k, scope)
    passages = (await occurring_in(corpus, WORD.findall(question), found["ids"], scope)).values()
    words, idf = await _needed_terms(state, corpus, question), await idf_of(corpus, [question], scope)
    light = find_light_terms(words, question)
    return round(judge(passages=list(passages), cosine=None, terms=list(words), idf=idf, light=light).covered, 4)


async def _find_words(state: RetrievalState, turn: Turn, question: str) -> list[frozenset[str]]:
    """Return the terms of the question in each leaf that was found."""
    # Leaves only: the long text of a parent has words of any question.
    corpus, ids = await turn.corpus(), select_leaves(state["candidates"], state["passages"])
    external = state.get("external_passages") or {}
    own = [chunk_id for chunk_id in ids if chunk_id not in external]
    found = await occurring_in(corpus, WORD.findall(question), own, turn.scope)
    others = [external[chunk_id] for chunk_id in ids if chunk_id in external]
    texts = [f"{passage['title']} {passage['heading']} {passage['text']}" for passage in others]
    analysed = await corpus.analyse(texts) if texts else []
    return [*found.values(), *map(frozenset, analysed)]


async def _ask_model(state: RetrievalState, turn: Turn) -> EvidenceJudgement:
    chat = await turn.chat()
    if chat is None:
        msg = "grade: llm needs a chat model, and none is configured."
        raise SettingsError(msg, hint="Set `model`, or grade: scores.")
    # As much as one window: a longer prompt would judge passages that no answer is written from.
    ids = select_leaves(state["candidates"], state["passages"])
    found = await turn.chunks(ids)
    leaves = take_fitting([found[chunk_id] for chunk_id in ids if chunk_id in found], turn.settings.window_tokens)
    passages = wrap([(number, "", leaf.text) for number, leaf in enumerate(leaves, start=1)], new_nonce())
    question = state["turn"]["standalone_question"]
    usual = f"{passages}\n\nQuestion: {question}"
    system, user = messages(turn.settings.grade_prompt, usual, context_str=passages, query_str=question)
    reply = await chat.ask(system, user, max_tokens=120)
    verdict = parse_verdict(reply)
    if verdict.sufficient is None:
        msg = "The model's verdict on the evidence could not be read."
        raise ModelError(msg)
    missing = (verdict.missing,) if verdict.missing else ()
    return EvidenceJudgement("enough" if verdict.sufficient else "thin", ("the model's verdict",), missing)


def _digest(state: RetrievalState) -> str:
    """Return a digest of the passages, to recognise a round of search that finds nothing new."""
    # Sorted, because the order does not matter.
    ids = sorted(passage["id"] for passage in state["passages"])
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]
