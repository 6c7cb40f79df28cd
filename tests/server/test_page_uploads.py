"""Documents are added and removed on the page, by somebody who begins with none, and by several people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from anabranch.identity.api_keys import digest_of_secret, new_key
from tests.server.page_server import DEV, SERVE, Reader, chromium, page_server, server_of

pytestmark = [pytest.mark.browser, pytest.mark.loopback, pytest.mark.slow]

NOTE = "# Weir\n\nThe Halden weir was built in 1897 by the engineer Ida Marrow.\n"
PAY = "# Pay\n\nThe salary of the director is 91000 crowns a year.\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.mark.parametrize("kind", [SERVE, DEV])
def test_files_are_sent_taken_in_asked_about_and_removed(browser: Any, tmp_path: Path, kind: str) -> None:
    note, broken = tmp_path / "weir.md", tmp_path / "broken.pdf"
    note.write_text(NOTE, encoding="utf-8")
    broken.write_bytes(b"%PDF-1.7 and nothing more")
    with server_of(kind, tmp_path) as address:
        context = browser.new_context()
        reader = Reader(context.new_page(), address)
        reader.page.get_by_text("There are no documents here yet").wait_for()
        assert reader.is_serious() == []
        reader.page.get_by_role("button", name="Add documents").click()
        documents = reader.page.get_by_role("complementary", name="Documents")
        documents.get_by_text("There are no documents here yet").wait_for()
        documents.get_by_label("Files to add").set_input_files([note, broken])
        documents.get_by_role("heading", name="1 added, 1 failed").or_(
            documents.get_by_role("heading", name="1 failed, 1 added")
        ).wait_for()
        # What went wrong stands first, with the reason.
        assert "broken.pdf: failed, " in documents.locator(".report li").first.inner_text()
        assert "weir.md: added" in documents.locator(".report li").last.inner_text()
        documents.locator("ul").last.get_by_text("weir.md").wait_for()
        assert documents.get_by_text("There are no documents here yet").count() == 0
        assert reader.is_serious() == []
        reader.page.keyboard.press("Escape")
        reader.ask("Who built the Halden weir?")
        reader.page.get_by_text("Ida Marrow").first.wait_for()

        reader.page.get_by_role("button", name="Documents", exact=True).click()
        documents.get_by_role("button", name="Remove weir.md").click()
        assert reader.is_serious() == []
        documents.get_by_role("button", name="Remove for good").click()
        documents.get_by_text("Removed weir.md.", exact=True).wait_for()
        documents.get_by_text("There are no documents here yet").wait_for()
        context.close()
    # A browser reports the documents of a corpus that is not there yet by itself.
    assert [each for each in reader.problems if "422" not in each] == []


def test_who_may_read_them_is_chosen_by_whoever_may_add_them(browser: Any, tmp_path: Path) -> None:
    people: dict[str, dict[str, Any]] = {
        "rita": {"access": ["hr", "board"], "roles": ["ask", "ingest"]},
        "alice": {"access": ["hr"]},
        "eve": {},
    }
    keys = {name: new_key() for name in people}
    entries = [{"identity": name, "sha256": digest_of_secret(keys[name]), **more} for name, more in people.items()]
    (tmp_path / "auth.yaml").write_text(yaml.safe_dump({"keys": entries}))
    (tmp_path / "pay.md").write_text(PAY)
    (tmp_path / "weir.md").write_text(NOTE)
    with page_server(tmp_path, ANABRANCH_AUTH=str(tmp_path / "auth.yaml")) as address:

        def enters(name: str) -> tuple[Reader, Any]:
            reader = Reader(browser.new_context().new_page(), address)
            reader.page.get_by_label("Your key").fill(keys[name])
            reader.page.get_by_role("button", name="Sign in").click()
            reader.page.get_by_role("button", name="Documents", exact=True).click()
            return reader, reader.page.get_by_role("complementary", name="Documents")

        rita, documents = enters("rita")
        documents.get_by_label("board", exact=True).uncheck()
        documents.get_by_label("Files to add").set_input_files(tmp_path / "pay.md")
        documents.get_by_role("heading", name="1 added").wait_for()
        documents.get_by_label("everybody").check()
        documents.get_by_label("Files to add").set_input_files(tmp_path / "weir.md")
        documents.get_by_role("button", name="Remove weir.md").wait_for()
        assert documents.locator(".tag").all_inner_texts() == ["hr"]
        assert rita.is_serious() == []

        _, alices = enters("alice")
        alices.get_by_text("pay.md").wait_for()
        alices.get_by_text("weir.md").wait_for()
        alices.get_by_text("To have documents added, ask").wait_for()
        assert alices.get_by_role("button", name="Remove pay.md").count() == 0
        eve, eves = enters("eve")
        eves.get_by_text("weir.md").wait_for()
        assert eves.get_by_text("pay.md").count() == 0
        for context in browser.contexts:
            context.close()
    assert [each for reader in (rita, eve) for each in reader.problems if "401" not in each and "422" not in each] == []
