"""An OpenID provider on 127.0.0.1: people sign in by a click, and codes are exchanged as RFC 6749 and 7636 say."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

CLIENT = "anabranch-page"
AUDIENCE = "anabranch"


@dataclass
class OpenIDIssuer:
    """What it gives out, and what it says of itself.

    Attributes:
        url: What it is called, and where it is.
        claims: Of the tokens, besides the usual ones.
        lifetime: Of a token, in seconds.
        is_opaque: Whether its access tokens are for its own eyes, so that only the id token says who it is.
        named: What it says that it is called, if not `url`.
    """

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    lifetime: float = 600
    is_opaque: bool = False
    named: str = ""
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def discovery(self) -> dict[str, Any]:
        """Return its metadata."""
        places = {f"{name}_endpoint": f"{self.url}/{name}" for name in ("authorization", "token")}
        return {"issuer": self.named or self.url, "jwks_uri": f"{self.url}/keys", **places}

    def keys(self) -> dict[str, Any]:
        """Return its public key."""
        found = jwt.get_algorithm_by_name("ES256").to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**found, "kid": "one", "use": "sig"}]}

    def signed_in(self, asked: dict[str, str]) -> str:
        """Return where somebody is sent who has signed in."""
        code = uuid4().hex
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def exchanged(self, given: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Return what a code is exchanged for, once, by whoever began and by nobody else."""
        asked = self.codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        is_same = asked is not None and all(asked[name] == given.get(name) for name in ("client_id", "redirect_uri"))
        if asked is None or not is_same or asked["code_challenge"] != challenge:
            return 400, {"error": "invalid_grant"}
        access = "opaque" if self.is_opaque else self.token(AUDIENCE)
        return 200, {"access_token": access, "id_token": self.token(CLIENT), "token_type": "Bearer"}

    def token(self, audience: str) -> str:
        """Return a signed token."""
        now = time.time()
        claims = {"iss": self.url, "aud": audience, "iat": now, "exp": now + self.lifetime, **self.claims}
        return str(jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": "one"}))


@contextmanager
def openid_issuer(**facts: Any) -> Iterator[OpenIDIssuer]:
    """Run one; a page at /authorization asks for a click."""
    issuer = OpenIDIssuer(**facts)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(place.query).items()}
            if place.path == "/authorization":
                link = issuer.signed_in(asked).replace("&", "&amp;")
                denied = f"{asked['redirect_uri']}?error=access_denied&amp;state={asked['state']}"
                page = f'<a href="{link}">I am ada</a> <a href="{denied}">No</a>'
                page = f'<!doctype html><link rel="icon" href="data:,"><title>Issuer</title>{page}'
                self._answer(200, page.encode(), "text/html")
                return
            known = {"/.well-known/openid-configuration": issuer.discovery, "/keys": issuer.keys}
            found = known.get(place.path)
            self._answer(200 if found else 404, json.dumps(found() if found else {}).encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            given = {name: values[0] for name, values in parse_qs(body).items()}
            status, reply = issuer.exchanged(given)
            self._answer(status, json.dumps(reply).encode())

        def _answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
