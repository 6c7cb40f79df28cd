"""What a proxy says of a caller counts only where it is the proxy that says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import NotAuthenticatedError
from anabranch_server.identity.api_keys import digest_of_secret
from anabranch_server.identity.auth_file import AuthFile
from anabranch_server.identity.authenticators import Authenticators

SECRET = "between us"
NAMES = {"identity": "X-User", "access": "X-Groups", "tenant": "X-Tenant", "roles": "X-Roles"}
BY_ADDRESS = {**NAMES, "addresses": ["10.1.0.0/16", "2001:db8::7"]}
BY_SECRET = {**NAMES, "secret_header": "X-Secret", "secret_sha256": digest_of_secret(SECRET)}
SAID = [("x-user", "alice"), ("x-groups", "hr, board,"), ("x-tenant", "acme"), ("x-roles", "ask,gardener")]


async def whom(proxy: dict[str, Any], headers: list[tuple[str, str]], client: str | None = None) -> Any:
    return await Authenticators(AuthFile.model_validate({"proxy": proxy}), Path()).identify(headers, client)


@pytest.mark.parametrize("client", ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::7"])
async def test_by_its_address(client: str) -> None:
    user = await whom(BY_ADDRESS, SAID, client)
    assert (user.identity, user.tenant, user.access, user.roles) == ("alice", "acme", ("hr", "board"), {"ask"})


@pytest.mark.parametrize("client", [None, "", "unix:", "10.2.0.1", "127.0.0.1", "2001:db8::8", "::ffff:10.2.0.1"])
async def test_from_elsewhere(client: str | None) -> None:
    with pytest.raises(NotAuthenticatedError, match="not come from the proxy"):
        await whom(BY_ADDRESS, SAID, client)


async def test_by_its_secret() -> None:
    assert (await whom(BY_SECRET, [*SAID, ("x-secret", SECRET)])).identity == "alice"
    for wrong in ([], [("x-secret", "")], [("x-secret", "x")], [("x-secret", SECRET), ("x-secret", SECRET)]):
        with pytest.raises(NotAuthenticatedError):
            await whom(BY_SECRET, [*SAID, *wrong])


async def test_both_proofs_where_both_are_asked_for() -> None:
    both = {**BY_SECRET, **BY_ADDRESS}
    assert (await whom(both, [*SAID, ("x-secret", SECRET)], "10.1.0.1")).identity == "alice"
    for headers, client in (([*SAID, ("x-secret", SECRET)], "10.2.0.1"), (SAID, "10.1.0.1")):
        with pytest.raises(NotAuthenticatedError):
            await whom(both, headers, client)


@pytest.mark.parametrize(
    "changed",
    [
        [("x-user", "alice"), ("x-user", "eve"), ("x-tenant", "acme")],
        [*SAID, ("X-Groups", "board")],
        [("x-user", ""), ("x-tenant", "acme")],
        [("x-user", "alice"), ("x-tenant", "../acme")],
        [("x-user", "alice"), ("x-tenant", "")],
        [("x-user", "alice"), ("x-tenant", "acme"), ("x-groups", ",".join(map(str, range(101))))],
    ],
)
async def test_headers_that_cannot_be_believed(changed: list[tuple[str, str]]) -> None:
    with pytest.raises(NotAuthenticatedError):
        await whom(BY_ADDRESS, changed, "10.1.0.1")


async def test_who_says_nothing_of_roles_may_ask_and_who_has_none_that_count_may_not() -> None:
    plain = {"identity": "X-User", "addresses": ["10.1.0.0/16"]}
    user = await whom(plain, [("x-user", "alice"), ("x-groups", "hr"), ("x-roles", "admin")], "10.1.0.1")
    assert (user.roles, user.access, user.tenant) == ({"ask"}, (), None)
    assert (await whom(BY_ADDRESS, [("x-user", "a"), ("x-tenant", "t")], "10.1.0.1")).roles == frozenset()


async def test_a_forged_name_is_refused_beside_a_right_key() -> None:
    key = {"identity": "bob", "sha256": digest_of_secret("key of bob")}
    ways = Authenticators(AuthFile.model_validate({"proxy": BY_ADDRESS, "keys": [key]}), Path())
    bearer = ("authorization", "Bearer key of bob")
    assert (await ways.identify([bearer], "10.9.0.1")).identity == "bob"
    with pytest.raises(NotAuthenticatedError):
        await ways.identify([bearer, ("x-user", "alice")], "10.9.0.1")
