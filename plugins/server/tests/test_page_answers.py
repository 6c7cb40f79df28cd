"""What an answer looks like on the page: passages without a model, what is not confirmed, what is waited for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.page_server import PASSAGES, Reader, chromium, page_server, reading, saying, tab_of
from plugins.server.tests.weir import (
    BROKEN,
    BUILT,
    FERRY,
    FLOOD,
    LADDER,
    MILL,
    RAISED,
    REST,
    SEEN,
    STEPS,
    WEIR,
    lines_of,
    write_documents,
)
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytestmark = [pytest.mark.loopback, pytest.mark.browser, pytest.mark.slow]

ASKED = "Who built the weir at Halden?"
NOT_CONFIRMED = "Not confirmed: no passage was matched to this answer."
WEIGHT = "(element) => Number(getComputedStyle(element).fontWeight)"
UNDER = """(marker) => {
  const below = [];
  let each = marker.closest('p').nextElementSibling;
  for (; each && !each.querySelector(':scope > .marker'); each = each.nextElementSibling) below.push(each.innerText);
  return below.join(' ');
}"""
"""The words of the passage that a marker stands above."""
IN_VIEW = """(element) => {
  const box = element.getBoundingClientRect();
  const seen = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return element.contains(seen);
}"""

NOTHING_ABOVE = """(panel) => {
  const { left, top } = panel.getBoundingClientRect();
  return document.elementFromPoint(left + 40, top + 5).closest('header') !== null;
}"""
"""Whether the header of a panel begins at its upper edge."""


HEADER = ["Year", "Counted", "Warden", "Water", "Ice", "First salmon", "Last salmon"]


def write_counts(file: Path) -> None:
    """Write a table that fills several passages."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(HEADER)
    for year in range(1922, 1952):
        sheet.append([year, 2 * year, "Kari Lund", "High in May and low in August", "None", "in May", "in October"])
    book.create_sheet("Gauges").append(["The gauge of the ladder", "read at noon"])
    book.save(file)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    documents = write_documents(folder / "documents")
    (documents / "lantern.md").write_text(f"# The lantern\n\n{STEPS}\n")
    write_counts(documents / "salmon.xlsx")
    (documents / "duty.md").write_text("---\nkind: memo\n---\n# Duty\n\nThe duty at the weir is told to Ida Marrow.\n")
    ingest([documents], folder / "corpus")
    return folder


@pytest.fixture(scope="module")
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub(model()) as served:
        yield served


@pytest.fixture(scope="module")
def url(home: Path, stub: OpenAIStub) -> Iterator[str]:
    with page_server(home, ANABRANCH_BASE_URL=stub.base_url, OPENAI_API_KEY="none") as address:
        yield address


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    with tab_of(browser) as opened:
        yield opened


@pytest.fixture
def reader(tab: Any, url: str) -> Iterator[Reader]:
    with reading(tab, url) as found:
        yield found


def test_without_a_model_whole_passages_are_shown_and_all_their_words_marked(reader: Reader, home: Path) -> None:
    reader.ask(ASKED)
    answer = reader.page.locator(".answer")
    first = answer.locator("> p").first
    assert first.inner_text() == PASSAGES
    assert first.evaluate(WEIGHT) >= 600
    assert all(line in answer.inner_text() for line in (WEIR, BUILT, RAISED, FLOOD, LADDER, SEEN, BROKEN))
    assert answer.locator("strong").first.inner_text() == BUILT
    # They claim nothing, so there is nothing to count.
    assert reader.page.locator(".claims").count() == 0
    pdf_file = home / "documents" / "weir.pdf"
    reader.page.locator("button.marker").first.click()
    reader.assert_marked(lines_of(pdf_file, 1, WEIR, BUILT, RAISED, FLOOD))
    reader.page.get_by_role("button", name="The quote is also on page 2").click()
    reader.page.get_by_alt_text("Page 2 of").wait_for()
    reader.assert_marked(lines_of(pdf_file, 2, LADDER, SEEN, BROKEN))
    reader.page.get_by_role("button", name="The quote is also on page 3").click()
    reader.page.get_by_alt_text("Page 3 of").wait_for()
    reader.assert_marked(lines_of(pdf_file, 3, REST, MILL))
    assert reader.is_serious() == []


