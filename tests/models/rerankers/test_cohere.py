"""Cohere's reranker against a stand-in that answers as the endpoint does."""

from __future__ import annotations

import pytest

from anabranch.errors import MissingKeyError, ModelError, SettingsError
from anabranch.models.rerankers.cohere import CohereReranker
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
        assert [len(call.request.body["documents"]) for call in stub.calls] == [1000, 100]
    assert len(scores) == 1100
    assert max(range(1100), key=lambda n: scores[n] or 0.0) == 3


@pytest.mark.parametrize(
    ("status", "error"), [(401, MissingKeyError), (404, SettingsError), (429, ModelError), (500, ModelError)]
)
async def test_failures_are_sorted(status: int, error: type[Exception]) -> None:
    with CohereStub(Reply("no", status=status)) as stub, pytest.raises(error):
        await CohereReranker(base_url=stub.base_url, timeout=3.0).relevance("q", ["a", "b"])


async def test_a_server_that_never_answers() -> None:
    with CohereStub(Reply(hang=True)) as stub, pytest.raises(ModelError):
        await CohereReranker(base_url=stub.base_url, timeout=0.5).relevance("q", ["a", "b"])


def test_a_missing_key_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CO_API_KEY")
    with pytest.raises(MissingKeyError, match="CO_API_KEY"):
        CohereReranker()
