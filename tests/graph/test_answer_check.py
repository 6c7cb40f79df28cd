"""Further checks of an answer: the words that the model says support a claim, and a judge of what follows from them."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.answer_check import JUDGED
from anabranch.citations.verification import CHECKED
from anabranch.synthesis.verbatim_text import VERBATIM
from tests.graph.inside import graph
from tests.graph.replies import model, passages_in, step_of
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN

pytestmark = pytest.mark.loopback

QUESTION = "What measures protect the town from floods on the Halden?"
TWO = "Three measures protect the town. The relief channel carries a third of a flood around the weir."
UNPLACED = "Kanalen leder bort vatten. Muren hejdar resten."
"""Two claims in a language that shares no word with the passages."""


async def _ask(river: str, stub: OpenAIStub, **settings: Any) -> dict[str, Any]:
    server = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0, "strategy": "none"}
    server["answer_form"] = "cited"
    return await graph.ainvoke({"question": QUESTION}, context=Context(corpus=river, **{**server, **settings}))


def _requests(stub: OpenAIStub, step: str) -> list[Request]:
    return [call.request for call in stub.calls if step_of(call.request) == step]


async def test_the_judge_is_asked_once_for_all_claims(river: str) -> None:
    with OpenAIStub(model(create=TWO)) as stub:
        state = await _ask(river, stub, verify="llm")
        (request,) = _requests(stub, "judge")
    pairs = list(passages_in(request).values())
    assert len(pairs) == len(state["citations"]) == 2
    for text, citation in zip(pairs, state["citations"], strict=True):
        assert text.startswith(f"Statement: {citation['claim']}\nEvidence: ")
        assert " ".join(citation["quote"].split()) in " ".join(text.split())
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", "entailed"]
    assert state["verification"]["checked"] == JUDGED["llm"]
    assert state["usage"]["calls"] == 2


async def test_what_the_judge_finds_contradicted_loses_its_evidence_and_is_said(river: str) -> None:
    with OpenAIStub(model(create=TWO, judge="1: entailed\n2: contradicted")) as stub:
        state = await _ask(river, stub, verify="llm")
    (citation,) = state["citations"]
    first, second = TWO.split(". ")
    assert citation["claim"] == f"{first}."
    assert state["answer"] == f"{first}. [1] {second} [?]"
    assert state["unsupported"] == [second]
    (contradicted,) = state["verification"]["contradicted"]
    assert contradicted["claim"] == second
    assert "relief channel" in contradicted["quote"]


@pytest.mark.parametrize("reply", ["2: entailed", "1: unsaid\n2: entailed", "I think so.\n2) Entailed, clearly"])
async def test_what_the_judge_leaves_out_counts_as_unsaid(reply: str, river: str) -> None:
    with OpenAIStub(model(create=TWO, judge=reply)) as stub:
        state = await _ask(river, stub, verify="llm")
    assert state["unsupported"] == [f"{TWO.partition('. ')[0]}."]
    assert state["verification"]["contradicted"] == []
    assert [citation["judged"] for citation in state["citations"]] == ["entailed"]


async def test_an_answer_that_the_judge_takes_apart_is_no_answer(river: str) -> None:
    with OpenAIStub(model(create=TWO, judge="1: contradicted\n2: contradicted")) as stub:
        state = await _ask(river, stub, verify="llm")
    assert state["abstained"]
    assert state["answer"].startswith("The model answered, but no passage was found that says so:")
    assert len(state["verification"]["contradicted"]) == 2


async def test_a_model_that_is_asked_plainly_judges_one_claim_at_a_time(river: str) -> None:
    def one(request: Request) -> Reply:
        return Reply("No, it does not." if "Statement: The relief channel" in request.user else "Yes.")

    with OpenAIStub(model(create=TWO, judge_one=one)) as stub:
        state = await _ask(river, stub, verify="llm", answer_form="plain")
        requests = _requests(stub, "judge_one")
        assert _requests(stub, "judge") == []
    assert all(len(passages_in(request)) == 1 for request in requests)
    assert state["usage"]["calls"] == 1 + len(requests) == 3
    (citation,) = state["citations"]
    first, second = TWO.split(". ")
    assert (citation["claim"], citation["judged"]) == (f"{first}.", "entailed")
    assert state["unsupported"] == [second]


async def test_a_call_that_fails_leaves_its_claim_alone_unjudged(river: str) -> None:
    def one(request: Request) -> Reply:
        return Reply(status=500) if "Statement: The relief channel" in request.user else Reply("Yes.")

    with OpenAIStub(model(create=TWO, judge_one=one)) as stub:
        state = await _ask(river, stub, verify="llm", answer_form="plain")
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", ""]
    assert [item["step"] for item in state["degraded"]] == ["cite"]


async def test_claims_that_no_call_is_left_for_keep_what_the_words_say(river: str) -> None:
    with OpenAIStub(model(create=TWO)) as stub:
        state = await _ask(river, stub, verify="llm", answer_form="plain", max_model_calls=2)
        assert len(_requests(stub, "judge_one")) == 1
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", ""]
    (said,) = [item["reason"] for item in state["degraded"] if item["step"] == "cite"]
    assert said.startswith("verify: llm was made of 1 of 2 claims")


@pytest.mark.parametrize("limits", [{"model": None}, {"max_model_calls": 1}])
async def test_a_check_that_nobody_can_make_is_said(limits: dict[str, Any], river: str) -> None:
    with OpenAIStub(model(create=TWO)) as stub:
        state = await _ask(river, stub, verify="llm", **limits)
        assert _requests(stub, "judge") == []
    (said,) = [item["reason"] for item in state["degraded"] if item["step"] == "cite"]
    assert said.startswith("verify: llm was not made")
    assert state["citations"]
    assert {citation["judged"] for citation in state["citations"]} == {""}
    # Without a model the answer is made of the passages' own sentences.
    assert state["verification"]["checked"] == (CHECKED if "max_model_calls" in limits else VERBATIM)


async def test_a_judge_that_fails_leaves_what_the_words_say(river: str) -> None:
    with OpenAIStub(model(create=TWO, judge=BROKEN)) as stub:
        state = await _ask(river, stub, verify="llm")
    assert [item["step"] for item in state["degraded"]] == ["cite"]
    assert len(state["citations"]) == 2
    assert state["verification"]["checked"] == CHECKED


@pytest.mark.parametrize("calls", [2, 3])
async def test_asking_for_words_and_judging_keep_to_the_limit_together(calls: int, river: str) -> None:
    words = _words("carries a third of a flood around the weir", "Three measures protect the town")
    with OpenAIStub(model(create=UNPLACED, quote=words)) as stub:
        state = await _ask(river, stub, verify="llm", answer_form="quoted", max_model_calls=calls)
        assert len(stub.calls) == state["usage"]["calls"] == calls
        assert len(_requests(stub, "judge")) == calls - 2
    assert len(state["citations"]) == 2
    assert [item["step"] for item in state["degraded"]] == ["cite"] * (3 - calls)


def _words(*quotes: str) -> Reply:
    return Reply("\n".join(f'{number}: "{quote}"' for number, quote in enumerate(quotes, start=1)))


async def test_one_call_asks_for_the_words_of_all_claims_that_were_not_placed(river: str) -> None:
    words = ["carries a third of a flood around the weir", "Three measures protect the town"]
    with OpenAIStub(model(create=UNPLACED, quote=_words(*words))) as stub:
        state = await _ask(river, stub, answer_form="quoted")
        (request,) = _requests(stub, "quote")
    first, second = (f"{claim.rstrip('.')}." for claim in UNPLACED.split(". "))
    assert f"Statements:\n1. {first}\n2. {second}\n\n" in request.user
    assert [citation["claim"] for citation in state["citations"]] == [first, second]
    for citation, quote in zip(state["citations"], words, strict=True):
        assert quote in " ".join(citation["quote"].split())
        assert citation["grade"] == "supported"
    assert not state["abstained"]
    assert state["unsupported"] == []


@pytest.mark.parametrize(
    "quote", ["The channel was dug by giants in a single night", "Jättar grävde kanalen på en enda natt"]
)
async def test_words_that_stand_in_no_passage_prove_nothing(quote: str, river: str) -> None:
    with OpenAIStub(model(create=UNPLACED, quote=_words(quote, quote))) as stub:
        state = await _ask(river, stub, answer_form="quoted")
        assert len(_requests(stub, "quote")) == 1
    assert state["abstained"]
    assert state["citations"] == []
    assert len(state["unsupported"]) == 2


async def test_words_without_the_number_of_the_claim_do_not_prove_it(river: str) -> None:
    claim = "Kanalen från 1877 leder bort vatten."
    with OpenAIStub(model(create=claim, quote=_words("carries a third of a flood around the weir"))) as stub:
        state = await _ask(river, stub, answer_form="quoted")
    assert state["unsupported"] == [claim]


async def test_where_every_claim_is_placed_nobody_is_asked_for_words(river: str) -> None:
    with OpenAIStub(model(create=TWO)) as stub:
        state = await _ask(river, stub, answer_form="quoted")
        assert _requests(stub, "quote") == []
    assert len(state["citations"]) == 2


@pytest.mark.parametrize("form", ["plain", "cited", "auto"])
async def test_no_other_form_asks_for_words(form: str, river: str) -> None:
    with OpenAIStub(model(create=UNPLACED)) as stub:
        state = await _ask(river, stub, answer_form=form)
        assert _requests(stub, "quote") == []
    assert state["abstained"]


@pytest.mark.parametrize("window", [64, 3000])
async def test_words_are_asked_for_with_no_more_passages_than_one_window_holds(window: int, river: str) -> None:
    with OpenAIStub(model(create=UNPLACED, quote="")) as stub:
        settings = {"window_tokens": window, "synthesis": "map_reduce", "answer_form": "quoted"}
        state = await _ask(river, stub, **settings)
        (request,) = _requests(stub, "quote")
    shown = passages_in(request)
    assert list(shown) == list(range(1, len(shown) + 1))
    whole = {excerpt["number"] for each in state["windows"] for excerpt in each}
    assert (len(shown) < len(whole)) is (window == 64)


async def test_the_judge_is_shown_no_more_than_its_context_holds(river: str) -> None:
    with OpenAIStub(model(create=f"{TWO}\n\n" * 8)) as stub:
        settings = {"verify": "llm", "context_tokens": 1200, "window_tokens": 300, "answer_tokens": 300}
        state = await _ask(river, stub, **settings)
        (request,) = _requests(stub, "judge")
    shown, whole = len(passages_in(request)), len(state["citations"])
    assert 0 < shown < whole
    assert {citation["judged"] for citation in state["citations"]} == {"entailed", ""}
    (said,) = [item["reason"] for item in state["degraded"] if item["step"] == "cite"]
    assert said.startswith(f"verify: llm was made of {shown} of {whole} claims")


@pytest.mark.parametrize("calls", [2, 3])
async def test_a_call_that_is_made_again_keeps_to_the_limit(calls: int, river: str) -> None:
    thoughts = Reply(f"<think>{'hm ' * 5000}</think>")
    with OpenAIStub(model(create=UNPLACED, quote=thoughts)) as stub:
        await _ask(river, stub, answer_form="quoted", max_model_calls=calls)
        assert len(stub.calls) == calls
        assert len(_requests(stub, "quote")) == calls - 1


async def test_a_claim_that_is_too_long_is_said_not_to_be_checked(river: str) -> None:
    long = " ".join(f"word{number}" for number in range(300))
    with OpenAIStub(model(create=f"{TWO} And {long}.")) as stub:
        state = await _ask(river, stub)
    assert [each["reason"] for each in state["degraded"]] == [
        "1 of 3 claims were not checked: they are too long, or no time was left for them"
    ]
    assert state["verification"]["unsupported"] == 1
    assert len(state["citations"]) == 2


@pytest.mark.work(60)
@pytest.mark.parametrize("atom", ["1", "Ida ", "&lt;", "\n", "-"])
async def test_a_reply_of_one_repeated_piece_is_answered(river: str, atom: str) -> None:
    with OpenAIStub(model(create=f"The relief channel. {atom * (60_000 // len(atom))}")) as stub:
        state = await _ask(river, stub)
    assert state["trace"][-1]["node"] in {"cite", "abstain", "finish"}