def test_all_words_of_a_passage_are_marked_in_its_text(reader: Reader) -> None:
    reader.ask("How often does the ferry at Lervik cross the fjord?")
    marker = reader.page.locator("button.marker").first
    shown = " ".join(marker.evaluate(UNDER).split())
    assert FERRY in shown
    marker.click()
    assert " ".join(reader.page.locator(".passage mark").inner_text().split()) == shown
    assert reader.page.locator(".sheet").count() == 0


def test_leaves_that_touch_are_opened_one_after_the_other_behind_their_marker(reader: Reader) -> None:
    reader.page.get_by_role("button", name="Settings", exact=True).click()
    reader.page.get_by_text("All others").click()
    reader.page.get_by_label("merge threshold", exact=True).fill("1")
    reader.page.get_by_role("button", name="Close the settings").click()
    reader.ask("How is the lantern cleaned?")
    marker = reader.page.locator("button.marker").first
    shown = " ".join(marker.evaluate(UNDER).split())
    assert STEPS in shown
    marker.click()
    marked = ""
    for at in (1, 2):
        part = reader.page.get_by_role("button", name=f"Part {at} of 2")
        part.click()
        reader.page.locator(f'.parts button:nth-child({at})[aria-pressed="true"]').wait_for()
        marked += " " + reader.page.locator(".passage mark").inner_text()
        assert marker.get_attribute("aria-pressed") == "true"
    assert part.evaluate("(element) => element === document.activeElement")
    assert " ".join(marked.split()) == shown
    assert reader.is_serious() == []


def test_where_nothing_is_found_the_nearest_passages_can_be_opened(reader: Reader, stub: OpenAIStub) -> None:
    reader.set("model", "openai:stub")
    with saying(stub, "The passages do not say what helium costs on Mars."):
        reader.ask("What is the price of helium on Mars?")
    first = reader.page.locator(".answer > p").first
    assert first.inner_text() == "I did not find the answer in your documents."
    assert first.evaluate(WEIGHT) >= 600
    assert reader.page.locator(".claims").count() == 0
    nearest = reader.page.locator(".nearest")
    nearest.locator("summary").click()
    nearest.get_by_role("button").first.click()
    reader.page.locator(".passage").wait_for()


def test_passages_that_match_weakly_say_so_above_them(reader: Reader) -> None:
    reader.ask("What is the price of helium on Mars?")
    first = reader.page.locator(".answer > p").first
    assert first.inner_text() == f"{PASSAGES} They match weakly: the answer may not be in them."
    assert first.evaluate(WEIGHT) >= 600


def test_an_answer_that_is_not_confirmed_says_so_first_and_shows_what_is_nearest(
    reader: Reader, stub: OpenAIStub
) -> None:
    claim = "The weir at Halden was built in 1850 by the engineer Ole Moen."
    reader.set("model", "openai:stub")
    with saying(stub, claim):
        reader.ask(ASKED)
    answer = reader.page.locator(".answer")
    first = answer.locator("> p").first
    assert first.inner_text() == NOT_CONFIRMED
    assert first.evaluate(WEIGHT) >= 600
    assert answer.locator(".not_confirmed:not(.marker)").inner_text() == claim
    told = answer.locator(".marker.not_confirmed").get_attribute("title")
    assert told == f"Not confirmed: could not be matched to a passage; 1850 is in no passage; nearest words: {BUILT}"
    claims = reader.page.locator(".claims")
    assert " ".join(claims.locator("summary").inner_text().split()) == "1 claim: 1 not confirmed"
    claims.locator("summary").click()
    row = " ".join(claims.locator("li").inner_text().split())
    assert row == f"not confirmed {claim} (1850 is in no passage) Nearest words: {BUILT}"
    reader.page.locator(".nearest summary").click()
    reader.page.locator(".nearest").get_by_role("button").first.click()
    reader.page.locator(".sheet img").wait_for()
    assert reader.is_serious() == []


