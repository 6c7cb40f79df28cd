"""What each person may use: the last one is given out once, also by two servers, and a new day begins anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch.errors import LimitReachedError, SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server import database, usage_limits
from anabranch_server.application import create_app
from anabranch_server.database import open_database, threads
from anabranch_server.identity import User, limits_of, load_authenticators, refuse_limits
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from anabranch_server.identity.auth_file import PersonLimits
from anabranch_server.langgraph_page import app as page_app
from anabranch_server.requester import Requester
from anabranch_server.run_queue import RunQueue
from anabranch_server.thread_records import Threads
from anabranch_server.usage_limits import DAY, UsageLimits
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub

NOON = 20_000 * DAY + DAY // 2
KEYS = {name: new_key() for name in ("ada", "bo")}
QUESTION = {"assistant_id": "answer", "input": {"question": "Who built the Halden weir?"}}


class Clock:
    """The time that a server's tables are written by."""

    time = float(NOON)

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(usage_limits, "now", found)
    return found


@pytest.fixture
def auth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write the limits into the file in ANABRANCH_AUTH."""

    def write(**limits: Any) -> None:
        keys = [{"identity": name, "sha256": digest_of_secret(key)} for name, key in KEYS.items()]
        keys[0]["roles"] = ["ask", "ingest"]  # type: ignore[assignment]
        file = tmp_path / f"auth-{len(list(tmp_path.glob('auth*')))}.yaml"
        file.write_text(yaml.safe_dump({"keys": keys, "limits": limits}))
        monkeypatch.setenv("ANABRANCH_AUTH", str(file))
        environment.cache_clear()

    return write


ADA, BO = (Requester(User(identity=name, roles=frozenset({"ask"}))) for name in KEYS)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.slow])])
async def engines(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[AsyncEngine]]:
    """Two servers' ways into one database."""
    place = str(tmp_path / "data") if request.param == "sqlite" else request.getfixturevalue("database")
    async with open_database(place) as one, open_database(place) as other:
        async with one.begin() as connection:
            await connection.execute(usage_limits.used.delete())
        yield [one, other]


async def begun(limits: UsageLimits, who: Requester, **what: Any) -> bool:
    try:
        await limits.begin(who, **what)
    except LimitReachedError:
        return False
    return True


async def test_of_many_at_once_at_two_servers_as_many_pass_as_may(
    engines: list[AsyncEngine], auth: Any, clock: Clock
) -> None:
    auth(questions_a_day=7, people={"bo": {"questions_a_day": None}})
    servers = [UsageLimits(engine) for engine in engines]
    tried = [begun(servers[number % 2], ADA, is_question=True) for number in range(30)]
    assert sum(await asyncio.gather(*tried)) == 7
    tried = [begun(servers[number % 2], BO, is_question=True) for number in range(30)]
    assert all(await asyncio.gather(*tried))


async def test_tokens_are_added_up_by_both_and_the_next_question_is_refused(
    engines: list[AsyncEngine], auth: Any, clock: Clock
) -> None:
    auth(tokens_a_day=100)
    servers = [UsageLimits(engine) for engine in engines]
    user = ADA.user.model_dump(mode="json") if ADA.user is not None else None
    await asyncio.gather(*(servers[number % 2].spend(user, 9) for number in range(11)))
    assert await begun(servers[0], ADA, is_question=True)
    await servers[1].spend(user, 1)
    assert not await begun(servers[0], ADA, is_question=True)
    assert await begun(servers[0], ADA)
    assert await begun(servers[0], BO, is_question=True)


async def test_it_says_until_when_and_begins_anew_then(engines: list[AsyncEngine], auth: Any, clock: Clock) -> None:
    auth(questions_a_day=1, per_minute=2, upload_mb_a_day=1)
    limits, behind = (UsageLimits(engine) for engine in engines)
    await limits.begin(ADA, is_question=True)
    with pytest.raises(LimitReachedError, match=r"ask 1 questions a day.*00:00 UTC, in 12:00:00") as caught:
        await limits.begin(ADA, is_question=True)
    assert caught.value.retry_after == DAY // 2
    with pytest.raises(LimitReachedError, match=r"2 questions, ingests, uploads, threads and edits a minute.*0:01:00"):
        await limits.begin(ADA)
    clock.time += 61
    assert await begun(limits, ADA, upload_bytes=1 << 20)
    with pytest.raises(LimitReachedError, match="1 MB of files a day"):
        await limits.begin(ADA, upload_bytes=1)
    clock.time = NOON + DAY // 2 + 1
    assert await begun(limits, ADA, is_question=True)
    # Another server's clock is a little late: what it counts is of the day that has begun, which is used up.
    clock.time -= 2
    assert not await begun(behind, ADA, is_question=True)


