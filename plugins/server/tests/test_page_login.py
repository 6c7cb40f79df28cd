"""Somebody signs in on the page at an issuer of tokens, as one does at a company."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("jwt", reason="the extra `serve` is not installed")

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.page_server import DEV, SERVE, Reader, chromium, server_of
from plugins.server.tests.weir import SALARY
from tests.servers.openid_issuer import AUDIENCE, CLIENT, OpenIDIssuer, openid_issuer

pytestmark = [pytest.mark.loopback, pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def issuer() -> Iterator[OpenIDIssuer]:
    with openid_issuer(claims={"sub": "ada", "groups": ["hr"]}) as found:
        yield found


@pytest.mark.parametrize("kind", [SERVE, pytest.param(DEV, marks=pytest.mark.exhaustive)])
def test_one_signs_in_asks_and_signs_in_again(browser: Any, issuer: OpenIDIssuer, tmp_path: Path, kind: str) -> None:
    (tmp_path / "pay.md").write_text(f"# Pay\n\n{SALARY}\n")
    ingest([tmp_path / "pay.md"], tmp_path / "corpus", access=["hr"])
    tokens = {
        "issuer": issuer.url, "audience": AUDIENCE, "jwks": f"{issuer.url}/keys", "algorithms": ["ES256"],
        "claims": {"access": "groups"}, "login": {"client_id": CLIENT},
    }  # fmt: skip
    (tmp_path / "auth.yaml").write_text(yaml.safe_dump({"jwt": tokens}))
    with server_of(kind, tmp_path, ANABRANCH_AUTH=str(tmp_path / "auth.yaml")) as address:
        reader = Reader(browser.new_context().new_page(), address)
        page = reader.page
        enter = page.get_by_role("button", name="Sign in at 127.0.0.1")
        enter.wait_for()
        assert reader.is_serious() == []
        enter.click()
        page.get_by_role("link", name="No").click()
        page.get_by_role("alert").get_by_text("The sign-in was not completed: access_denied").wait_for()
        enter.click()
        page.get_by_role("link", name="I am ada").click()
        page.get_by_role("button", name="Sign out ada").wait_for()
        assert page.url == f"{address}/"
        reader.ask("What is the salary of the director?")
        assert SALARY in reader.turn(0).inner_text()
        conversation = page.url

        # The token expires: the question is kept, and so is the conversation.
        page.evaluate("sessionStorage.setItem('anabranch.key', 'a.b.c')")
        page.get_by_label("Question", exact=True).fill("And a month?")
        page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_role("alert").get_by_text("does not count any more").wait_for()
        enter.click()
        page.get_by_role("link", name="I am ada").click()
        reader.turn(0).locator(".actions").wait_for()
        assert page.url == conversation
        assert page.get_by_label("Question", exact=True).input_value() == "And a month?"

        # A link that somebody else made signs nobody in.
        page.goto(f"{address}/?code=stolen&state=other")
        page.get_by_role("button", name="Sign out ada").wait_for()
        assert page.url == f"{address}/"
        fresh = Reader(browser.new_context().new_page(), address)
        fresh.page.goto(f"{address}/?code=stolen&state=other")
        fresh.page.get_by_role("alert").get_by_text("was not begun in this tab").wait_for()
        for context in browser.contexts:
            context.close()
    # To the issuer a person goes, and the page itself sends nothing; each refused request a browser reports by itself.
    allowed = ("401", f"a request to {issuer.url}/authorization?")
    assert [each for each in reader.problems if not any(word in each for word in allowed)] == []
