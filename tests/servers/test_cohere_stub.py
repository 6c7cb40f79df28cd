"""The Cohere stub as Cohere's own client sees it."""

from __future__ import annotations

import pytest

from tests.servers import scripts
from tests.servers.cohere_stub import CohereStub, overlap
from tests.servers.scripts import Reply

cohere = pytest.importorskip("cohere", reason="the optional Cohere client is not installed")
pytestmark = pytest.mark.loopback

QUERY = "where does the river meet the sea"
DOCUMENTS = ["A kernel is compiled.", "The river does meet the sea here.", "The sea.", "Nothing."]


async def rerank(stub: CohereStub, documents: list[str] = DOCUMENTS, *, retries: int = 0, **options: int):
    async with cohere.AsyncClientV2("key", base_url=stub.base_url, timeout=60) as client:
        request = {"max_retries": retries}
        return await client.rerank(
            model="rerank-v3.5", query=QUERY, documents=documents, request_options=request, **options
        )


async def test_documents_are_ranked_by_shared_terms_and_ties_by_place() -> None:
    with CohereStub() as stub:
        reply = await rerank(stub)
        best = await rerank(stub, top_n=1)
    assert [result.index for result in reply.results] == [1, 2, 0, 3]
    assert [result.relevance_score for result in reply.results] == pytest.approx([5 / 6, 2 / 6, 0, 0])
    assert [result.index for result in best.results] == [1]
    assert [call.request.body["documents"] for call in stub.calls] == [DOCUMENTS, DOCUMENTS]
    assert [(call.request.kind, call.succeeded) for call in stub.calls] == [("rerank", True)] * 2
    assert stub.rounds() == 2


async def test_no_documents_is_a_bad_request() -> None:
    with CohereStub() as stub, pytest.raises(cohere.errors.BadRequestError, match="must not be empty"):
        await rerank(stub, [])
    assert [call.status for call in stub.calls] == [400]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (scripts.UNAUTHORISED, "UnauthorizedError"),
        (scripts.rate_limited(3), "TooManyRequestsError"),
        (scripts.BROKEN, "InternalServerError"),
    ],
)
async def test_an_error_reaches_the_client_with_its_words(reply: Reply, error: str) -> None:
    with CohereStub(reply) as stub, pytest.raises(getattr(cohere.errors, error)) as raised:
        await rerank(stub)
    assert raised.value.status_code == reply.status
    assert raised.value.body["message"] == reply.text


async def test_a_client_that_retries_is_seen_each_time() -> None:
    refusal = Reply("slow down", status=429, headers={"Retry-After-Ms": "20"})
    with CohereStub(scripts.in_turn(refusal, "")) as stub:
        assert len((await rerank(stub, retries=1)).results) == 4
    assert [call.status for call in stub.calls] == [429, 200]


def test_overlap_counts_distinct_terms() -> None:
    assert overlap("sea sea river", "The SEA") == 0.5
    assert overlap("...", "The sea") == 0.0
