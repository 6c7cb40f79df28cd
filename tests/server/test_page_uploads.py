"""Documents are added on the page, by somebody who begins with none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.page_server import Reader, chromium, page_server

pytestmark = [pytest.mark.browser, pytest.mark.loopback, pytest.mark.slow]

NOTE = "# Weir\n\nThe Halden weir was built in 1897 by the engineer Ida Marrow.\n"


def test_files_are_sent_taken_in_and_asked_about(tmp_path: Path) -> None:
    note, broken = tmp_path / "weir.md", tmp_path / "broken.pdf"
    note.write_text(NOTE, encoding="utf-8")
    broken.write_bytes(b"%PDF-1.7 and nothing more")
    with chromium() as browser, page_server(tmp_path) as address:
        context = browser.new_context()
        reader = Reader(context.new_page(), address)
        reader.page.get_by_role("button", name="Documents", exact=True).click()
        documents = reader.page.get_by_role("complementary", name="Documents")
        documents.get_by_role("alert").get_by_text("There is no corpus").wait_for()
        documents.get_by_label("Files to add").set_input_files([note, broken])
        report = documents.get_by_role("status")
        report.get_by_text("weir.md: added").wait_for()
        report.get_by_text("broken.pdf: failed").wait_for()
        documents.locator("ul").last.get_by_text("weir.md").wait_for()
        assert documents.get_by_role("alert").count() == 0
        assert reader.is_serious() == []
        reader.page.get_by_role("button", name="Close the documents").click()
        reader.ask("Who built the Halden weir?")
        reader.page.get_by_text("Ida Marrow").first.wait_for()
        context.close()
    # A browser reports the documents of a corpus that is not there yet by itself.
    assert [each for each in reader.problems if "422" not in each] == []
