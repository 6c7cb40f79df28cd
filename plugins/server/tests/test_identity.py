"""Several people on `langgraph dev`, `anabranch serve` and Aegra: each sees exactly their own, whatever they send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import yaml

from anabranch.ingestion.pipeline import ingest
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from plugins.server.tests.aegra_server import aegra_servers
from plugins.server.tests.dev_server import dev_server
from plugins.server.tests.serve_process import serving
from tests.turn_records import turn_record

pytest.importorskip("langgraph_api", reason="the extra `server` is not installed")
pytestmark = [pytest.mark.loopback, pytest.mark.slow]

PEOPLE: dict[str, dict[str, Any]] = {
    "alice": {"access": ["hr"]},
    "bob": {"access": ["board"]},
    "eve": {},
    "rita": {"access": ["hr"], "roles": ["ingest", "ask"]},
    "root": {"access": ["hr", "board"], "roles": ["admin"]},
}
KEYS = {name: new_key() for name in PEOPLE}
SALARY, MERGER, CANTEEN = "91000", "Halden in March", "at eleven"
QUESTIONS = {
    SALARY: "What is the salary of the director?",
    MERGER: "When is the merger with Halden planned?",
    CANTEEN: "When does the canteen open?",
}


DEV, SERVE, AEGRA = "langgraph dev", "anabranch serve", "aegra"


@pytest.fixture(scope="module", params=[DEV, SERVE, AEGRA])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("people")
    texts = {
        "hr": f"The salary of the director is {SALARY} crowns a year.",
        "board": f"The merger is planned with {MERGER}.",
        "all": f"The canteen opens {CANTEEN}.",
    }
    for name, text in texts.items():
        (home / f"{name}.md").write_text(f"# Note\n\n{text}\n")
        ingest([home / f"{name}.md"], home / "corpus", access=() if name == "all" else (name,))
    (home / "inbox").mkdir()
    (home / "inbox" / "leave.md").write_text("# Leave\n\nThe director is on leave in the second week of June.\n")
    keys = [{"identity": name, "sha256": digest_of_secret(KEYS[name]), **more} for name, more in PEOPLE.items()]
    (home / "auth.yaml").write_text(yaml.safe_dump({"keys": keys}))
    variables = {
        "ANABRANCH_AUTH": str(home / "auth.yaml"),
        "ANABRANCH_LOCK": '["access"]',
        "ANABRANCH_INGEST_ROOT": str(home / "inbox"),
    }
    if kind == SERVE:
        with serving(home, **variables) as process:
            yield process.url
    elif kind == AEGRA:
        with aegra_servers(home / "code", **variables, ANABRANCH_CORPUS=str(home / "corpus")) as (one,):
            yield one.url
    else:
        with dev_server(home, **variables) as (url, _):
            yield url


@pytest.fixture
async def http(server: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server, timeout=120) as client:
        yield client


def as_(who: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[who]}"}


def call(question: str, **more: Any) -> dict[str, Any]:
    return {"assistant_id": "answer", "input": {"question": question}, **more}


async def ask(http: httpx.AsyncClient, who: str, question: str, thread: str = "", **more: Any) -> str:
    """Return all that a run says."""
    place = f"/threads/{thread}/runs/wait" if thread else "/runs/wait"
    return (await http.post(place, json=call(question, **more), headers=as_(who))).text


async def thread_of(http: httpx.AsyncClient, who: str) -> str:
    return str((await http.post("/threads", json={}, headers=as_(who))).json()["thread_id"])


async def test_each_sees_exactly_theirs(http: httpx.AsyncClient) -> None:
    seen = {
        who: {fact for fact, question in QUESTIONS.items() if fact in await ask(http, who, question)}
        for who in ("alice", "bob", "eve")
    }
    assert seen == {"alice": {SALARY, CANTEEN}, "bob": {MERGER, CANTEEN}, "eve": {CANTEEN}}


async def test_nobody_without_a_key(http: httpx.AsyncClient) -> None:
    wrong = [{}, {"Authorization": "Bearer mallory"}, {"Authorization": "Basic YWxpY2U6"}, {"x-api-key": ""}]
    # With this header LangGraph's development server lets Studio in by itself, unless that is switched off.
    wrong.append({"x-auth-scheme": "langsmith", "x-api-key": "anything"})
    for headers in wrong:
        for path, body in (
            ("/runs/wait", call(QUESTIONS[SALARY])),
            ("/threads", {}),
            ("/mcp", {}),
        ):
            reply = await http.post(path, json=body, headers=headers)
            assert reply.status_code == 401, (headers, path)
            if path == "/mcp":  # by it a client of MCP knows that it needs a token
                assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert (await http.post("/runs/wait", json=call("When?"), headers={"x-api-key": KEYS["eve"]})).status_code == 200


@pytest.mark.parametrize(
    "injected",
    [
        {"context": {"access": ["hr"]}},
        {"config": {"configurable": {"access": ["hr"]}}},
        {"config": {"configurable": {"langgraph_auth_user": {"identity": "a", "access": ["hr"], "roles": ["ask"]}}}},
        {"context": {"langgraph_auth_user": {"identity": "a", "access": ["hr"], "roles": ["ask"]}}},
        {"metadata": {"owner": "alice", "access": ["hr"]}},
        {"input": {"question": QUESTIONS[SALARY], "settings": {"access": ["hr"]}, "access": ["hr"]}},
    ],
)
async def test_what_a_caller_claims_opens_nothing(http: httpx.AsyncClient, injected: dict[str, Any]) -> None:
    body = {**call(QUESTIONS[SALARY]), **injected}
    for path in ("/runs/wait", f"/threads/{await thread_of(http, 'eve')}/runs/wait"):
        assert SALARY not in (await http.post(path, json=body, headers=as_("eve"))).text
    assert SALARY in await ask(http, "alice", QUESTIONS[SALARY], context={"access": ["hr"]})  # locked, and her own


@pytest.mark.parametrize(
    "given",
    [
        {"corpus": "/etc"},
        {"verify": "nli", "verify_model": "/etc"},
        {"rerank": "cross_encoder", "rerank_model": "/etc"},
        {"model": "openai:gpt-5", "base_url": "http://169.254.169.254/v1"},
        {"file_links": False},
    ],
)
async def test_what_names_a_place_or_an_address_is_not_the_callers(http: httpx.AsyncClient, given: Any) -> None:
    told = await ask(http, "alice", QUESTIONS[SALARY], context=given)
    assert "is fixed by the operator" in told
    assert SALARY not in told


async def test_threads_belong_to_their_owners(http: httpx.AsyncClient, kind: str) -> None:
    thread = await thread_of(http, "alice")
    assert SALARY in await ask(http, "alice", QUESTIONS[SALARY], thread)
    for who in ("eve", "root"):
        for method, place in (
            ("GET", ""),
            ("GET", "/state"),
            ("POST", "/history"),
            ("DELETE", ""),
            *([("POST", "/copy")] * (kind == DEV)),
        ):
            body = {} if method == "POST" else None
            reply = await http.request(method, f"/threads/{thread}{place}", json=body, headers=as_(who))
            assert reply.status_code in (404, 409), (who, method, place)
            assert SALARY not in reply.text
        reply = await http.post(f"/threads/{thread}/runs/wait", json=call("And in what?"), headers=as_(who))
        assert reply.status_code == 404
        found = (await http.post("/threads/search", json={"metadata": {"owner": "alice"}}, headers=as_(who))).json()
        assert thread not in [item["thread_id"] for item in found]
    # Nor can a thread be slipped to somebody else.
    await http.patch(f"/threads/{thread}", json={"metadata": {"owner": "eve"}}, headers=as_("alice"))
    assert (await http.get(f"/threads/{thread}", headers=as_("eve"))).status_code == 404
    assert (await http.get(f"/threads/{thread}", headers=as_("alice"))).status_code == 200


async def test_a_paused_run_goes_on_without_a_context_and_for_nobody_else(http: httpx.AsyncClient) -> None:
    thread = await thread_of(http, "alice")
    review = {"context": {"review": "sources"}}
    paused = json.loads(await ask(http, "alice", QUESTIONS[SALARY], thread, **review))
    ids = [passage["id"] for passage in paused["__interrupt__"][0]["value"]["passages"]]
    body = {"assistant_id": "answer", "command": {"resume": ids}}
    assert (await http.post(f"/threads/{thread}/runs/wait", json=body, headers=as_("eve"))).status_code == 404
    assert SALARY in (await http.post(f"/threads/{thread}/runs/wait", json=body, headers=as_("alice"))).text
    # Editing a state runs edges, and these have to know her as well.
    edit = {"values": {"round": 1}, "as_node": "retrieval"}
    assert (await http.post(f"/threads/{thread}/state", json=edit, headers=as_("alice"))).status_code == 200
    # Her passages, in a pause of eve's, and in a state that eve writes.
    own = await thread_of(http, "eve")
    await ask(http, "eve", QUESTIONS[CANTEEN], own, **review)
    assert SALARY not in (await http.post(f"/threads/{own}/runs/wait", json=body, headers=as_("eve"))).text
    asked = dict.fromkeys(("question", "standalone_question"), QUESTIONS[SALARY])
    forged_turn = turn_record(settings={"access": ["hr"]}, access_digest="0" * 16, **asked)
    forged = {"values": {"turn": forged_turn}, "as_node": "begin"}
    assert (await http.post(f"/threads/{own}/state", json=forged, headers=as_("eve"))).status_code == 200
    again = {"assistant_id": "answer", "input": None}
    assert SALARY not in (await http.post(f"/threads/{own}/runs/wait", json=again, headers=as_("eve"))).text


async def test_only_admins_make_assistants_crons_and_write_the_store(http: httpx.AsyncClient, kind: str) -> None:
    if kind == SERVE:
        pytest.skip("it has no assistants to make, no crons and no store")
    made = {"graph_id": "answer", "context": {"access": ["hr"]}, "name": "everything"}
    cron = {**call("x"), "schedule": "0 0 1 1 *"}
    item = {"namespace": ["x"], "key": "y", "value": {}}
    for who, expected in (("alice", 403), ("root", 200)):
        assistant = await http.post("/assistants", json=made, headers=as_(who))
        assert assistant.status_code == expected
        assert (await http.post("/runs/crons", json=cron, headers=as_(who))).status_code == expected
        assert (await http.put("/store/items", json=item, headers=as_(who))).status_code in (expected, 204)
    body = call(QUESTIONS[SALARY], assistant_id=assistant.json()["assistant_id"])
    assert SALARY not in (await http.post("/runs/wait", json=body, headers=as_("eve"))).text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_mcp_shows_each_their_own(server: str, mode: str) -> None:
    from mcp.client import Client
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    async def told(who: str, tool: str, **arguments: Any) -> Any:
        own = create_mcp_http_client(headers=as_(who))
        async with own, Client(streamable_http_client(f"{server}/mcp", http_client=own), mode=mode) as client:
            return await client.call_tool(tool, arguments)

    asked = {who: repr(await told(who, "ask", question=QUESTIONS[SALARY])) for who in ("alice", "eve")}
    assert {who: SALARY in text for who, text in asked.items()} == {"alice": True, "eve": False}
    hers = (await told("alice", "search", query=QUESTIONS[SALARY], limit=20)).structured_content["items"]
    (secret,) = [each["document_id"] for each in hers if SALARY in each["text"]]
    words = " ".join(SALARY.split()[:3])
    calls: dict[str, dict[str, Any]] = {
        "list_documents": {},
        "search": {"query": QUESTIONS[SALARY], "limit": 20},
        "grep": {"pattern": words},
        "read": {"document": secret},
    }
    for tool, arguments in calls.items():
        assert secret in repr(await told("alice", tool, **arguments))
        hidden = repr((await told("eve", tool, **arguments)).structured_content)
        assert secret not in hidden
        assert SALARY not in hidden
    # What is not theirs is answered as what does not exist.
    for tool, arguments in (("read", {}), ("grep", {"pattern": words})):
        refused, absent = [await told("eve", tool, document=each, **arguments) for each in (secret, "0" * 16)]
        assert refused.is_error
        assert refused.content[0].text.replace(secret, "0" * 16) == absent.content[0].text


async def test_only_some_may_ingest_and_only_under_their_own_tags(http: httpx.AsyncClient) -> None:
    async def take(who: str, **given: Any) -> str:
        body = {"assistant_id": "ingest", "input": {"paths": ["leave.md"], **given}}
        return (await http.post("/runs/wait", json=body, headers=as_(who))).text

    assert "role 'ingest'" in await take("eve")
    assert "you do not hold" in (await take("rita", access=["board"])).replace("that you", "you")
    assert '"added"' in await take("rita")
    question = "When is the director on leave?"
    assert "June" in await ask(http, "alice", question)
    assert "June" not in await ask(http, "bob", question)
