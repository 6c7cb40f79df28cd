"""Further checks of an answer: the words that the model says support a claim, and a judge of what follows from them."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch.agent.nodes.claim_judge import DOUBTS, JUDGED
from anabranch.agent.nodes.settings import Context
from anabranch.citations.verification import CHECKED
from anabranch.types import Judgement
from tests.graph.inside import graph
from tests.graph.replies import model, passages_in, step_of, unconfirmed
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN, Reply, Script

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


def _says(word: str, *, of: str, else_: str = "Yes.") -> Script:
    """Reply with a word where the statement begins with some words, and with another where it does not."""
    return lambda request: Reply(word if f"Statement: {of}" in request.user else else_)


async def test_the_judge_is_asked_about_each_claim_with_the_question_and_the_words_around_it(river: str) -> None:
    with OpenAIStub(model(create=TWO)) as stub:
        state = await _ask(river, stub, verify="llm")
        requests = _requests(stub, "judge")
    assert len(requests) == len(state["citations"]) == 2
    for citation in state["citations"]:
        (request,) = [each for each in requests if f"Statement: {citation['claim']}" in each.user]
        assert f"Question: {QUESTION}" in request.user
        shown = " ".join(" ".join(passages_in(request).values()).split())
        assert " ".join(citation["quote"].split()) in shown
        assert len(shown) > len(citation["quote"])
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", "entailed"]
    assert state["verification"]["checked"] == JUDGED["llm"]
    assert state["usage"]["calls"] == 3


@pytest.mark.parametrize("form", ["plain", "cited"])
async def test_what_the_judge_does_not_find_is_marked_and_shown(form: str, river: str) -> None:
    with OpenAIStub(model(create=TWO, judge=_says("No, it does not.", of="The relief"))) as stub:
        state = await _ask(river, stub, verify="llm", answer_form=form)
    (citation,) = state["citations"]
    first, second = TWO.split(". ")
    assert (citation["claim"], citation["judged"]) == (f"{first}.", "entailed")
    assert state["answer"].startswith(f"{first}. [1] {second} [?]")
    (doubted,) = state["unconfirmed"]
    assert (doubted["text"], doubted["reason"]) == (second, DOUBTS["not_said"])
    assert "relief channel" in doubted["nearest"]
    assert state["status"] == "answered"


async def test_the_yes_of_the_judge_lifts_a_claim_that_words_could_not_place(river: str) -> None:
    claim = "Water is led past the barrier through an artificial waterway."
    with OpenAIStub(model(create=claim)) as stub:
        assert unconfirmed(await _ask(river, stub)) == [claim]
        state = await _ask(river, stub, verify="llm")
        (request,) = _requests(stub, "judge")
    assert state["unconfirmed"] == []
    (citation,) = state["citations"]
    assert (citation["claim"], citation["grade"], citation["marker"]) == (claim, "found", 1)
    assert citation["judged"] == "entailed"
    # The evidence is what the judge was shown.
    assert " ".join(citation["quote"].split()) in " ".join(passages_in(request)[1].split())
    assert state["status"] == "answered"
    assert state["answer"] == f"{claim} [1]"


async def test_a_number_that_is_in_no_passage_is_nothing_that_a_judge_could_find(river: str) -> None:
    with OpenAIStub(model(create="Water is led past the barrier through 7341 pipes.")) as stub:
        state = await _ask(river, stub, verify="llm")
        assert _requests(stub, "judge") == []
    (claim,) = state["unconfirmed"]
    assert claim["reason"] == "7341 is in no passage"


async def test_an_answer_of_which_the_judge_finds_nothing_is_shown_as_not_confirmed(river: str) -> None:
    with OpenAIStub(model(create=TWO, judge="No.")) as stub:
        state = await _ask(river, stub, verify="llm")
    assert (state["status"], state["abstained"]) == ("not_confirmed", False)
    assert {claim["reason"] for claim in state["unconfirmed"]} == {DOUBTS["not_said"]}
    for sentence in TWO.split(". "):
        assert sentence in state["answer"]


@pytest.mark.parametrize(
    ("yes", "grades", "judged"),
    [(0.7, {"found", "quoted"}, {"entailed"}), (0.5, {"found", "quoted"}, {""}), (0.3, {"not_confirmed"}, set())],
)
async def test_probabilities_count_before_the_word(yes: float, grades: set[str], judged: set[str], river: str) -> None:
    told = Reply("Yes.", chances={"Yes": yes, "No": 1 - yes})
    with OpenAIStub(model(create=TWO, judge=told)) as stub:
        state = await _ask(river, stub, verify="llm")
        assert {each.body["top_logprobs"] for each in _requests(stub, "judge")} == {20}
    assert {citation["grade"] for citation in state["citations"]} <= grades
    assert bool(state["unconfirmed"]) == (grades == {"not_confirmed"})
    assert {citation["judged"] for citation in state["citations"]} == judged
    # In between the judge gave an answer, and the words decide.
    assert state["degraded"] == []


async def test_a_server_that_knows_no_probabilities_is_asked_without(river: str) -> None:
    def refusing(request: Request) -> Reply:
        return Reply("logprobs are not supported", status=400) if "logprobs" in request.body else Reply("Yes.")

    with OpenAIStub(model(create=TWO, judge=refusing)) as stub:
        state = await _ask(river, stub, verify="llm")
        first = len(_requests(stub, "judge"))
        await _ask(river, stub, verify="llm")
        again = _requests(stub, "judge")[first:]
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", "entailed"]
    assert state["degraded"] == []
    assert len(again) == 2
    assert not any("logprobs" in request.body for request in again)


async def test_a_reply_that_is_neither_yes_nor_no_leaves_what_the_words_say(river: str) -> None:
    with OpenAIStub(model(create=TWO, judge=_says("Well, that depends.", of="The relief"))) as stub:
        state = await _ask(river, stub, verify="llm")
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", ""]
    (said,) = [item["reason"] for item in state["degraded"]]
    assert said.startswith("verify: llm was made of 1 of 2 claims")


class _Inference:
    """Finds what begins with some words contradicted, and all else entailed."""

    def __init__(self, against: str) -> None:
        self.against, self.asked = against, list[tuple[str, str]]()

    def judge(self, pairs: list[tuple[str, str]]) -> list[Judgement]:
        self.asked += pairs
        return ["contradicted" if claim.startswith(self.against) else "entailed" for claim, _ in pairs]


async def test_a_model_of_inference_lifts_and_marks_without_a_call(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inference = _Inference("The relief channel")
    monkeypatch.setattr("anabranch.agent.nodes.claim_judge.load_entailment", lambda _: inference)
    lifted = "Water is led past the barrier through an artificial waterway."
    with OpenAIStub(model(create=f"{TWO} {lifted}")) as stub:
        state = await _ask(river, stub, verify="nli", verify_model="a folder")
        assert len(stub.calls) == 1
    assert [citation["claim"] for citation in state["citations"]] == [f"{TWO.partition('. ')[0]}.", lifted]
    (doubted,) = state["unconfirmed"]
    assert (doubted["text"], doubted["reason"]) == (TWO.partition(". ")[2], DOUBTS["contradicted"])
    assert state["verification"]["checked"] == JUDGED["nli"]
    assert all(words for _, words in inference.asked)


async def test_a_call_that_fails_leaves_its_claim_alone_unjudged(river: str) -> None:
    def one(request: Request) -> Reply:
        return Reply(status=500) if "Statement: The relief channel" in request.user else Reply("Yes.")

    with OpenAIStub(model(create=TWO, judge=one)) as stub:
        state = await _ask(river, stub, verify="llm")
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", ""]
    assert [item["step"] for item in state["degraded"]] == ["cite"]


async def test_claims_that_no_call_is_left_for_keep_what_the_words_say(river: str) -> None:
    with OpenAIStub(model(create=TWO)) as stub:
        state = await _ask(river, stub, verify="llm", max_model_calls=2)
        assert len(_requests(stub, "judge")) == 1
    assert [citation["judged"] for citation in state["citations"]] == ["entailed", ""]
    (said,) = [item["reason"] for item in state["degraded"] if item["step"] == "cite"]
    assert said.startswith("verify: llm was made of 1 of 2 claims")


async def test_a_check_that_no_call_is_left_for_is_said(river: str) -> None:
    with OpenAIStub(model(create=TWO)) as stub:
        state = await _ask(river, stub, verify="llm", max_model_calls=1)
        assert _requests(stub, "judge") == []
    (said,) = [item["reason"] for item in state["degraded"] if item["step"] == "cite"]
    assert said.startswith("verify: llm was not made")
    assert state["citations"]
    assert {citation["judged"] for citation in state["citations"]} == {""}
    assert state["verification"]["checked"] == CHECKED


async def test_a_judge_that_fails_leaves_what_the_words_say(river: str) -> None:
    with OpenAIStub(model(create=TWO, judge=BROKEN)) as stub:
        state = await _ask(river, stub, verify="llm")
    assert [item["step"] for item in state["degraded"]] == ["cite"]
    assert len(state["citations"]) == 2
    assert state["verification"]["checked"] == CHECKED


@pytest.mark.parametrize("calls", [2, 3, 4])
async def test_asking_for_words_and_judging_keep_to_the_limit_together(calls: int, river: str) -> None:
    words = _words("carries a third of a flood around the weir", "Three measures protect the town")
    with OpenAIStub(model(create=UNPLACED, quote=words)) as stub:
        state = await _ask(river, stub, verify="llm", answer_form="quoted", max_model_calls=calls)
        assert len(stub.calls) == state["usage"]["calls"] == calls
        assert len(_requests(stub, "judge")) == calls - 2
    assert len(state["citations"]) == 2
    assert [item["step"] for item in state["degraded"]] == ["cite"] * (calls < 4)


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
        assert citation["grade"] == "found"
    assert not state["abstained"]
    assert unconfirmed(state) == []


@pytest.mark.parametrize(
    "quote", ["The channel was dug by giants in a single night", "Jättar grävde kanalen på en enda natt"]
)
async def test_words_that_stand_in_no_passage_prove_nothing(quote: str, river: str) -> None:
    with OpenAIStub(model(create=UNPLACED, quote=_words(quote, quote))) as stub:
        state = await _ask(river, stub, answer_form="quoted")
        assert len(_requests(stub, "quote")) == 1
    assert state["status"] == "not_confirmed"
    assert state["citations"] == []
    assert len(unconfirmed(state)) == 2


async def test_words_without_the_number_of_the_claim_do_not_prove_it(river: str) -> None:
    claim = "Kanalen från 1877 leder bort vatten."
    with OpenAIStub(model(create=claim, quote=_words("carries a third of a flood around the weir"))) as stub:
        state = await _ask(river, stub, answer_form="quoted")
    assert unconfirmed(state) == [claim]


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
    assert state["status"] == "not_confirmed"


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


@pytest.mark.parametrize("calls", [2, 3])
async def test_a_call_that_is_made_again_keeps_to_the_limit(calls: int, river: str) -> None:
    thoughts = Reply(f"<think>{'hm ' * 5000}</think>")
    with OpenAIStub(model(create=UNPLACED, quote=thoughts)) as stub:
        await _ask(river, stub, answer_form="quoted", max_model_calls=calls)
        assert len(stub.calls) == calls
        assert len(_requests(stub, "quote")) == calls - 1


async def test_a_claim_that_is_too_long_is_said_not_to_be_checked(river: str) -> None:
    long = " ".join(f"word{number}" for number in range(3000))
    with OpenAIStub(model(create=f"{TWO} And {long}.")) as stub:
        state = await _ask(river, stub, answer_tokens=8_000)
    assert [each["reason"] for each in state["degraded"]] == [
        "1 of 3 claims were not checked: they are too long, or no time was left for them"
    ]
    assert state["verification"]["not_confirmed"] == 1
    assert len(state["citations"]) == 2


@pytest.mark.work(60)
@pytest.mark.parametrize("atom", ["1", "Ida ", "&lt;", "\n", "-"])
async def test_a_reply_of_one_repeated_piece_is_answered(river: str, atom: str) -> None:
    with OpenAIStub(model(create=f"The relief channel. {atom * (60_000 // len(atom))}")) as stub:
        state = await _ask(river, stub)
    assert state["trace"][-1]["node"] in {"cite", "abstain", "finish"}