def test_what_was_found_is_shown_while_the_model_is_awaited(reader: Reader) -> None:
    """The first connection tells what was found, and ends; the one after it waits, as the model would."""
    found = f"The model has not begun to answer yet.\n\n[1] weir.pdf, p. 1\n\n{RAISED} **{BUILT}**"
    held: list[Any] = []

    def begin(route: Any) -> None:
        reply = route.fetch()
        metadata = reply.text().partition("\n\n")[0]
        waiting = json.dumps({"step": "create", "status": "waiting", "answer": found})
        reader.page.route(re.compile(r"/runs/[^/]+$"), lambda each: each.fulfill(json={"status": "running"}))
        reader.page.route(re.compile(r"/runs/[^/]+/stream$"), lambda each: held.append(each))
        route.fulfill(response=reply, body=f"{metadata}\n\nid: 0\nevent: custom\ndata: {waiting}\n\n")

    reader.page.route(re.compile(r"/runs/stream$"), begin)
    # The page follows the run once it has heard how that stands.
    with reader.page.expect_request(re.compile(r"/runs/(?!stream$)[^/]+/stream$")):
        reader.ask(ASKED, wait=False)
    meanwhile = reader.page.locator(".meanwhile")
    meanwhile.get_by_text(RAISED).wait_for()
    assert meanwhile.locator("strong").inner_text() == BUILT
    assert reader.turn(0).locator(".answer").first.inner_text() == ""
    # Who does not want to wait finds the way out above it.
    stop = reader.page.get_by_role("button", name="Stop").bounding_box()
    assert stop["y"] < meanwhile.bounding_box()["y"]
    assert reader.is_serious() == []
    reader.page.unroute(re.compile(r"/runs/[^/]+$"))
    held[0].continue_()
    reader.turn(0).locator(".actions").wait_for()
    assert meanwhile.count() == 0
    assert reader.turn(0).locator(".answer").inner_text().startswith(PASSAGES)
    reader.problems.clear()  # a browser reports a connection that breaks by itself


def test_before_the_first_question_one_reads_what_there_is_and_finds_questions(reader: Reader) -> None:
    welcome = reader.page.locator(".welcome")
    questions = welcome.get_by_role("button", name="What does")
    questions.first.wait_for()
    assert re.search(r"5 documents, \d+ passages\. No chat model is set", welcome.inner_text())
    assert reader.is_serious() == []
    welcome.get_by_role("button", name="Set a chat model").click()
    reader.page.locator("#setting-model:focus").wait_for()
    reader.page.keyboard.type("openai:stub")
    reader.page.keyboard.press("Escape")
    welcome.get_by_text("Answers are written by openai:stub.").wait_for()
    asked = questions.first.inner_text()
    questions.first.click()
    reader.turn(0).locator(".actions").wait_for()
    assert reader.turn(0).get_by_role("heading", level=2).inner_text() == asked


def test_headings_near_the_answer_make_further_questions(reader: Reader) -> None:
    reader.ask("How often does the ferry at Lervik cross the fjord?")
    further = reader.turn(0).get_by_role("button", name="What does “Bread” say?")
    further.click()
    reader.turn(1).locator(".actions").wait_for()
    assert "The oven is lit at four." in reader.turn(1).locator(".answer").inner_text()
    # They stand below the last answer alone.
    assert reader.turn(0).locator(".questions").count() == 0


def test_an_answer_is_copied_with_its_quotes_and_pages(reader: Reader, stub: OpenAIStub) -> None:
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.set("model", "openai:stub")
    with saying(stub, BUILT):
        reader.ask(ASKED)
    reader.page.get_by_role("button", name="Copy", exact=True).click()
    reader.page.get_by_text("Copied", exact=True).wait_for()
    copied = reader.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"## {ASKED}\n\n{BUILT} [1]\n\n[1] {WEIR}, page 1 (quoted)\n> {BUILT}")


