"""A file that is wrong in any way lets nobody in, and says what is wrong without its values."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import SettingsError
from anabranch_server.identity import identity_of, load_authenticators, needs_identity
from anabranch_server.identity.api_keys import digest_of_secret
from anabranch_server.identity.auth_file import read_auth_file

SHA = digest_of_secret("a key")
JWT = "jwt: {issuer: https://login.example.org, audience: anabranch, jwks: keys.json"
PROXY = "proxy: {identity: X-User"

WRONG = {
    "": "names nobody",
    "# nobody yet\n": "names nobody",
    "keys: []": "names nobody",
    "keys:": "keys",
    "[]": "AuthFile",
    "just text": "AuthFile",
    "keys: [{identity: alice": "cannot be read",
    "\t": "cannot be read",
    f"key: [{{identity: alice, sha256: {SHA}}}]": "key: Extra",
    f"keys: [{{identity: alice, sha256: {SHA}, acess: [hr]}}]": "keys.0.acess: Extra",
    f"keys: [{{identity: '', sha256: {SHA}}}]": "keys.0.identity",
    f"keys: [{{sha256: {SHA}}}]": "keys.0.identity",
    f"keys: [{{identity: alice, sha256: {SHA[:-1]}}}]": "keys.0.sha256",
    f"keys: [{{identity: alice, sha256: {SHA}, access: hr}}]": "keys.0.access",
    f"keys: [{{identity: alice, sha256: {SHA}, access: [1]}}]": "keys.0.access.0",
    f"keys: [{{identity: alice, sha256: {SHA}, roles: []}}]": "keys.0.roles",
    f"keys: [{{identity: alice, sha256: {SHA}, roles: [king]}}]": "keys.0.roles",
    f"keys: [{{identity: alice, sha256: {SHA}, tenant: ../other}}]": "keys.0.tenant",
    f"keys: [{{identity: alice, sha256: {SHA}, tenant: Acme}}]": "keys.0.tenant",
    f"keys: [{{identity: alice, sha256: {SHA}}}, {{identity: bob, sha256: {SHA}}}]": "two people have the same key",
    f"keys: [{{identity: alice, sha256: {SHA}, access: [hr], access: []}}]": "'access' is given twice",
    f"keys: [{{identity: alice, sha256: {SHA}}}]\nkeys: []": "'keys' is given twice",
    "? [keys]\n: []": "cannot be",
    f"{JWT}, algorithms: [HS256]}}": "jwt.algorithms.0",
    f"{JWT}, algorithms: [none]}}": "jwt.algorithms.0",
    f"{JWT}, algorithms: []}}": "jwt.algorithms",
    f"{JWT}, leeway: 3600}}": "jwt.leeway",
    "jwt: {issuer: https://login.example.org, jwks: keys.json}": "jwt.audience",
    "jwt: {issuer: x, audience: y, jwks: 'http://login.example.org/keys'}": "use https",
    "jwt: {issuer: 'http://login.example.org', audience: y, jwks: k, login: {client_id: page}}": "an https address",
    "jwt: {issuer: x, audience: y, jwks: k, login: {client_id: page}}": "an https address",
    f"{PROXY}}}": "anybody could send these headers",
    f"{PROXY}, addresses: []}}": "anybody could send these headers",
    f"{PROXY}, addresses: [0.0.0.0/0]}}": "proves nothing",
    f"{PROXY}, addresses: ['::/0']}}": "proves nothing",
    f"{PROXY}, addresses: [everywhere]}}": "proxy.addresses.0",
    f"{PROXY}, secret_header: X-Secret}}": "belong together",
    f"{PROXY}, secret_sha256: {SHA}}}": "belong together",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_and_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "auth.yaml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        read_auth_file(tmp_path / "auth.yaml")
    assert WRONG[text] in str(caught.value)
    assert "docs/server.md" in caught.value.hint
    assert SHA not in str(caught.value)


@pytest.mark.parametrize("make", ["nothing", "folder", "binary", "unreadable tag"])
async def test_what_cannot_be_read_is_refused(make: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "auth.yaml"
    if make == "folder":
        path.mkdir()
    elif make == "binary":
        path.write_bytes(b"\xff\xfe\x00keys")
    elif make == "unreadable tag":
        path.write_text("keys: !!python/object/apply:os.system ['true']")
    monkeypatch.setenv("ANABRANCH_AUTH", str(path))
    assert needs_identity()
    with pytest.raises(SettingsError, match="cannot be read"):
        load_authenticators()
    with pytest.raises(SettingsError, match="cannot be read"):
        await identity_of([("authorization", "Bearer x")])


@pytest.mark.parametrize("value", ["", " "])
def test_a_variable_that_is_set_and_empty_lets_nobody_in(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_AUTH", value)
    assert needs_identity()
    with pytest.raises(SettingsError, match="names no file"):
        load_authenticators()


def test_two_files_in_one_process_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anabranch.safety.operator import environment

    found = []
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"keys: [{{identity: {name}, sha256: {SHA}}}]")
        monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / name))
        environment.cache_clear()
        found.append(load_authenticators())
    assert found[0] is not found[1]
    assert load_authenticators() is found[1]
