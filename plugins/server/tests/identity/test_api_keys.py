"""Keys: whose they are, where they may stand in a request, and what is kept of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import NotAuthenticatedError
from anabranch.identity.user import User
from anabranch_server.identity.api_keys import digest_of_secret, new_key, user_of_key
from anabranch_server.identity.auth_file import AuthFile, KeyEntry
from anabranch_server.identity.authenticators import Authenticators, RawHeaders

ALICE, BOB = new_key(), new_key()
ENTRIES = [
    KeyEntry(identity="alice", sha256=digest_of_secret(ALICE), access=("hr",), tenant="acme"),
    KeyEntry(identity="bob", sha256=digest_of_secret(BOB), roles=frozenset({"ask", "ingest"})),
]
WAYS = Authenticators(AuthFile(keys=tuple(ENTRIES)), Path())


def test_a_key_is_long_new_each_time_and_known_by_its_beginning() -> None:
    keys = {new_key() for _ in range(50)}
    assert len(keys) == 50
    assert all(key.startswith("anabranch_") and len(key) >= 53 and "." not in key for key in keys)
    assert digest_of_secret("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_key_says_who_it_is() -> None:
    alice = User(identity="alice", tenant="acme", access=("hr",), roles=frozenset({"ask"}))
    assert user_of_key(ALICE, ENTRIES) == alice
    assert user_of_key(BOB, ENTRIES) == User(identity="bob", roles=frozenset({"ask", "ingest"}))
    for wrong in ("", ALICE[:-1], ALICE + "x", ALICE.upper(), digest_of_secret(ALICE), "ž\udcff"):
        assert user_of_key(wrong, ENTRIES) is None


RIGHT: list[RawHeaders] = [
    [("Authorization", f"Bearer {ALICE}")],
    [("authorization", f"bearer  {ALICE} ")],
    [(b"authorization", f"Bearer {ALICE}".encode())],
    [("X-Api-Key", ALICE)],
    [("x-api-key", "of another program"), ("authorization", f"Bearer {ALICE}")],
    [("authorization", "Basic b2Y6YSBwcm94eQ=="), ("x-api-key", ALICE)],
]
WRONG: list[RawHeaders] = [
    [],
    [("authorization", "")],
    [("authorization", "Bearer")],
    [("authorization", ALICE)],
    [("authorization", f"Basic {ALICE}")],
    [("authorization", "Bearer x"), ("x-api-key", ALICE)],
    [("authorization", f"Bearer {ALICE}"), ("Authorization", f"Bearer {BOB}")],
    [("x-api-key", "")],
    [(b"authorization", b"Bearer \xff\xfe")],
    [("authorization", "Bearer a.b.c")],
    [("cookie", f"authorization=Bearer {ALICE}")],
]


@pytest.mark.parametrize("headers", RIGHT)
async def test_where_a_key_stands(headers: Any) -> None:
    assert (await WAYS.identify(headers)).identity == "alice"


@pytest.mark.parametrize("headers", WRONG)
async def test_where_none_stands_or_a_wrong_one(headers: Any) -> None:
    with pytest.raises(NotAuthenticatedError) as caught:
        await WAYS.identify(headers)
    assert ALICE not in str(caught.value)
