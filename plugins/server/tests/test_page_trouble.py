"""The page where things go wrong, or are out of the ordinary: hostile names, a server that stops, limits, two tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.page_server import Reader, chromium, page_server, reading, tab_of
from plugins.server.tests.serve_process import started
from plugins.server.tests.weir import BUILT, FLOOD, write_documents
from tests.graph.replies import model
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytestmark = [pytest.mark.loopback, pytest.mark.browser, pytest.mark.slow]

ASKED = "Who built the weir at Halden?"
HOSTILE = "<img src=x onerror=alert(1)>.md"
TOWER = "The hostile tower was built in 1777."
ARABIC = "بُني السد في هالدن عام 1848 على يد المهندس أولي موين."
TABLE = f"""{BUILT}

| Year | What |
|---|---|
| one | {FLOOD} |

- one

> one weir

[x](javascript:alert(1)) <a href="javascript:alert(2)">y</a>

```
{"code " * 60}
```
"""
MANY = 30
LONG = "\n\n".join(f"{BUILT} The water of part {number} runs." for number in range(MANY))


def answered(request: Request) -> Reply:
    """Answer as the question says."""
    asked = request.user.rpartition("</passages-")[2]
    if "long" in asked:
        return Reply(LONG)
    if "السد" in asked:
        return Reply(ARABIC)
    return Reply(TABLE) if "table" in asked else Reply(f"{BUILT} {FLOOD}", chunk_delay=0.3)


def judged(request: Request) -> Reply:
    return Reply("No." if f"Statement: {BUILT}" in request.user else "Yes.")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Path:
    folder = tmp_path_factory.mktemp("trouble")
    documents = write_documents(folder / "documents")
    (documents / HOSTILE).write_text(f"# <script>alert(1)</script> Tower\n\n{TOWER} See [it](javascript:alert(1)).\n")
    (documents / "arabic.md").write_text(f"# السد\n\n{ARABIC}\n", encoding="utf-8")
    ingest([documents], folder / "corpus")
    return folder


@pytest.fixture(scope="module")
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub(model(map=answered, judge=judged)) as served:
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
        found.listen("dialog", lambda dialog: found.problems.append(f"a dialog: {dialog.message}"))
        yield found


def test_hostile_names_stay_text_wherever_they_are_shown(reader: Reader) -> None:
    page = reader.page
    reader.ask("When was the hostile tower built? <img src=y onerror=alert(3)>")
    page.locator("button.marker").first.hover()
    assert TOWER in page.get_by_role("tooltip").inner_text()
    page.locator("button.marker").first.click()
    page.locator(".source").get_by_text(HOSTILE).wait_for()
    page.get_by_role("button", name="How it was found").click()
    page.get_by_role("region", name="How it was found").get_by_text("Passages and their ranks").click()
    page.get_by_role("button", name="Documents", exact=True).click()
    page.get_by_role("button", name=f"Remove {HOSTILE}").wait_for()
    listed = page.get_by_role("navigation", name="Conversations")
    listed.get_by_role("button", name=re.compile("^More about")).first.click()
    with page.expect_download() as download:
        listed.get_by_role("button", name="Export as JSON").click()
    assert "<" not in download.value.suggested_filename
    assert page.locator("#page img, #page script, #page a").count() == 0
    assert reader.is_serious() == []


def test_only_the_claim_without_support_is_marked_and_nothing_of_an_answer_runs(reader: Reader) -> None:
    reader.set("model", "openai:stub")
    reader.ask(f"{ASKED} Give me a table.")
    answer = reader.page.locator(".answer")
    assert answer.locator("a, img, script").count() == 0
    assert answer.locator("td").nth(1).inner_text().startswith(FLOOD)
    marked = answer.locator(".not_confirmed:not(.marker)")
    # "one" stands in a cell, in a list and within "one weir"; nothing else with these letters is underlined.
    assert set(marked.all_inner_texts()) <= {"one", "one weir", 'x <a href="javascript:alert(2)">y</a>'}
    signs = answer.locator(".marker.not_confirmed").count()
    assert marked.count() <= signs
    assert answer.locator("blockquote").inner_text().startswith("one weir")
    reader.page.set_viewport_size({"width": 380, "height": 780})
    assert reader.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_what_a_judge_does_not_find_is_told_once_with_the_reason(reader: Reader) -> None:
    reader.set("model", "openai:stub")
    reader.set("verify", "llm")
    reader.ask(ASKED)
    claims = reader.page.locator(".claims")
    claims.locator("summary").click()
    assert "2 claims: 1 quoted 1 not confirmed" in " ".join(claims.locator("summary").inner_text().split())
    rows = [" ".join(row.split()) for row in claims.locator("li").all_inner_texts()]
    assert [row.startswith(grade) for row, grade in zip(rows, ("quoted", "not confirmed"), strict=True)] == [True, True]
    assert "the judge did not find it there" in rows[1]
    assert "Nearest words:" in rows[1]
    assert reader.page.locator(".answer .marker.not_confirmed").inner_text().startswith("?")


def test_a_long_answer_is_shown_whole_with_all_its_markers(reader: Reader) -> None:
    reader.set("model", "openai:stub")
    reader.ask(f"{ASKED} Be long.")
    answer = reader.page.locator(".answer")
    assert answer.inner_text().count(BUILT) == MANY
    assert answer.locator("button.marker").count() >= MANY
    answer.locator("button.marker").last.click()
    reader.page.locator(".sheet rect").first.wait_for()
    assert reader.is_serious() == []


def test_a_script_from_right_to_left_is_set_so(reader: Reader) -> None:
    question = "من بنى السد في هالدن؟"
    reader.set("model", "openai:stub")
    reader.page.get_by_label("Question", exact=True).fill(question)
    direction = "(element) => getComputedStyle(element).direction"
    assert reader.page.get_by_label("Question", exact=True).evaluate(direction) == "rtl"
    reader.ask(question)
    answer = reader.page.locator(".answer p").first
    assert ARABIC[:20] in answer.inner_text()
    for element in (answer, reader.turn(0).locator("h2"), reader.page.locator(".threads .title").first):
        assert element.evaluate(direction) == "rtl"
    # The same reason is said once.
    reasons = reader.page.locator(".degraded li").all_inner_texts()
    assert len(reasons) == len(set(reasons))
    reader.page.get_by_role("button", name="New question").click()
    # Asked before the old answer is gone, the new one would be waited for in the wrong place.
    reader.page.locator("article").first.wait_for(state="detached")
    reader.ask(ASKED)
    assert reader.page.locator(".answer p").first.evaluate(direction) == "ltr"


def test_a_double_click_asks_once(reader: Reader) -> None:
    reader.page.get_by_label("Question", exact=True).fill(ASKED)
    reader.page.get_by_role("button", name="Ask", exact=True).dblclick()
    reader.turn(0).locator(".actions").wait_for()
    reader.turn(0).get_by_role("button", name="Retry").dblclick()
    reader.page.get_by_text("Version 2 of 2").wait_for()
    thread = reader.page.url.rpartition("/")[2]
    assert len(httpx.get(f"{reader.url}/threads/{thread}/runs", timeout=60).json()) == 2


def test_two_tabs_go_on_with_one_conversation(reader: Reader) -> None:
    reader.ask(ASKED)
    other = Reader(reader.page.context.new_page(), reader.url)
    other.page.locator(".threads .title").first.click()
    other.turn(0).locator(".actions").wait_for()
    reader.ask("How often does the ferry at Lervik cross the fjord?")
    # A browser says so when one comes back to a tab.
    other.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    other.turn(1).locator(".actions").wait_for()
    other.ask("Which flood carried away a half of the weir?")
    reader.ask("When did the mill grind corn?")
    assert reader.page.locator("article").count() == 4
    assert FLOOD in reader.turn(2).inner_text()
    assert other.problems == []


def test_many_conversations_are_searched_and_older_ones_fetched(reader: Reader) -> None:
    with httpx.Client(base_url=reader.url, timeout=60) as http:
        for number in range(201):
            title = {"title": f"Talk {number} about bread", "graph_id": "answer"}
            assert http.post("/threads", json={"metadata": title}).status_code == 200
    reader.page.reload()
    listed = reader.page.get_by_role("navigation", name="Conversations")
    listed.get_by_role("button", name="Older conversations").click()
    listed.get_by_role("button", name="Older conversations").wait_for(state="detached")
    search = listed.get_by_label("Find a conversation")
    search.fill("bread 117")
    listed.get_by_role("button", name="Talk 117 about bread", exact=True).wait_for()
    assert listed.get_by_role("listitem").count() == 1
    search.fill("no such words")
    listed.get_by_text("has these words in its title").wait_for()
    assert reader.is_serious() == []


def test_a_question_over_a_limit_is_refused_with_the_time_to_wait(reader: Reader) -> None:
    told = {"detail": "You have asked 20 questions today, and may ask 20."}

    def refuse(route: Any) -> None:
        route.fulfill(status=429, headers={"Retry-After": "45"}, json=told)

    reader.page.route(re.compile(r"/runs/stream$"), refuse)
    reader.ask(ASKED, wait=False)
    reader.page.get_by_role("alert").get_by_text(f"{told['detail']} (Try again in 45 s.)").wait_for()
    reader.page.unroute(re.compile(r"/runs/stream$"))
    reader.page.get_by_role("button", name="Retry").click()
    reader.page.locator("button.marker").first.wait_for()
    reader.problems.clear()  # a browser reports each refused request by itself


def test_a_refusal_that_comes_before_the_page_is_drawn_stays(reader: Reader) -> None:
    # Without frames the page notices its new address some hundredths of a second late; this refusal comes at once.
    reader.page.evaluate("""() => {
      const reach = window.fetch;
      const refusal = () => new Response('{"detail": "Later."}', { status: 429 });
      const isAsked = (path) => path.endsWith("/runs/stream");
      window.fetch = async (path, ...rest) => (isAsked(path) ? refusal() : reach(path, ...rest));
      window.requestAnimationFrame = () => 0;
    }""")
    reader.ask(ASKED, wait=False)
    refused = reader.page.get_by_role("alert").get_by_text("Later.")
    refused.wait_for(timeout=20_000)
    reader.page.wait_for_timeout(500)
    assert refused.is_visible()


def test_a_question_outlives_a_key_that_has_expired(reader: Reader) -> None:
    reader.page.route(re.compile(r"/runs/stream$"), lambda route: route.fulfill(status=401, json={"detail": "no"}))
    reader.page.get_by_label("Question", exact=True).fill(ASKED)
    reader.page.get_by_role("button", name="Ask", exact=True).click()
    reader.page.get_by_label("Your key").fill("another")
    reader.page.unroute(re.compile(r"/runs/stream$"))
    reader.page.get_by_role("button", name="Sign in").click()
    field = reader.page.get_by_label("Question", exact=True)
    field.wait_for()
    assert field.input_value() == ASKED
    reader.page.get_by_role("button", name="Ask", exact=True).click()
    reader.page.locator("button.marker").first.wait_for()
    reader.problems.clear()  # a browser reports each refused request by itself


def test_a_server_that_dies_is_said_and_what_was_shown_stays(
    browser: Any, home: Path, stub: OpenAIStub, tmp_path: Path
) -> None:
    (tmp_path / "corpus").symlink_to(home / "corpus")
    server = started(tmp_path, ANABRANCH_BASE_URL=stub.base_url, OPENAI_API_KEY="none")
    try:
        reader = Reader(browser.new_context().new_page(), server.url)
        reader.ask(ASKED)
        reader.set("model", "openai:stub")
        reader.ask("What happened to the weir in 1911?", wait=False)
        reader.page.locator(".answer").last.get_by_text("The weir").wait_for()
    finally:
        server.process.kill()
        server.process.wait()
    reader.page.locator(".progress").get_by_text("connecting again").wait_for()
    reader.page.get_by_role("alert").get_by_text("The connection to the server is lost").wait_for(timeout=90_000)
    assert BUILT in reader.turn(0).inner_text()
    reader.page.get_by_label("Question", exact=True).fill("And then?")
    reader.page.get_by_role("button", name="Ask", exact=True).click()
    reader.page.get_by_role("alert").get_by_text("The server does not answer").wait_for()
    assert reader.is_serious() == []
