"""Cohere's reranker against a stand-in that answers as the endpoint does."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from anabranch.errors import MissingExtraError, MissingKeyError, ModelError, RequestRefusedError, SettingsError
from anabranch.models.rerankers.cohere import CohereReranker
from anabranch.models.usage import metered
from tests.servers import scripts
from tests.servers.cohere_stub import CohereStub
from tests.servers.loopback import Reply

pytestmark = pytest.mark.loopback


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CO_API_KEY", "key")


async def test_scores_come_back_by_index_and_blank_texts_are_not_sent() -> None:
    texts = ["mill wheel", "", "weir of stone and oak", "   ", "the weir"]
    with CohereStub() as stub:
        scores = await CohereReranker(base_url=stub.base_url).relevance("weir stone", texts)
        (call,) = stub.calls
    assert call.request.body["documents"] == ["mill wheel", "weir of stone and oak", "the weir"]
    assert scores[1] is None
    assert scores[3] is None
    assert scores[2] > scores[4] > scores[0]  # type: ignore[operator]


async def test_nothing_to_rank_is_not_sent() -> None:
    with CohereStub() as stub:
        assert await CohereReranker(base_url=stub.base_url).relevance("q", ["", " "]) == [None, None]
        assert stub.calls == []


async def test_more_than_a_thousand_documents_go_in_several_requests() -> None:
    with CohereStub() as stub:
        scores = await CohereReranker(base_url=stub.base_url).relevance("w3", [f"w{n}" for n in range(1100)])
        assert sorted(len(call.request.body["documents"]) for call in stub.calls) == [100, 1000]
    assert len(scores) == 1100
    assert max(range(1100), key=lambda n: scores[n] or 0.0) == 3


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, MissingKeyError), (404, SettingsError), (400, RequestRefusedError), (429, ModelError), (500, ModelError)],
)
async def test_failures_are_sorted(status: int, error: type[Exception]) -> None:
    with CohereStub(Reply("no", status=status)) as stub, pytest.raises(error):
        await CohereReranker(base_url=stub.base_url, timeout=60.0, retries=1).relevance("q", ["a", "b"])


async def test_a_server_that_never_answers() -> None:
    with CohereStub(Reply(hang=True)) as stub, pytest.raises(ModelError):
        await CohereReranker(base_url=stub.base_url, timeout=0.5).relevance("q", ["a", "b"])


@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_a_missing_key_is_said_at_once(blank: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CO_API_KEY")
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    if blank is not None:
        monkeypatch.setenv("CO_API_KEY", blank)
    with pytest.raises(MissingKeyError, match="CO_API_KEY"):
        CohereReranker()


def test_a_missing_package_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cohere", None)
    monkeypatch.setattr("anabranch.models.rerankers.cohere.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"anabranch\[cohere\]"):
        CohereReranker()


async def test_the_second_name_of_the_key_and_the_model_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CO_API_KEY")
    monkeypatch.setenv("COHERE_API_KEY", " other\n")
    with CohereStub() as stub:
        await CohereReranker("rerank-v3.5", base_url=stub.base_url).relevance("q", ["a", "b"])
        (call,) = stub.calls
    assert call.request.headers["authorization"] == "Bearer other"
    assert call.request.body["model"] == "rerank-v3.5"
    assert call.request.body["top_n"] == 2


@pytest.mark.parametrize("failure", [scripts.rate_limited(0.01), scripts.BROKEN, Reply("busy", status=503)])
async def test_a_passing_failure_is_tried_again(failure: Reply) -> None:
    with CohereStub(scripts.in_turn(failure, "")) as stub:
        scores = await CohereReranker(base_url=stub.base_url, retries=1).relevance("weir", ["weir", "mill"])
        assert [call.status for call in stub.calls] == [failure.status, 200]
    assert scores == [1.0, 0.0]


async def test_retries_are_as_many_as_were_asked_for() -> None:
    with CohereStub(scripts.rate_limited(0.01)) as stub:
        with pytest.raises(ModelError, match=r"429|TooManyRequests"):
            await CohereReranker(base_url=stub.base_url, retries=0).relevance("q", ["a", "b"])
        assert len(stub.calls) == 1


async def test_a_server_that_wants_a_long_wait_is_not_waited_for() -> None:
    with CohereStub(scripts.rate_limited(50)) as stub, pytest.raises(ModelError, match=r"within 0\.5 s"):
        await CohereReranker(base_url=stub.base_url, timeout=0.5).relevance("q", ["a", "b"])


def _ranked(*results: Any) -> Reply:
    named = [
        {key: value for key, value in (("index", index), ("relevance_score", score)) if value != "absent"}
        for index, score in results
    ]
    return Reply(raw=json.dumps({"id": "x", "results": named, "meta": {}}).encode())


@pytest.mark.parametrize(
    ("results", "scores"),
    [
        ([(1, 0.9), (0, 0.2), (2, 0.1)], [0.2, 0.9, 0.1]),
        ([(1, 0.9), (1, 0.3), (0, 0.2)], [0.2, 0.9, None]),
        ([(7, 0.9), (-1, 0.8), (0, 0.2)], [0.2, None, None]),
        ([("absent", 0.9), (None, 0.8), (2, 0.1)], [None, None, 0.1]),
        ([(0, "absent"), (1, None), (2, 0.1)], [None, None, 0.1]),
        ([(0, float("nan")), (1, float("inf")), (2, 0.1)], [None, None, 0.1]),
        ([], [None, None, None]),
    ],
)
async def test_indexes_that_are_wrong_shift_no_score(results: list[Any], scores: list[float | None]) -> None:
    with CohereStub(_ranked(*results)) as stub, metered() as meter:
        found = await CohereReranker(base_url=stub.base_url, retries=0).relevance("q", ["a", "b", "c"])
    assert found == scores
    assert (meter.repairs > 0) == (None in scores)
    assert meter.calls == 1


@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b"{}", b'{"results": null}', b'{"results": 3}', b"<html>"])
async def test_a_reply_that_is_none_leaves_everything_unjudged_or_is_a_failure(raw: bytes) -> None:
    with CohereStub(Reply(raw=raw)) as stub:
        reranker = CohereReranker(base_url=stub.base_url, retries=0, timeout=60.0)
        try:
            assert await reranker.relevance("q", ["a", "b"]) == [None, None]
        except ModelError as error:
            assert "Cohere" in error.message


async def test_one_failing_request_leaves_the_scores_of_the_others() -> None:
    def small_only(request: Any) -> Reply:
        return Reply() if len(request.body["documents"]) == 100 else scripts.BROKEN

    with CohereStub(small_only) as stub, metered() as meter:
        reranker = CohereReranker(base_url=stub.base_url, retries=0)
        scores = await reranker.relevance("w1050", [f"w{n}" for n in range(1100)])
    assert scores[:1000] == [None] * 1000
    assert scores[1050] == 1.0
    assert len(meter.failures) == 1


async def test_texts_that_json_cannot_carry() -> None:
    with CohereStub() as stub:
        scores = await CohereReranker(base_url=stub.base_url).relevance("weir \ud800", ["weir \udfff", "x" * 50_000])
        (call,) = stub.calls
    assert scores[0] == 1.0
    assert len(call.request.body["documents"][1]) == 16_000