def test_on_paper_there_are_the_question_the_answer_and_its_sources(reader: Reader, stub: OpenAIStub) -> None:
    reader.set("model", "openai:stub")
    with saying(stub, BUILT):
        reader.ask(ASKED)
    reader.page.emulate_media(media="print")
    shown = [line for line in reader.page.locator("#page").inner_text().splitlines() if line.strip()]
    reader.page.emulate_media(media="screen")
    assert shown == [ASKED, f"{BUILT} 1", f"{WEIR}, page 1", BUILT]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_table_has_one_header_and_its_quote_is_marked_in_it(reader: Reader, width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 800})
    reader.ask("How many salmon were counted in 1930?")
    table = reader.page.locator(".answer table").filter(has_text="1930").first
    assert table.locator("th").all_inner_texts() == HEADER
    reader.page.locator("button.marker").first.click()
    source = reader.page.locator(".source .passage")
    source.locator("mark").first.wait_for()
    assert "3860" in source.locator("tr", has_text="1930").locator("mark").all_inner_texts()
    assert source.locator("mark").first.evaluate("(it) => it.getBoundingClientRect().bottom <= innerHeight")
    assert source.locator("th").all_inner_texts() == HEADER
    assert "|" not in source.inner_text()
    # What does not fit is reached by scrolling in it, and not in the page.
    assert reader.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    assert reader.is_serious() == []


def test_a_single_row_is_a_table_too(reader: Reader) -> None:
    reader.ask("When is the gauge of the ladder read?")
    reader.turn(0).locator(".marker").first.click()
    source = reader.page.locator(".source .passage")
    source.locator("mark").first.wait_for()
    assert source.locator("th", has_text="read at noon").locator("mark").count() == 1
    assert "|" not in source.inner_text()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_title_and_the_cross_of_a_long_source_stay_in_view(reader: Reader, width: int, colours: str) -> None:
    reader.page.set_viewport_size({"width": width, "height": 500})
    reader.page.emulate_media(color_scheme=colours)
    reader.ask("How many salmon were counted in 1930?")
    reader.page.locator("button.marker").first.click()
    source = reader.page.locator(".source")
    source.locator("mark").first.wait_for()
    title, cross = source.get_by_role("heading", level=2), reader.page.get_by_role("button", name="Close the source")
    source.evaluate("(panel) => panel.scrollTo(0, panel.scrollHeight)")
    assert source.evaluate("(panel) => panel.scrollTop") > cross.bounding_box()["height"] * 2
    assert title.evaluate(IN_VIEW)
    assert cross.evaluate(IN_VIEW)
    assert source.evaluate(NOTHING_ABOVE)
    assert reader.is_serious() == []
    # What is come to from below does not end behind them.
    first = source.locator("th").first
    first.evaluate("(cell) => cell.scrollIntoView({ block: 'nearest' })")
    assert first.evaluate(IN_VIEW)
    # Nor does a title take the place of the text.
    title.evaluate("(title) => { title.textContent = 'The wardens of the weir '.repeat(40); }")
    assert title.bounding_box()["height"] < source.bounding_box()["height"] / 3
    cross.click()
    source.wait_for(state="detached")


def test_escape_closes_a_card_wherever_the_focus_is(reader: Reader) -> None:
    reader.ask(ASKED)
    marker = reader.page.locator("button.marker").first
    marker.hover()
    card = reader.page.get_by_role("tooltip")
    card.wait_for()
    reader.page.keyboard.press("Escape")
    card.wait_for(state="detached")
    marker.click()
    reader.page.locator(".source").wait_for()
    reader.page.mouse.move(0, 0)
    reader.page.keyboard.press("Escape")
    reader.page.locator(".source").wait_for(state="detached")
    assert marker.evaluate("(it) => it === document.activeElement")
    assert card.count() == 0


