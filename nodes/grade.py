"""Judge whether to search once more: from scores, and then from a model if `grade` is 'llm'.

No verdict refuses a question for which passages were found: whoever answers reads them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from anabranch.agent.nodes.condense import ALONE, TOGETHER
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import RetrievalState
from anabranch.agent.nodes.support.dependencies import chunks_of, corpus_of, model_of, scope_of
from anabranch.agent.nodes.support.question_words import as_asked, as_searched, light_terms, own_words, words_by_term
from anabranch.agent.nodes.support.slow_reply import shown_meanwhile
from anabranch.agent.nodes.support.state_records import Degraded, Evidence
from anabranch.agent.nodes.support.tracing import Update, failed, traced
from anabranch.agent.nodes.support.turn_budget import spares
from anabranch.errors import ModelError, SettingsError
from anabranch.parsing import parse_verdict
from anabranch.parsing.query_list import WORD
from anabranch.readers.document import Chunk
from anabranch.retrieval.answerability import CALIBRATED, EvidenceJudgement, either, judge
from anabranch.retrieval.term_statistics import idf_of, occurring_in
from anabranch.safety.prompt_envelope import new_nonce, wrap
from anabranch.safety.prompt_template import messages
from anabranch.store.protocol import CorpusReader

MAX_MISSING = 200


@traced("grade")
async def grade(state: RetrievalState, context: Context) -> Update:
    """Say 'enough', 'thin' or 'nothing', why, and what is missing; a round that brings nothing new ends the search."""
    digest = _digest(state)
    degraded: list[Degraded] = []
    judgement = await _by_scores(context, state)
    # The scores are kept whoever decides: they are shown, and measured.
    scores = {"covered": round(judgement.covered, 4), "confidence": round(judgement.confidence, 4)}
    if state["round"] > 1 and state["evidence"]["digest"] == digest:
        return {**_as_before(state), "evidence_scores": {**state["evidence_scores"], **scores}}
    # Without passages there is nothing to answer from, whoever judges.
    if context.grade == "none" and state["passages"]:
        judgement = EvidenceJudgement("enough", ("grade: none was asked for",), ())
    # A model is not asked about no passage.
    if (
        context.grade == "llm"
        and judgement.verdict != "nothing"
        and spares(context, state["trace"], tokens=context.window_tokens)
    ):
        try:
            async with shown_meanwhile("grade", context, state):
                judgement = await _by_model(context, state)
        except ModelError as error:
            degraded.append(failed("grade", error))
    evidence = Evidence(
        verdict=judgement.verdict,
        reasons=list(judgement.reasons),
        missing=", ".join(judgement.missing)[:MAX_MISSING],
        digest=digest,
    )
    return {
        "evidence": evidence,
        "evidence_scores": {**state["evidence_scores"], **scores},
        "degraded": degraded,
        "counts": {"verdict": evidence["verdict"], "round": state["round"], "confidence": scores["confidence"]},
    }


def _as_before(state: RetrievalState) -> Update:
    """Keep the verdict on the same passages: to ask a model again would cost a call, and might say otherwise."""
    before = state["evidence"]
    reasons = [*before["reasons"], "another round found the same passages"]
    return {
        "evidence": {**before, "reasons": reasons},
        "counts": {"verdict": before["verdict"], "round": state["round"], "unchanged": True},
    }


async def _by_scores(context: Context, state: RetrievalState) -> EvidenceJudgement:
    corpus = await corpus_of(context)
    question = as_searched(state)
    idf = await idf_of(corpus, [question], scope_of(context, state.get("active_filters")))
    passages, own = await _words(context, state, corpus), own_words(state)

    async def judged(question: str, score: str) -> EvidenceJudgement:
        words = await words_by_term(corpus, question)
        judgement = judge(
            passages=passages,
            # What a cosine means depends on the embedder; the weights were fitted on the default one's.
            cosine=state["evidence_scores"].get(score) if corpus.embedder.name in CALIBRATED else None,
            terms=list(words),
            idf=idf,
            light=light_terms(words, question),
        )
        # "Wi-Fi" is three terms and one word, and a sentence in Japanese as many terms as it has pairs of letters.
        missing = (own.get(words[term], words[term]) for term in judgement.missing)
        return replace(judgement, missing=tuple(dict.fromkeys(missing)))

    judgement = await judged(question, "dense")
    # The question before is in front of this one, so its words are among those that were looked up.
    if state["queries"][0]["kind"] != TOGETHER:
        return judgement
    return either(await judged(as_asked(state), ALONE), judgement)


async def _words(context: Context, state: RetrievalState, corpus: CorpusReader) -> list[frozenset[str]]:
    """Return which terms of the question each leaf has that was found."""
    ids, external = _leaf_ids(state), state.get("external_passages") or {}
    own = [chunk_id for chunk_id in ids if chunk_id not in external]
    words = WORD.findall(as_searched(state))
    found = await occurring_in(corpus, words, own, scope_of(context, state.get("active_filters")))
    brought = [external[chunk_id] for chunk_id in ids if chunk_id in external]
    analysed = await corpus.analyse(
        [f"{passage['title']} {passage['heading']} {passage['text']}" for passage in brought]
    )
    return [*found.values(), *map(frozenset, analysed)]


def _leaf_ids(state: RetrievalState) -> list[str]:
    """Return the leaves that were found, best first; the long text of a parent would have words of any question."""
    kept = {leaf for passage in state["passages"] for leaf in passage["leaves"]}
    return [candidate["id"] for candidate in state["candidates"] if candidate["id"] in kept]


async def _by_model(context: Context, state: RetrievalState) -> EvidenceJudgement:
    chat = await model_of(context)
    if chat is None:
        msg = "grade: llm needs a chat model, and none is configured."
        raise SettingsError(msg, hint="Set `model`, or grade: scores.")
    # As much as an answer would be written from: a longer prompt would judge passages that nobody reads.
    ids = _leaf_ids(state)
    found = await chunks_of(context, state, ids)
    texts = _within([found[chunk_id] for chunk_id in ids if chunk_id in found], context.window_tokens)
    passages = wrap([(number, "", text) for number, text in enumerate(texts, start=1)], new_nonce())
    question = state["standalone_question"]
    usual = f"{passages}\n\nQuestion: {question}"
    system, user = messages(context.grade_prompt, usual, context_str=passages, query_str=question)
    reply = await chat.ask(system, user, max_tokens=120)
    verdict = parse_verdict(reply)
    if verdict.sufficient is None:
        # The scores' verdict stands then, and the answer says so.
        msg = "The model's verdict on the evidence could not be read."
        raise ModelError(msg)
    missing = (verdict.missing,) if verdict.missing else ()
    return EvidenceJudgement("enough" if verdict.sufficient else "thin", ("the model's verdict",), missing)


def _within(leaves: Sequence[Chunk], budget: int) -> list[str]:
    """Return the texts of the first leaves that fit a budget of tokens, one at least."""
    texts: list[str] = []
    for leaf in leaves:
        budget -= leaf.tokens
        if texts and budget < 0:
            break
        texts.append(leaf.text)
    return texts


def _digest(state: RetrievalState) -> str:
    """Return a digest of the passages, to recognise a round of search that finds nothing new."""
    # Sorted: another order of the same passages is nothing new to a judge.
    ids = sorted(passage["id"] for passage in state["passages"])
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]