async def test_threads_and_edits_count_and_what_is_kept_has_a_bound(
    served: Path, auth: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    auth(per_minute=12, threads=3, kept_mb=1, people={"bo": {"threads": None, "kept_mb": None, "per_minute": None}})
    app = create_app(str(served / "data"))
    ada, bo = ({"Authorization": f"Bearer {KEYS[name]}"} for name in ("ada", "bo"))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http,
    ):

        async def edited(thread: str, who: dict[str, str]) -> int:
            body = {"values": {"answer": "x" * 300_000}, "as_node": "finish"}
            reply = await http.post(f"/threads/{thread}/state", json=body, headers=who)
            assert reply.status_code == 200 or "minute" in reply.text or "1 MB" in reply.text
            return reply.status_code

        made = [await http.post("/threads", json={}, headers=ada) for _ in range(4)]
        assert [each.status_code for each in made] == [200, 200, 200, 429]
        assert "3 threads" in made[-1].text
        thread = made[0].json()["thread_id"]
        asked = await http.post("/threads/new/runs/wait", json={**QUESTION, "if_not_exists": "create"}, headers=ada)
        assert (asked.status_code, "3 threads" in asked.text) == (429, True)
        # An edit is kept as a step's write and in a checkpoint.
        assert [await edited(thread, ada) for _ in range(4)] == [200, 200, 200, 429]
        # The run's own question is refused as well, and a thread; what is removed is room again.
        for path, body in ((f"/threads/{thread}/runs", QUESTION), ("/runs/wait", QUESTION)):
            assert "1 MB" in (await http.post(path, json=body, headers=ada)).text
        clock.time += 61
        assert (await http.delete(f"/threads/{thread}", headers=ada)).status_code == 204
        assert (await http.post("/threads", json={}, headers=ada)).status_code == 200
        assert "Ida Marrow" in (await http.post("/runs/wait", json=QUESTION, headers=ada)).json()["answer"]
        assert [await edited(made[1].json()["thread_id"], ada) for _ in range(2)] == [200, 200]
        clock.time += 61
        threads = [(await http.post("/threads", json={}, headers=bo)).json()["thread_id"] for _ in range(5)]
        assert [await edited(threads[0], bo) for _ in range(6)] == [200] * 6
        auth(per_minute=2)
        assert [(await http.post("/threads", json={}, headers=bo)).status_code for _ in range(3)] == [200, 200, 429]
        assert await edited(threads[0], bo) == 429


async def test_a_run_counts_with_what_it_was_asked_and_left_and_said(engines: list[AsyncEngine], auth: Any) -> None:
    auth(kept_mb=1)
    limits, queue = UsageLimits(engines[0]), RunQueue(engines[0])
    question = {"assistant_id": "answer", "input": {"question": "x" * 400_000}}
    run = await queue.add(ADA.owner, question, thread_id=None, user=None)
    await limits.refuse_full(ADA)
    (taken,) = await queue.claim("w", 1)
    assert await queue.finish(taken, "w", "success", {"values": {"answer": "y" * 400_000}}, size=300_000)
    with pytest.raises(LimitReachedError, match="may take 1 MB here, and take 1 MB"):
        await limits.refuse_full(ADA)
    await limits.refuse_full(BO)
    await queue.remove_ended(database.now() + 1)
    assert await queue.get(run.run_id) is None
    await limits.refuse_full(ADA)


