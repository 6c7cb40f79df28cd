"""Judge whether there is evidence, from scores first and from a model where one is asked for."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from langgraph.runtime import Runtime

from anabranch.envelope import new_nonce, wrap
from anabranch.errors import ModelError, SettingsError
from anabranch.links import strip_links
from anabranch.replies import parse_verdict
from anabranch.sufficiency import Judgement, judge
from graph.context import Context, settle
from graph.state import Degraded, Evidence, State
from nodes.resources import chunks_of, corpus_of, model_of
from nodes.traced import Update, traced

MAX_CHARS = 1_500
MAX_MISSING = 200

_WORD = re.compile(r"\w[\w'’.,-]*\w|\w")


@traced("grade")
async def grade(state: State, runtime: Runtime[Context]) -> Update:
    """Say 'enough', 'thin' or 'nothing', why, and what is missing; a round that brings nothing new ends the search."""
    context = settle(state.get("settings"), runtime)
    degraded: list[Degraded] = []
    if context.grade == "none" and state["passages"]:
        judgement = Judgement("enough", ("grade: none was asked for",), ())
    else:
        judgement = await _by_scores(context, state)
    if context.grade == "llm" and judgement.verdict != "nothing":
        try:
            judgement = await _by_model(context, state)
        except ModelError as error:
            degraded.append(Degraded(step="grade", reason=error.message))
    digest = _digest(state)
    again = state["round"] > 1
    evidence = Evidence(
        verdict=judgement.verdict,
        reasons=list(judgement.reasons),
        missing=", ".join(judgement.missing)[:MAX_MISSING],
        digest=digest,
        unchanged=again and state["evidence"]["digest"] == digest,
    )
    if evidence["unchanged"]:
        evidence["reasons"].append("another round found the same passages")
    return {
        "evidence": evidence,
        "degraded": degraded,
        "counts": {"verdict": evidence["verdict"], "round": state["round"]},
    }


async def _by_scores(context: Context, state: State) -> Judgement:
    corpus = await corpus_of(context)
    found = await chunks_of(context, state, [passage["id"] for passage in state["passages"]], corpus=corpus)
    surface = {term: word for word in _WORD.findall(state["standalone"]) for term in await corpus.analyse(word)}
    seen = [frozenset(await corpus.analyse(f"{chunk.title} {chunk.heading} {chunk.text}")) for chunk in found.values()]
    judgement = judge(
        passages=seen,
        cosine=state["signals"].get("dense"),
        terms=list(surface),
        idf=await corpus.idf([state["standalone"]]),
    )
    return replace(judgement, missing=tuple(surface[term] for term in judgement.missing))


async def _by_model(context: Context, state: State) -> Judgement:
    chat = await model_of(context)
    if chat is None:
        msg = "grade: llm needs a chat model, and none is configured."
        raise SettingsError(msg, hint="Set `model`, or grade: scores.")
    found = await chunks_of(context, state, [passage["id"] for passage in state["passages"]])
    texts = [found[passage["id"]].text[:MAX_CHARS] for passage in state["passages"] if passage["id"] in found]
    passages = wrap([(number, "", text) for number, text in enumerate(texts, start=1)], new_nonce())
    reply = await chat.ask(context.grade_prompt, f"{passages}\n\nQuestion: {state['standalone']}", max_tokens=120)
    verdict = parse_verdict(reply)
    if verdict.sufficient is None:
        msg = "The model's verdict on the evidence could not be read."
        raise ModelError(msg)
    missing = strip_links(verdict.missing)
    return Judgement(
        "enough" if verdict.sufficient else "thin", ("the model's verdict",), (missing,) if missing else ()
    )


def _digest(state: State) -> str:
    """Name a set of passages, so that a round which brings nothing new can be told."""
    ids = sorted(passage["id"] for passage in state["passages"])
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]
