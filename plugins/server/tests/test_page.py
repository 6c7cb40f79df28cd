"""The page in a real browser: asked, read, stopped, edited, judged, and opened at the place of a quote."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from anabranch.ingestion.pipeline import ingest
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from plugins.server.tests.page_server import (
    DEV,
    PASSAGES,
    SERVE,
    Reader,
    chromium,
    page_server,
    reading,
    saying,
    server_of,
    tab_of,
)
from plugins.server.tests.weir import (
    BUILT,
    FERRY,
    FLOOD,
    RAISED,
    WEIR,
    lines_of,
    write_documents,
)
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytestmark = [pytest.mark.loopback, pytest.mark.browser, pytest.mark.slow]

ASKED = "Who built the weir at Halden?"
SLOWLY = 0.15
"""Seconds between the words of the stub, where a test has to do something while an answer is written."""

STREAMED = f"{BUILT} It is old. {FLOOD}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Path:
    """Documents in a corpus; nothing is made where there is no browser."""
    folder = tmp_path_factory.mktemp("page")
    ingest([write_documents(folder / "documents")], folder / "corpus")
    return folder


@pytest.fixture(scope="module")
def stub() -> Iterator[OpenAIStub]:
    script = model(map=Reply(STREAMED, chunk_delay=SLOWLY), condense=Reply("What happened to the weir in 1911?"))
    with OpenAIStub(script) as served:
        yield served


@pytest.fixture(scope="module", params=[SERVE, DEV])
def url(request: pytest.FixtureRequest, home: Path, stub: OpenAIStub) -> Iterator[str]:
    with server_of(request.param, home, ANABRANCH_BASE_URL=stub.base_url, OPENAI_API_KEY="none") as address:
        yield address


ONE_SERVER = pytest.mark.parametrize("url", [SERVE], indirect=True)
"""For what happens in the browser alone, whoever serves."""

MOSTLY_ONE = pytest.mark.parametrize("url", [SERVE, pytest.param(DEV, marks=pytest.mark.exhaustive)], indirect=True)
"""For what test_page_app.py asks of the development server as well."""


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    with tab_of(browser) as opened:
        yield opened


@pytest.fixture
def reader(tab: Any, url: str) -> Iterator[Reader]:
    with reading(tab, url) as found:
        yield found


@MOSTLY_ONE
def test_a_quote_is_shown_in_a_card_and_marked_on_its_page(reader: Reader, home: Path, stub: OpenAIStub) -> None:
    reader.set("model", "openai:stub")
    with saying(stub, BUILT):
        reader.ask(ASKED)
    marker = reader.page.locator("button.marker").first
    marker.hover()
    card = reader.page.get_by_role("tooltip")
    assert BUILT in card.inner_text()
    assert "Quoted" in card.inner_text()
    reader.page.mouse.move(0, 0)
    card.wait_for(state="detached")
    marker.focus()
    card.wait_for()
    marker.click()
    reader.assert_marked(lines_of(home / "documents" / "weir.pdf", 1, BUILT))
    reader.page.keyboard.press("Escape")
    reader.page.locator(".source").wait_for(state="detached")
    assert reader.page.evaluate("document.activeElement.className").startswith("marker")


@MOSTLY_ONE
def test_a_conversation_is_followed_up_edited_and_gone_back_to(reader: Reader) -> None:
    reader.ask(ASKED)
    reader.ask("What happened in 1911?")
    assert FLOOD in reader.turn(1).inner_text()
    reader.turn(0).get_by_role("button", name="Edit").click()
    reader.page.get_by_label("Edit the question").fill("How often does the ferry at Lervik cross the fjord?")
    reader.page.get_by_role("button", name="Ask again").click()
    reader.page.get_by_text("Version 2 of 2").wait_for()
    assert FERRY in reader.turn(0).inner_text()
    assert reader.page.locator("article").count() == 1
    reader.page.get_by_role("button", name="Earlier version").click()
    reader.page.get_by_text("Version 1 of 2").wait_for()
    assert reader.page.locator("article").count() == 2
    reader.turn(0).get_by_role("button", name="Go on from here").click()
    reader.turn(1).wait_for(state="detached")
    reader.ask("Which flood carried away a half of it?")
    assert reader.page.locator("article").count() == 2
    reader.page.reload()
    reader.turn(1).get_by_text("Version 2 of 2").wait_for()
    assert BUILT in reader.turn(0).inner_text()
    reader.turn(1).get_by_role("button", name="Retry").click()
    reader.turn(1).get_by_text("Version 3 of 3").wait_for()


def test_after_a_quick_answer_one_can_look_further(reader: Reader, stub: OpenAIStub) -> None:
    reader.set("model", "openai:stub")
    reader.set("effort", "quick")
    before = len(stub.calls)
    reader.ask(ASKED)
    assert len(stub.calls) == before + 1
    reader.turn(0).get_by_role("button", name="Look further").click()
    reader.turn(0).get_by_text("Version 2 of 2").wait_for()
    assert len(stub.calls) == before + 3
    assert reader.turn(0).get_by_role("button", name="Look further").count() == 0


def test_conversations_are_renamed_exported_and_deleted(reader: Reader, stub: OpenAIStub) -> None:
    reader.ask(ASKED)
    reader.set("model", "openai:stub")
    wrong = "A flood took its northern half in 1912."
    with saying(stub, f"{BUILT} {wrong}"):
        reader.ask("What happened to the weir in 1911?")
    listed = reader.page.get_by_role("navigation", name="Conversations")

    def choose(title: str, what: str) -> None:
        listed.get_by_role("button", name=f"More about {title}").first.click()
        listed.get_by_role("button", name=what, exact=True).click()

    choose(ASKED, "Rename")
    reader.page.get_by_label("Title of the conversation").fill("About the dam")
    reader.page.get_by_role("button", name="Save").click()
    listed.get_by_role("button", name="About the dam", exact=True).wait_for()
    with reader.page.expect_download() as download:
        choose("About the dam", "Export as Markdown")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    shown, written = text.split("## What happened to the weir in 1911?\n\n")
    assert shown.startswith(f"# About the dam\n\n## {ASKED}\n\n{PASSAGES}\n\n[1] weir.pdf, p. 1, {WEIR}\n\n")
    # The passage stands there once, and what is below it has its grade.
    assert shown.count(BUILT) == 1
    assert f"[1] {WEIR}, page 1 (quoted)\n" in shown
    assert written.startswith(f"{BUILT} [1] {wrong} [?]\n")
    assert f"[1] {WEIR}, page 1 (quoted)\n> {BUILT}\n" in written
    assert f"[?] {wrong} (not confirmed: 1912 is in no passage)\n> Nearest words: {FLOOD}\n" in written
    with reader.page.expect_download() as download:
        choose("About the dam", "Export as JSON")
    assert download.value.suggested_filename == "About the dam.json"
    turn, last = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["turns"]
    assert (turn["question"], turn["status"]) == (ASKED, "answered")
    assert all(line in turn["citations"][0]["quote"] for line in (WEIR, BUILT, RAISED, FLOOD))
    assert turn["trace"][0]["node"] == "begin"
    assert (last["citations"][0]["quote"], last["citations"][0]["grade"]) == (BUILT, "quoted")
    assert [each["text"] for each in last["unconfirmed"]] == [wrong]
    choose("About the dam", "Delete")
    reader.page.get_by_role("button", name="Delete for good").click()
    listed.get_by_role("button", name="About the dam", exact=True).wait_for(state="detached")
    assert reader.page.locator("article").count() == 0


def test_an_answer_streams_and_is_read_on_after_a_reload(reader: Reader, stub: OpenAIStub) -> None:
    reader.set("model", "openai:stub")
    reader.ask(ASKED, wait=False)
    answer = reader.page.locator(".answer").first
    reader.page.locator(".answer").get_by_text("The weir at").wait_for()
    assert answer.get_attribute("aria-busy") == "true"
    assert "1911" not in answer.inner_text()
    reader.page.reload()
    reader.turn(0).locator(".actions").wait_for()
    assert FLOOD[:40] in answer.inner_text()
    assert answer.inner_text().count("The weir at Halden") == 1
    assert reader.turn(0).get_by_role("heading", name=ASKED).count() == 1
    # Both claims are of one passage and have its number; each has words of its own.
    for marker, quote in zip(reader.page.locator("button.marker").all(), (BUILT, FLOOD), strict=True):
        marker.focus()
        reader.page.get_by_role("tooltip").get_by_text(quote).wait_for()
    # What no passage says is underlined where it stands, and counted.
    assert reader.page.locator(".answer .not_confirmed:not(.marker)").inner_text() == "It is old."
    assert "1 not confirmed" in reader.page.locator(".claims summary").inner_text()
    reader.page.get_by_role("button", name="How it was found").click()
    river = reader.page.get_by_role("region", name="How it was found")
    assert "builder of the weir" in river.inner_text()
    assert river.locator("svg path").count() > 0
    assert re.search(r"[1-9]\d* model calls in", river.inner_text())


def test_a_connection_that_breaks_is_taken_up_behind_the_last_event(reader: Reader) -> None:
    """The connection of the question ends early; the one after it begins anew, as another worker would."""
    asked: list[str | None] = []
    first = [("metadata", {"run_id": "RUN", "attempt": 1}), ("messages", [{"type": "ai", "content": "Old words"}])]
    second = [("metadata", {"run_id": "RUN", "attempt": 2}), ("custom", {"step": "create", "status": "started"})]

    def stream(run: str, said: list[tuple[str, Any]], number: int) -> dict[str, Any]:
        lines = [
            f"id: {number + at}\nevent: {event}\ndata: {json.dumps(data).replace('RUN', run)}\n\n"
            for at, (event, data) in enumerate(said)
        ]
        place = {"Content-Location": f"/threads/x/runs/{run}"}
        return {"status": 200, "headers": {"Content-Type": "text/event-stream", **place}, "body": "".join(lines)}

    def begin(route: Any) -> None:
        place = route.request.url.removesuffix("/stream")
        body = json.dumps(route.request.post_data_json).encode()
        request = urllib.request.Request(place, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            run = json.loads(reply.read())["run_id"]
        reader.page.route(re.compile(rf"/runs/{run}$"), status)
        reader.page.route(re.compile(rf"/runs/{run}/stream$"), lambda each: go_on(each, run))
        route.fulfill(**stream(run, first, 1_000_001))

    def status(route: Any) -> None:
        # However fast the run is: it goes on as long as its connections break.
        if len(asked) < 3:
            route.fulfill(json={"status": "running"})
        else:
            route.continue_()

    def go_on(route: Any, run: str) -> None:
        asked.append(route.request.headers.get("last-event-id"))
        if len(asked) == 1:
            route.fulfill(**stream(run, second, 2_000_001))
        elif len(asked) == 2:
            route.abort()
        else:
            route.continue_()

    reader.page.route(re.compile(r"/runs/stream$"), begin)
    reader.ask(ASKED)
    assert asked == ["1000002", "2000002", "2000002"]
    shown = reader.turn(0).locator(".answer").inner_text()
    assert shown.startswith(PASSAGES)
    assert BUILT in shown
    assert "Old words" not in reader.turn(0).inner_text()
    reader.problems.clear()  # a browser reports a connection that breaks by itself


def test_an_answer_is_stopped_and_asked_for_again(reader: Reader) -> None:
    reader.set("model", "openai:stub")
    reader.ask(ASKED, wait=False)
    reader.page.locator(".answer").get_by_text("The weir").wait_for()
    reader.page.get_by_role("button", name="Stop").click()
    reader.page.get_by_text("This was stopped").wait_for()
    assert "1911" not in reader.turn(0).inner_text()
    reader.page.get_by_role("button", name="Retry").click()
    reader.page.get_by_text("Version 2 of 2").wait_for()
    assert FLOOD[:40] in reader.turn(0).inner_text()


def test_what_is_searched_for_and_answered_from_is_chosen_by_a_person(reader: Reader) -> None:
    reader.set("review", "queries")
    reader.ask(ASKED)
    queries = reader.page.get_by_role("form", name="What to search for")
    queries.get_by_label("Query 1", exact=True).wait_for()
    assert reader.is_serious() == []
    # Nothing is lost when the page is loaded anew while it waits.
    reader.page.reload()
    queries.get_by_role("button", name="Add a query").click()
    queries.get_by_label("Query 2", exact=True).fill("the ferry at Lervik")
    queries.get_by_role("button", name="Leave out query 1").click()
    queries.get_by_role("button", name="Search").click()
    reader.turn(0).locator(".feedback").wait_for()
    reader.turn(0).get_by_role("button", name="How it was found").click()
    assert "the ferry at Lervik" in reader.page.locator(".queries").inner_text()
    assert ASKED not in reader.page.locator(".queries").inner_text()

    reader.set("review", "sources")
    reader.ask("Which flood carried away a half of the weir?")
    sources = reader.page.get_by_role("form", name="Which passages to answer from")
    sources.get_by_role("button", name=re.compile("^Answer from")).wait_for()
    assert reader.is_serious() == []
    offered = sources.get_by_role("checkbox")
    assert offered.count() > 1
    for each in offered.all():
        each.uncheck()
    assert sources.get_by_role("button", name=re.compile("^Answer from")).is_disabled()
    offered.first.check()
    sources.get_by_role("button", name="Answer from this passage").click()
    reader.turn(1).locator(".feedback").wait_for()
    assert FLOOD in reader.turn(1).inner_text()
    reader.turn(1).get_by_role("button", name="Right", exact=True).click()
    reader.page.get_by_text("Noted: right").wait_for()

    # What was answered after a pause is a question like any other: it can be edited and come back to.
    reader.set("review", "none")
    reader.turn(0).get_by_role("button", name="Edit").click()
    reader.page.get_by_label("Edit the question").fill("How often does the ferry at Lervik cross the fjord?")
    reader.page.get_by_role("button", name="Ask again").click()
    reader.page.get_by_text("Version 2 of 2").wait_for()
    reader.page.get_by_role("button", name="Earlier version").click()
    assert FLOOD in reader.turn(1).inner_text()


@MOSTLY_ONE
def test_documents_are_listed_and_looked_at(reader: Reader) -> None:
    reader.page.get_by_role("button", name="Documents", exact=True).click()
    documents = reader.page.get_by_role("complementary", name="Documents")
    documents.get_by_text("ferry.md").wait_for()
    documents.get_by_role("button", name="The Halden weir").click()
    documents.get_by_role("button", name="Next page").click()
    documents.get_by_alt_text("Page 2 of The Halden weir").wait_for()
    assert reader.is_serious() == []


@MOSTLY_ONE
def test_feedback_is_kept_with_what_was_shown(reader: Reader) -> None:
    reader.ask(ASKED)
    reader.page.get_by_role("button", name="Right", exact=True).click()
    reader.page.get_by_text("Noted: right").wait_for()
    reader.page.get_by_role("button", name="Better source").click()
    reader.page.get_by_label("The passage that says it").select_option(index=1)
    reader.page.get_by_label("What should it say").fill("Look at the first page.")
    reader.page.get_by_role("button", name="Send").click()
    reader.page.get_by_text("Noted: better source").wait_for()
    with urllib.request.urlopen(f"{reader.url}/feedback.jsonl", timeout=60) as reply:
        last = [json.loads(line) for line in reply.read().decode().splitlines()][-1]
    assert (last["text"], last["feedback"]["verdict"]) == (ASKED, "better_source")
    assert last["feedback"]["comment"] == "Look at the first page."
    assert BUILT in last["references"][0]["content"]


@MOSTLY_ONE
def test_settings_are_chosen_in_a_form_and_a_wrong_one_is_said(reader: Reader) -> None:
    reader.page.get_by_role("button", name="Settings", exact=True).click()
    reader.page.get_by_label("How to search further", exact=True).wait_for()
    assert reader.page.get_by_label("corpus", exact=True).count() == 0
    assert reader.page.get_by_label("base url", exact=True).count() == 0
    reader.page.get_by_label("How to search further", exact=True).select_option("none")
    reader.page.get_by_text("All others").click()
    reader.page.get_by_label("depth", exact=True).fill("0")
    reader.page.get_by_role("button", name="Close the settings").click()
    reader.ask(ASKED, wait=False)
    assert "depth" in reader.page.get_by_role("alert").inner_text()
    reader.problems.clear()  # a browser reports each refused request by itself
    reader.page.get_by_role("button", name="Settings", exact=True).click()
    reader.page.get_by_role("button", name="Leave everything to the server").click()
    reader.page.get_by_label("How many passages to keep", exact=True).fill("2")
    reader.page.keyboard.press("Escape")
    reader.page.get_by_role("button", name="Retry").click()
    reader.page.locator("button.marker").first.wait_for()
    reader.turn(0).get_by_role("button", name="How it was found").click()
    assert "kept 2" in reader.page.get_by_role("region", name="How it was found").inner_text()


@ONE_SERVER
def test_a_telephone_shows_it_without_scrolling_sideways(reader: Reader) -> None:
    reader.page.set_viewport_size({"width": 380, "height": 780})
    reader.page.emulate_media(color_scheme="dark")

    def overhang() -> int:
        return int(reader.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    reader.ask(ASKED)
    reader.page.get_by_role("button", name="How it was found").click()
    assert overhang() == 0
    reader.page.locator("button.marker").first.click()
    reader.page.locator(".sheet rect").first.wait_for()
    assert overhang() == 0
    reader.page.get_by_role("button", name="Close the source").click()
    reader.page.get_by_role("button", name="Conversations").click()
    reader.page.get_by_role("button", name="New question").wait_for()
    assert overhang() == 0
    assert reader.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 25, 28)"


@ONE_SERVER
def test_a_question_that_was_stopped_as_it_began_is_not_shown_as_the_one_before(reader: Reader) -> None:
    reader.ask(ASKED)
    first = reader.page.request.get(f"{reader.url}/threads/{reader.page.url.rpartition('/')[2]}/state").json()

    def stopped(route: Any) -> None:
        # As it is told when the result of `begin` was written, and the run stopped before that was applied.
        state = {**route.fetch().json(), "next": [], "tasks": [{"id": "1", "name": "begin", "interrupts": []}]}
        route.fulfill(json={**state, "values": {**first["values"], "question": "How high is it?"}})

    reader.page.route(re.compile(r"/state$"), stopped)
    reader.ask("How high is it?")
    assert reader.turn(1).get_by_role("heading", name="How high is it?").count() == 1
    assert reader.turn(1).get_by_text("This was stopped").count() == 1
    assert BUILT not in reader.turn(1).inner_text()


@ONE_SERVER
def test_a_button_stays_on_one_line_beside_a_long_title(reader: Reader) -> None:
    reader.page.set_viewport_size({"width": 375, "height": 720})
    documents = [{"doc_id": "1", "title": "The long title of a document " * 5, "source": "a.md", "file": "a.md",
                  "pages": 0, "access": [], "removable": True}]  # fmt: skip
    reader.page.route(re.compile(r"/documents\?"), lambda route: route.fulfill(json=documents))
    reader.page.get_by_role("button", name="Documents", exact=True).click()
    button = reader.page.get_by_role("button", name="Remove a.md")
    button.wait_for()
    lines = "(it) => it.getBoundingClientRect().height / parseFloat(getComputedStyle(it).fontSize)"
    assert button.evaluate(lines) < 2.5


@ONE_SERVER
def test_a_finger_sees_the_quote_first_and_the_page_next(browser: Any, url: str) -> None:
    context = browser.new_context(viewport={"width": 380, "height": 780}, has_touch=True, is_mobile=True)
    reader = Reader(context.new_page(), url)
    reader.ask(ASKED)
    reader.page.locator("button.marker").first.tap()
    reader.page.get_by_role("tooltip").wait_for()
    assert reader.page.locator(".source").count() == 0
    reader.page.locator("button.marker").first.tap()
    reader.page.locator(".sheet rect").first.wait_for()
    context.close()
    assert reader.problems == []


@ONE_SERVER
def test_colours_are_chosen_and_kept(reader: Reader) -> None:
    reader.page.emulate_media(color_scheme="dark")
    reader.page.get_by_role("button", name="Settings", exact=True).click()
    reader.page.get_by_label("Colours").select_option("light")
    reader.page.reload()
    reader.page.get_by_role("button", name="Settings", exact=True).wait_for()
    assert reader.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 251, 249)"


@ONE_SERVER
def test_an_answer_is_text_and_never_a_page_of_its_own(reader: Reader, stub: OpenAIStub) -> None:
    evil = (
        f"<img src=x onerror=alert(1)> {BUILT} [a link](javascript:alert(1))\n\n| a | b |\n|---|---|\n| **x** | `y` |\n"
    )
    reader.set("model", "openai:stub")
    with saying(stub, evil):
        reader.ask(ASKED)
    answer = reader.page.locator(".answer").first
    assert answer.locator("img, a, script").count() == 0
    assert BUILT in answer.inner_text()
    assert "<img src=x onerror=alert(1)>" in answer.inner_text()
    assert answer.locator("td strong").inner_text() == "x"
    assert answer.locator("td code").inner_text() == "y"


def test_a_key_is_asked_for_and_opens_ones_own(browser: Any, home: Path, tmp_path: Path) -> None:
    key = new_key()
    (tmp_path / "auth.yaml").write_text(
        yaml.safe_dump({"keys": [{"identity": "ada", "sha256": digest_of_secret(key)}]})
    )
    (tmp_path / "corpus").symlink_to(home / "corpus")
    with page_server(tmp_path, ANABRANCH_AUTH=str(tmp_path / "auth.yaml")) as address:
        context = browser.new_context()
        reader = Reader(context.new_page(), address)
        reader.page.get_by_label("Your key").fill("not a key")
        reader.page.get_by_role("button", name="Sign in").click()
        reader.page.get_by_text("This key is not known here").wait_for()
        assert reader.is_serious() == []
        reader.page.get_by_label("Your key").fill(key)
        reader.page.get_by_role("button", name="Sign in").click()
        reader.page.get_by_role("button", name="Sign out ada").wait_for()
        reader.ask(ASKED)
        reader.page.locator("button.marker").first.click()
        reader.page.locator(".sheet rect").first.wait_for()
        assert reader.page.evaluate("document.querySelector('.sheet img').naturalWidth") > 0
        assert key not in reader.page.url
        reader.page.get_by_role("button", name="Sign out ada").click()
        reader.page.get_by_label("Your key").wait_for()
        context.close()
    # A browser reports each refused request by itself.
    assert [each for each in reader.problems if "401" not in each] == []
