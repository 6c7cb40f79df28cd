"""Tokens of an issuer: believed only with a key of the issuer's, for us, and in time."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from blockbuster import blockbuster_ctx

from anabranch.errors import NotAuthenticatedError, OperationError
from anabranch_server.identity.auth_file import TokenSettings
from anabranch_server.identity.signing_keys import FRESH, RETRY, STALE, SigningKeys
from anabranch_server.identity.tokens_of_issuer import TokenVerifier, claim

jwt = pytest.importorskip("jwt", reason="the extra `serve` is not installed")
pytest.importorskip("cryptography", reason="the extra `serve` is not installed")
from cryptography.hazmat.primitives import serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: E402

ISSUER = "https://login.example.org/"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
OTHER = ec.generate_private_key(ec.SECP256R1())


def public(key: Any, kid: str, **more: str) -> dict[str, Any]:
    kind = {rsa.RSAPrivateKey: "RS256", ec.EllipticCurvePrivateKey: "ES256", ed25519.Ed25519PrivateKey: "EdDSA"}
    algorithm = next(name for base, name in kind.items() if isinstance(key, base))
    found = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {**found, "kid": kid, **more}


SECRET_KEY = {"kty": "oct", "kid": "oct", "k": base64.urlsafe_b64encode(b"s" * 32).decode().rstrip("=")}
KEYS = [
    public(RSA, "rsa"), public(EC, "ec", use="sig", alg="ES256"), public(ED, "ed"), public(OTHER, "enc", use="enc"),
    SECRET_KEY,
]  # fmt: skip
CLAIMS = {"identity": "sub", "access": "groups", "tenant": "org", "roles": "realm_access.roles"}


def token(
    key: Any = EC, *, alg: str = "ES256", kid: str | None = "ec", more: dict[str, Any] | None = None, **changed: Any
) -> str:
    now = time.time()
    claims = {
        "iss": ISSUER, "aud": "anabranch", "sub": "alice", "exp": now + 600, "iat": now, "jti": str(uuid4()),
        "groups": ["hr", "a b"], "org": "acme", "realm_access": {"roles": ["ask", "gardener"]}, **changed,
    }  # fmt: skip
    claims = {name: value for name, value in claims.items() if value is not None}
    return str(jwt.encode(claims, key, algorithm=alg, headers={"kid": kid, **(more or {})} if kid else {}))


@pytest.fixture
def verifier(tmp_path: Path) -> TokenVerifier:
    (tmp_path / "keys.json").write_text(json.dumps({"keys": KEYS}))
    return TokenVerifier(settings(), tmp_path)


def settings(**changed: Any) -> TokenSettings:
    values = {"issuer": ISSUER, "audience": "anabranch", "jwks": "keys.json", "claims": CLAIMS, **changed}
    return TokenSettings.model_validate(values)


async def test_a_token_says_who_it_is_for(verifier: TokenVerifier) -> None:
    for made in (token(), token(RSA, alg="RS256", kid="rsa"), token(aud=["other", "anabranch"])):
        user = await verifier.user_of(made)
        assert (user.identity, user.tenant, user.access, user.roles) == ("alice", "acme", ("hr", "a b"), {"ask"})


def hs256_with_the_public_key() -> str:
    """The classic confusion (RFC 8725, 2.1): the public key, which everybody has, as the secret of HS256."""
    pem = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    import hashlib
    import hmac

    unsigned = ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256", "kid": "rsa"}, jwt.decode(token(), options={"verify_signature": False}))
    )
    signed = base64.urlsafe_b64encode(hmac.new(pem, unsigned.encode(), hashlib.sha256).digest()).decode().rstrip("=")
    return f"{unsigned}.{signed}"


NOW = time.time()
REFUSED: dict[str, tuple[Any, str]] = {
    "expired": (lambda: token(exp=NOW - 60), "expired"),
    "not yet": (lambda: token(nbf=NOW + 86_400), "not valid yet"),
    "issued in the future": (lambda: token(iat=NOW + 86_400), "not valid yet"),
    "no end": (lambda: token(exp=None), "claim is missing"),
    "no audience": (lambda: token(aud=None), "claim is missing"),
    "no issuer": (lambda: token(iss=None), "claim is missing"),
    "other audience": (lambda: token(aud="other"), "another audience"),
    "part of the audience": (lambda: token(aud="anabranch-2"), "another audience"),
    "other issuer": (lambda: token(iss="https://login.example.org"), "another issuer"),
    "other key": (lambda: token(OTHER), "signature is wrong"),
    "signature of another token": (lambda: f"{token().rpartition('.')[0]}.{token().rpartition('.')[2]}", "is wrong"),
    "no end of the signature": (lambda: token()[:-8], "signature is wrong|cannot be read"),
    "no signature": (lambda: token(None, alg="none"), "algorithm is not allowed"),
    "HS256": (lambda: token(b"s" * 32, alg="HS256", kid="oct"), "algorithm is not allowed"),
    "HS256 with the public key": (hs256_with_the_public_key, "algorithm is not allowed"),
    "algorithm of another kind of key": (lambda: token(RSA, alg="RS256", kid="ec"), "no such key"),
    "key of another kind": (lambda: token(EC, kid="rsa"), "no such key"),
    "not allowed here": (lambda: token(ED, alg="EdDSA", kid="ed"), "algorithm is not allowed"),
    "key for encryption": (lambda: token(OTHER, kid="enc"), "no such key"),
    "unknown key": (lambda: token(kid="new"), "no such key"),
    "no key named": (lambda: token(RSA, alg="RS256", kid=None), "no such key"),
    "a critical header that nobody knows": (lambda: token(more={"crit": ["x"], "x": 1}), "cannot be read"),
    "nobody": (lambda: token(sub=None), "do not name a valid user"),
    "empty name": (lambda: token(sub=""), "do not name a valid user"),
    "tenant that is a path": (lambda: token(org="../other"), "do not name a valid user"),
    "tags that are no list": (lambda: token(groups={"hr": True}), "do not name a valid user"),
    "tags that are numbers": (lambda: token(groups=[1]), "do not name a valid user"),
    "too many tags": (lambda: token(groups=[str(n) for n in range(101)]), "do not name a valid user"),
    "no token": (lambda: "a.b.c", "cannot be read"),
}


ODD_TIMES = [
    "1e400",
    "-1e400",
    "Infinity",
    "NaN",
    "1e300",
    "1" + "0" * 400,
    "-1",
    "true",
    "false",
    '"9999999999"',
    "[]",
    "{}",
]


@pytest.mark.parametrize("written", ODD_TIMES)
@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
async def test_a_time_that_is_no_finite_number_of_seconds_is_refused(
    verifier: TokenVerifier, name: str, written: str
) -> None:
    claims = json.dumps(jwt.decode(token(**{name: 7_777_777}), options={"verify_signature": False}))
    payload = claims.replace("7777777", written).encode()
    made = jwt.PyJWS().encode(payload, EC, algorithm="ES256", headers={"kid": "ec"})
    with pytest.raises(NotAuthenticatedError):
        await verifier.user_of(made)


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_not_to_be_believed(verifier: TokenVerifier, case: str) -> None:
    make, why = REFUSED[case]
    with pytest.raises(NotAuthenticatedError, match=why):
        await verifier.user_of(make())


async def test_clocks_may_differ_a_little(verifier: TokenVerifier) -> None:
    assert (await verifier.user_of(token(exp=time.time() - 15, nbf=time.time() + 15))).identity == "alice"


async def test_other_algorithms_where_the_file_names_them(tmp_path: Path, verifier: TokenVerifier) -> None:
    other = TokenVerifier(settings(algorithms=["EdDSA"]), tmp_path)
    assert (await other.user_of(token(ED, alg="EdDSA", kid="ed"))).identity == "alice"
    with pytest.raises(NotAuthenticatedError, match="not allowed"):
        await other.user_of(token())


async def test_a_key_counts_for_the_algorithm_that_the_issuer_gave_it(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [public(RSA, "rsa", alg="RS256")]}))
    verifier = TokenVerifier(settings(algorithms=["RS256", "PS256"]), tmp_path)
    assert await verifier.user_of(token(RSA, alg="RS256", kid="rsa"))
    with pytest.raises(NotAuthenticatedError, match="no such key"):
        await verifier.user_of(token(RSA, alg="PS256", kid="rsa"))


async def test_roles_only_where_a_claim_is_named_and_none_where_it_is_absent(
    tmp_path: Path, verifier: TokenVerifier
) -> None:
    assert (await verifier.user_of(token(realm_access=None))).roles == frozenset()
    plain = TokenVerifier(settings(claims={}), tmp_path)
    user = await plain.user_of(token())
    assert (user.roles, user.access, user.tenant) == ({"ask"}, (), None)


def test_a_claim_is_found_by_its_whole_name_first() -> None:
    claims = {"https://example.org/roles": ["a"], "realm": {"roles": ["b"]}, "realm.roles": ["c"], "x": "y"}
    assert claim(claims, "https://example.org/roles") == ["a"]
    assert claim(claims, "realm.roles") == ["c"]
    assert claim({"realm": {"roles": ["b"]}}, "realm.roles") == ["b"]
    assert claim(claims, "x.y") is None
    assert claim(claims, None) is None


class Issuer:
    """An issuer's key set over HTTP: what it holds may change, and it counts how often it is asked."""

    def __init__(self) -> None:
        self.keys: list[dict[str, Any]] = [public(EC, "ec")]
        self.status = 200
        self.asked = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                content = json.dumps({"keys": issuer.keys}).encode()
                self.send_response(issuer.status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    found = Issuer()
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.loopback
async def test_a_key_that_the_issuer_adds_is_found_and_one_that_it_withdraws_stops_counting(
    issuer: Issuer, tmp_path: Path
) -> None:
    clock = Clock()
    verifier = TokenVerifier(settings(), tmp_path, keys=SigningKeys(issuer.url, tmp_path, clock=clock))
    with blockbuster_ctx():  # as LangGraph's development server watches its loop
        for _ in range(3):
            await verifier.user_of(token())
    assert issuer.asked == 1
    issuer.keys = [public(OTHER, "next")]
    rotated = token(OTHER, kid="next")
    with pytest.raises(NotAuthenticatedError, match="no such key"):  # it was asked a moment ago
        await verifier.user_of(rotated)
    clock.now += RETRY + 1
    assert (await verifier.user_of(rotated)).identity == "alice"
    with pytest.raises(NotAuthenticatedError, match="no such key"):
        await verifier.user_of(token())
    assert issuer.asked == 2


@pytest.mark.loopback
async def test_unknown_keys_ask_the_issuer_no_more_than_once_a_minute(issuer: Issuer, tmp_path: Path) -> None:
    import asyncio

    clock = Clock()
    keys = SigningKeys(issuer.url, tmp_path, clock=clock)
    assert set(await asyncio.gather(*(keys.find(f"forged {n}") for n in range(40)))) == {None}
    assert issuer.asked == 1
    clock.now += RETRY + 1
    await asyncio.gather(*(keys.find(f"forged {n}") for n in range(40)))
    assert issuer.asked == 2


@pytest.mark.loopback
async def test_an_issuer_that_is_down_locks_nobody_out_at_once_and_is_not_trusted_for_ever(
    issuer: Issuer, tmp_path: Path
) -> None:
    clock = Clock()
    keys = SigningKeys(issuer.url, tmp_path, clock=clock)
    assert await keys.find("ec")
    issuer.status = 500
    clock.now += FRESH + 1
    assert await keys.find("ec")
    assert issuer.asked == 2
    clock.now += STALE
    with pytest.raises(OperationError, match="cannot be fetched"):
        await keys.find("ec")
    issuer.status = 200
    clock.now += RETRY + 1
    assert await keys.find("ec")


@pytest.mark.loopback
@pytest.mark.parametrize("content", [[], "text", [{"kty": "oct", "k": "x"}], ["x" * 2_000_000]])
async def test_what_is_no_key_set_is_an_error_and_no_empty_one(issuer: Issuer, tmp_path: Path, content: Any) -> None:
    issuer.keys = content
    with pytest.raises(OperationError, match="cannot be fetched"):
        await SigningKeys(issuer.url, tmp_path).find("ec")


async def test_the_one_key_of_an_issuer_needs_no_name(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [public(EC, "ec"), SECRET_KEY]}))
    assert (await TokenVerifier(settings(), tmp_path).user_of(token(kid=None))).identity == "alice"
