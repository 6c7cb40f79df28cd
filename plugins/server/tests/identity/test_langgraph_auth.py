"""What a LangGraph server is told of a request: by the two servers' own ways of asking."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph_sdk import Auth

from anabranch.errors import OperationError, SettingsError
from anabranch.identity import langgraph_auth as module
from anabranch.identity.user import User
from anabranch_server.identity.api_keys import digest_of_secret

HTTPException = Auth.exceptions.HTTPException
ALICE = User(identity="alice", tenant="acme", access=("hr",), roles=frozenset({"ask"}))
ADMIN = User(identity="root", roles=frozenset({"admin"}))
STUDIO = SimpleNamespace(identity="langgraph-studio-user", is_authenticated=True, permissions=[])


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"keys: [{{identity: alice, tenant: acme, access: [hr], sha256: {digest_of_secret('key')}}}]\n"
    proxy = "proxy: {identity: X-User, addresses: [10.1.0.0/16]}"
    (tmp_path / "auth.yaml").write_text(text + proxy)
    monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))


def asked_by(user: User | SimpleNamespace) -> Any:
    """A context, with the user as a server holds it: an object around what the authenticator returned."""
    return SimpleNamespace(user=SimpleNamespace(**user.as_auth_user()) if isinstance(user, User) else user)


@pytest.mark.usefixtures("people")
async def test_a_key_is_believed_on_either_server_and_nothing_else() -> None:
    for found in (
        await module.authenticate({"authorization": "Bearer key"}),
        await module.authenticate({}, scope={"headers": [(b"authorization", b"Bearer key")], "client": ("::1", 1)}),
    ):
        assert User.from_server(SimpleNamespace(**found)) == ALICE
    for headers in ({}, {"authorization": "Bearer x"}, {"x-auth-scheme": "langsmith"}, {"x-user": "alice"}):
        with pytest.raises(HTTPException) as caught:
            await module.authenticate(headers)
        assert caught.value.status_code == 401


@pytest.mark.usefixtures("people")
async def test_a_proxy_is_known_by_the_address_of_the_connection() -> None:
    headers = [(b"x-user", b"bob")]
    assert (await module.authenticate({}, scope={"headers": headers, "client": ("10.1.0.1", 80)}))["identity"] == "bob"
    for scope in ({"headers": headers, "client": ("10.2.0.1", 80)}, {"headers": headers, "client": None}):
        with pytest.raises(HTTPException):
            await module.authenticate({}, scope=scope)


@pytest.mark.usefixtures("people")
async def test_an_issuer_that_is_down_is_no_mistake_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: object) -> User:
        raise OperationError("The keys cannot be fetched.")

    monkeypatch.setattr("anabranch_server.identity.identity_of", down)
    with pytest.raises(HTTPException) as caught:
        await module.authenticate({})
    assert caught.value.status_code == 503


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("value", [{"metadata": None}, {}, {"metadata": {"owner": "bob", "tenant": "", "x": "y"}}])
async def test_threads_are_marked_in_the_very_value_that_the_server_keeps(value: dict[str, Any]) -> None:
    metadata = value.get("metadata")
    owner = {"owner": "alice", "tenant": "acme"}
    assert await module.threads(ctx=asked_by(ALICE), value=value) == owner
    assert owner.items() <= value["metadata"].items()
    assert metadata is None or value["metadata"] is metadata
    assert await module.runs(ctx=asked_by(ALICE), value=value) is None  # Aegra's
    assert await module.runs(ctx=asked_by(ALICE), value={**value, "kwargs": {}}) == owner


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("handler", [module.threads, module.runs, module.assistants, module.others])
async def test_studio_is_nobody_where_people_say_who_they_are(handler: Callable[..., Any]) -> None:
    with pytest.raises(HTTPException) as caught:
        await handler(ctx=asked_by(STUDIO), value={})
    assert caught.value.status_code == 403


@pytest.mark.usefixtures("people")
async def test_the_rest_is_the_admins() -> None:
    assert await module.others(ctx=asked_by(ADMIN), value={}) is True
    assert await module.others(ctx=asked_by(ALICE), value={}) is False
    assert await module.assistants(ctx=asked_by(ALICE), value={}) is True


async def test_one_person_on_their_own_machine_may_do_everything_and_marks_nothing() -> None:
    user = SimpleNamespace(**await module.authenticate({}))
    value: dict[str, Any] = {"kwargs": {}, "metadata": {}}
    for handler, expected in (
        (module.threads, None), (module.runs, None), (module.others, True), (module.assistants, True),
    ):  # fmt: skip
        assert await handler(ctx=SimpleNamespace(user=user), value=value) is expected  # type: ignore[operator]
    assert value["metadata"] == {}


@pytest.mark.parametrize("text", [None, "", "keys: [{identity: alice}]"])
def test_a_wrong_file_stops_the_server(text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if text is not None:
        (tmp_path / "auth.yaml").write_text(text)
    monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))
    with pytest.raises(SettingsError, match="file of ANABRANCH_AUTH"):
        runpy.run_path(str(module.__file__))
