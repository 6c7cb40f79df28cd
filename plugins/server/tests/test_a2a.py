"""Another agent speaks to `anabranch serve`, through the official client of the Agent2Agent protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
import yaml

pytest.importorskip("a2a", reason="the extra `a2a` is not installed")

from a2a.client import Client, ClientConfig, create_client
from a2a.helpers import get_artifact_text, get_data_parts, get_message_text, new_data_part, new_text_message
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils import errors

from anabranch.ingestion.pipeline import ingest
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from plugins.server.tests.serve_process import serving
from tests.graph.replies import model
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

KEYS = {name: new_key() for name in ("alice", "eve")}
SALARY = "91000"
QUESTION = "What is the salary of the director?"


def _slowly(request: Any) -> Reply:
    return Reply(f"The salary of the director is {SALARY} crowns a year [1].", delay=3.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("agents")
    (home / "hr.md").write_text(f"# Pay\n\nThe salary of the director is {SALARY} crowns a year.\n")
    ingest([home / "hr.md"], home / "corpus", access=("hr",))
    keys = [{"identity": name, "sha256": digest_of_secret(key)} for name, key in KEYS.items()]
    keys[0]["access"] = ["hr"]
    (home / "auth.yaml").write_text(yaml.safe_dump({"keys": keys}))
    with serving(home, ANABRANCH_AUTH=str(home / "auth.yaml")) as process:
        yield process.url


@asynccontextmanager
async def speaking(server: str, who: str, *, streaming: bool = False) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {KEYS[who]}"}
    async with httpx.AsyncClient(headers=headers, timeout=120) as http:
        yield await create_client(server, ClientConfig(streaming=streaming, httpx_client=http))


def asking(text: str = QUESTION, **more: Any) -> SendMessageRequest:
    return SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER, **more))


async def told(client: Client, request: SendMessageRequest) -> Task:
    (response,) = [each async for each in client.send_message(request)]
    return response.task


async def test_the_card_says_what_there_is_and_what_it_takes(server: str) -> None:
    async with httpx.AsyncClient(base_url=server, timeout=120) as http:
        card = (await http.get("/.well-known/agent-card.json")).json()
        assert [(each["url"], each["protocolVersion"]) for each in card["supportedInterfaces"]] == [
            (f"{server}/a2a", "1.0"),
            (f"{server}/a2a", "0.3"),
        ]
        assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "bearer"
        for headers in ({}, {"Authorization": "Bearer mallory"}):
            refused = await http.post("/a2a", json={"jsonrpc": "2.0", "id": 1, "method": "GetTask"}, headers=headers)
            assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")


async def test_an_answer_is_an_artifact_of_words_and_of_sources_and_each_sees_their_own(server: str) -> None:
    async with speaking(server, "alice") as alice, speaking(server, "eve") as eve:
        task = await told(alice, asking())
        assert task.status.state == TaskState.TASK_STATE_COMPLETED
        (artifact,) = task.artifacts
        assert SALARY in get_artifact_text(artifact)
        (data,) = get_data_parts(artifact.parts)
        (cited,) = data["citations"]
        assert (cited["source"], cited["grade"]) == ("hr.md", "quoted")
        assert SALARY in cited["quote"]
        assert not data["abstained"]
        assert (await alice.get_task(GetTaskRequest(id=task.id))).artifacts == task.artifacts

        hers = await told(eve, asking())
        assert SALARY not in repr(hers)
        assert get_data_parts(hers.artifacts[0].parts)[0]["abstained"]
        for refused in (
            eve.get_task(GetTaskRequest(id=task.id)),
            eve.cancel_task(CancelTaskRequest(id=task.id)),
            told(eve, asking(task_id=task.id)),
        ):
            with pytest.raises(errors.TaskNotFoundError):
                await refused
        with pytest.raises(errors.InvalidParamsError, match="taken"):
            await told(eve, asking("And in what?", context_id=task.context_id))


async def test_a_context_is_a_conversation(server: str) -> None:
    async with speaking(server, "alice") as client:
        first = await told(client, asking(context_id=str(uuid4())))
        second = await told(client, asking("And how often?", context_id=first.context_id))
        assert (second.context_id, second.id != first.id) == (first.context_id, True)
        async with httpx.AsyncClient(
            base_url=server, timeout=120, headers={"Authorization": f"Bearer {KEYS['alice']}"}
        ) as http:
            state = (await http.get(f"/threads/{first.context_id}/state")).json()
        assert len(state["values"]["messages"]) == 4


async def test_a_stream_tells_the_steps_and_then_the_answer(server: str) -> None:
    async with speaking(server, "alice", streaming=True) as client:
        said = [each async for each in client.send_message(asking())]
    assert said[0].WhichOneof("payload") == "task"
    steps = [get_message_text(each.status_update.status.message) for each in said if each.HasField("status_update")]
    assert {"begin", "retrieve", "cite"} <= set(steps)
    assert SALARY in get_artifact_text(said[-2].artifact_update.artifact)
    assert said[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED


async def test_an_agent_of_the_version_before_is_understood(server: str) -> None:
    message = {"role": "user", "messageId": "1", "parts": [{"kind": "text", "text": QUESTION}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    headers = {"Authorization": f"Bearer {KEYS['alice']}"}
    async with httpx.AsyncClient(base_url=server, headers=headers, timeout=120) as http:
        task = (await http.post("/a2a", json=body)).json()["result"]
    words, sources = task["artifacts"][0]["parts"]
    assert (task["status"]["state"], words["kind"], sources["kind"]) == ("completed", "text", "data")
    assert SALARY in words["text"]
    assert SALARY in sources["data"]["citations"][0]["quote"]


async def test_what_cannot_be_done_is_said_in_the_protocols_own_errors(server: str) -> None:
    picture = asking()
    picture.message.parts.append(new_data_part({"a": 1}))
    async with speaking(server, "alice") as client:
        with pytest.raises(errors.TaskNotFoundError):
            await client.get_task(GetTaskRequest(id="nothing"))
        with pytest.raises(errors.ContentTypeNotSupportedError):
            await told(client, picture)
        with pytest.raises(errors.UnsupportedOperationError):
            await client.list_tasks(ListTasksRequest())
        ended = await told(client, asking(" "))
        assert ended.status.state == TaskState.TASK_STATE_FAILED
        assert "The question is empty" in get_message_text(ended.status.message)
        with pytest.raises(errors.TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=ended.id))


async def test_a_task_goes_on_unread_can_be_followed_and_stopped(tmp_path: Any) -> None:
    (tmp_path / "hr.md").write_text(f"# Pay\n\nThe salary of the director is {SALARY} crowns a year.\n")
    ingest([tmp_path / "hr.md"], tmp_path / "corpus")
    at_once = SendMessageConfiguration(return_immediately=True)
    with OpenAIStub(model(create=_slowly)) as stub:
        variables = {
            "ANABRANCH_MODEL": "openai:stub",
            "ANABRANCH_BASE_URL": stub.base_url,
            "ANABRANCH_STRATEGY": "none",
        }
        with serving(tmp_path, **variables) as process:
            async with (
                speaking(process.url, "alice") as client,
                speaking(process.url, "alice", streaming=True) as reader,
            ):
                request = asking()
                request.configuration.CopyFrom(at_once)
                task = await told(client, request)
                assert task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
                followed = [each async for each in reader.subscribe(SubscribeToTaskRequest(id=task.id))]
                assert followed[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
                assert SALARY in get_artifact_text((await client.get_task(GetTaskRequest(id=task.id))).artifacts[0])

                request.message.message_id = str(uuid4())
                other = await told(client, request)
                while not stub.unfinished:
                    await asyncio.sleep(0.05)
                stopped = await client.cancel_task(CancelTaskRequest(id=other.id))
                assert stopped.status.state == TaskState.TASK_STATE_CANCELED
                assert not stopped.artifacts