async def test_without_a_word_of_limits_what_is_kept_has_bounds_all_the_same(
    engines: list[AsyncEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, alone = UsageLimits(engines[0]), Requester(None)
    await limits.refuse_full(alone, is_thread=True)
    await Threads(engines[0]).add(alone.owner, "weir")
    assert PersonLimits().threads == 10_000
    async with engines[0].begin() as connection:
        await connection.execute(threads.update().values(kept=5_000 << 20))
    with pytest.raises(LimitReachedError, match="5,000 MB"):
        await limits.refuse_full(alone)


async def test_without_limits_nothing_is_written(engines: list[AsyncEngine], auth: Any) -> None:
    limits = UsageLimits(engines[0])
    auth()
    assert all([await begun(limits, ADA, is_question=True, upload_bytes=1 << 40) for _ in range(9)])
    await limits.spend(None, 5)
    async with engines[0].connect() as connection:
        assert (await connection.execute(usage_limits.used.select())).all() == []


def test_a_persons_limits_are_everybodys_but_for_what_is_said_of_them(auth: Any) -> None:
    auth(questions_a_day=5, per_minute=9, people={"ada": {"questions_a_day": None, "tokens_a_day": 3}})
    ada, bo = limits_of(User(identity="ada")), limits_of(User(identity="bo"))
    assert (ada.questions_a_day, ada.tokens_a_day, ada.per_minute) == (None, 3, 9)
    assert (bo.questions_a_day, bo.tokens_a_day, bo.per_minute) == (5, None, 9)
    assert limits_of(User(identity="ada", tenant="acme")).questions_a_day == 5


@pytest.mark.parametrize(
    "wrong", [{"questions": 3}, {"questions_a_day": -1}, {"people": {"nobody": {"per_minute": 1}}}, {"per_minute": "x"}]
)
def test_limits_that_are_written_wrongly_keep_a_server_from_starting(auth: Any, wrong: dict[str, Any]) -> None:
    auth(**wrong)
    with pytest.raises(SettingsError, match="limits"):
        load_authenticators()


async def test_a_server_that_cannot_count_refuses_a_file_with_limits(auth: Any, tmp_path: Path) -> None:
    auth(questions_a_day=1)
    with pytest.raises(SettingsError, match="anabranch serve"):
        refuse_limits()
    transport = httpx.ASGITransport(page_app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        headers = {"Authorization": f"Bearer {KEYS['ada']}"}
        reply = await http.post("/uploads", files=[("files", ("a.md", b"x"))], headers=headers)
    assert (reply.status_code, "anabranch serve" in reply.text) == (422, True)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "weir.md").write_text("# Weir\n\nThe Halden weir was built in 1897 by the engineer Ida Marrow.\n")
    ingest([tmp_path / "weir.md"], tmp_path / "corpus")
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(tmp_path))
    return tmp_path


async def test_every_way_in_answers_429_with_the_time_until_it_ends(served: Path, auth: Any, clock: Clock) -> None:
    auth(questions_a_day=1, upload_mb_a_day=0)
    app = create_app(str(served / "data"))
    ada, bo = ({"Authorization": f"Bearer {KEYS[name]}"} for name in ("ada", "bo"))
    chat = {"messages": [{"role": "user", "content": "Who built the Halden weir?"}]}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http,
    ):
        thread = (await http.post("/threads", json={}, headers=ada)).json()["thread_id"]
        first = await http.post("/runs/wait", json=QUESTION, headers=ada)
        assert "Ida Marrow" in first.json()["answer"]
        for path in (f"/threads/{thread}/runs", f"/threads/{thread}/runs/stream", "/runs/stream", "/runs/wait"):
            reply = await http.post(path, json=QUESTION, headers=ada)
            assert (reply.status_code, reply.headers["retry-after"]) == (429, str(DAY // 2)), path
        # What is refused leaves no title, and no thread.
        assert (await http.get(f"/threads/{thread}", headers=ada)).json()["metadata"] == {}
        making = {**QUESTION, "if_not_exists": "create"}
        assert (await http.post("/threads/new/runs", json=making, headers=ada)).status_code == 429
        assert (await http.get("/threads/new", headers=ada)).status_code == 404
        reply = await http.post("/v1/chat/completions", json=chat, headers=ada)
        assert (reply.status_code, reply.json()["error"]["type"]) == (429, "LimitReachedError")
        sent = await http.post("/uploads", files=[("files", ("a.md", b"x"))], headers=ada)
        assert sent.status_code == 429
        assert (await http.post("/runs/wait", json=QUESTION, headers=bo)).status_code == 200


@pytest.mark.loopback
async def test_the_tokens_of_a_run_that_was_stopped_count_as_well(
    served: Path, auth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    auth(tokens_a_day=10)
    with OpenAIStub(model()) as stub:
        monkeypatch.setenv("ANABRANCH_MODEL", "openai:stub")
        monkeypatch.setenv("ANABRANCH_BASE_URL", stub.base_url)
        environment.cache_clear()
        app = create_app(str(served / "data"))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http,
        ):
            http.headers["Authorization"] = f"Bearer {KEYS['ada']}"
            thread = (await http.post("/threads", json={})).json()["thread_id"]
            run = (await http.post(f"/threads/{thread}/runs", json=QUESTION)).json()["run_id"]
            async with asyncio.timeout(60):
                while not stub.calls:
                    await asyncio.sleep(0.01)
            await http.post(f"/threads/{thread}/runs/{run}/cancel", params={"wait": "true"})
            reply = await http.post("/runs/wait", json=QUESTION)
            assert (reply.status_code, "10 tokens a day" in reply.text) == (429, True)