def test_only_the_documents_that_are_chosen_are_asked(reader: Reader) -> None:
    reader.page.get_by_role("button", name="Documents", exact=True).click()
    documents = reader.page.get_by_role("complementary", name="Documents")
    documents.get_by_label("Find a document").fill("FERRY lervik")
    documents.get_by_text("None of the 5 has these words").wait_for()
    documents.get_by_label("Find a document").fill("FERRY")
    documents.get_by_label("Ask ferry.md", exact=True).check()
    assert documents.get_by_role("checkbox").count() == 1
    assert reader.is_serious() == []
    reader.page.keyboard.press("Escape")
    reader.ask(ASKED)
    turn = reader.turn(0)
    assert turn.locator(".choice").inner_text() == "Asked only ferry.md"
    assert BUILT not in turn.inner_text()
    reader.page.get_by_role("button", name="Ask all documents").click()
    # The same question again is asked of the same documents, and the next one of all.
    turn.get_by_role("button", name="Retry").click()
    reader.page.get_by_text("Version 2 of 2").wait_for()
    turn.locator(".actions").wait_for()
    assert turn.locator(".choice").inner_text() == "Asked only ferry.md"
    reader.ask(ASKED)
    assert BUILT in reader.turn(1).inner_text()
    assert reader.turn(1).locator(".choice").count() == 0


def test_documents_are_listed_by_folder_and_a_folder_is_asked(reader: Reader) -> None:
    names = ["a/b/one.md", "a/b/two.md", "a[1]/three.md", "four.md"]
    listed = [{"doc_id": each, "title": each[-8:], "source": each, "file": each, "pages": 0, "access": [],
               "has_other_access": False, "removable": True} for each in names]  # fmt: skip
    sent: list[Any] = []

    def refuse(route: Any) -> None:
        sent.append(route.request.post_data_json)
        route.abort()

    reader.page.route(re.compile(r"/documents\?"), lambda route: route.fulfill(json=listed))
    reader.page.route(re.compile(r"/runs/stream$"), refuse)
    reader.page.get_by_role("button", name="Documents", exact=True).click()
    documents = reader.page.get_by_role("complementary", name="Documents")
    folder = documents.get_by_role("button", name="a/b/ 2", exact=True)
    documents.get_by_label("Ask a/b/", exact=True).check()
    assert documents.get_by_label("Ask a/b/two.md").is_disabled()
    assert documents.get_by_label("Ask a/b/two.md").is_checked()
    folder.click()
    assert documents.get_by_label("Ask a/b/two.md").count() == 0
    documents.get_by_label("Ask a[1]/", exact=True).check()
    documents.get_by_label("Ask four.md", exact=True).check()
    assert reader.is_serious() == []
    reader.page.keyboard.press("Escape")
    assert reader.page.locator(".composer .choice").inner_text().startswith("Asks only a/b/ a[1]/ four.md")
    reader.ask(ASKED, wait=False)
    reader.page.get_by_role("alert").wait_for()
    glob = [{"source": {"glob": "a/b/*"}}, {"source": {"glob": "a[[]1]/*"}}]
    assert sent[0]["input"]["filters"] == {"or": [*glob, {"source": {"in": ["four.md"]}}]}
    reader.problems.clear()  # a browser reports a request that fails by itself


def test_a_filter_from_the_question_is_shown_and_a_click_takes_it_away(reader: Reader, stub: OpenAIStub) -> None:
    reader.set("model", "openai:stub")
    usual = stub.script
    stub.script = model(rewrite="weir\nONLY: kind = memo")
    try:
        reader.page.evaluate(
            """() => localStorage.setItem("anabranch.settings",
            JSON.stringify({...JSON.parse(localStorage.getItem("anabranch.settings")), infer_filter: true}))"""
        )
        reader.page.reload()
        reader.ask("What is told at the weir, in a memo?")
        turn = reader.turn(0)
        assert turn.get_by_text("Searched only: kind = memo").is_visible()
        turn.get_by_role("button", name="Search all documents").click()
        turn.get_by_text("Version 2 of 2").wait_for()
        assert turn.get_by_text("Searched only").count() == 0
    finally:
        stub.script = usual
