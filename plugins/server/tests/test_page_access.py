"""The page for those who use no mouse, or cannot see it: by the keyboard alone, and held against axe-core's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.page_server import AXE, Reader, chromium, page_server, reading, tab_of
from plugins.server.tests.weir import BUILT, FLOOD, write_documents
from tests.graph.replies import model
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytestmark = [pytest.mark.loopback, pytest.mark.browser, pytest.mark.slow]

ASKED = "Who built the weir at Halden?"
FOCUSED = "(document.activeElement.getAttribute('aria-label') || document.activeElement.innerText || '').trim()"
STEPS = 60


def answered(request: Request) -> Reply:
    """Answer in part, with what is not confirmed, or not at all, as the question says."""
    asked = request.user.rpartition("</passages-")[2]
    if "helium" in asked:
        return Reply("The passages do not say what helium costs on Mars.")
    wrong = "A flood took its northern half in 1912."
    return Reply(wrong if "When" in asked else f"{BUILT} {wrong}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[str]:
    home: Path = tmp_path_factory.mktemp("access")
    ingest([write_documents(home / "documents")], home / "corpus")
    with (
        OpenAIStub(model(map=answered)) as stub,
        page_server(home, ANABRANCH_BASE_URL=stub.base_url, OPENAI_API_KEY="none") as address,
    ):
        yield address


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    with tab_of(browser) as opened:
        yield opened


@pytest.fixture
def reader(tab: Any, url: str) -> Iterator[Reader]:
    with reading(tab, url) as found:
        yield found


def focused(reader: Reader) -> str:
    """Return what has the focus, by its name."""
    return str(reader.page.evaluate(FOCUSED))


def go_to(reader: Reader, name: str, *, back: bool = False) -> None:
    """Press the tabulator until something of this name has the focus."""
    passed = []
    for _ in range(STEPS):
        reader.page.keyboard.press("Shift+Tab" if back else "Tab")
        passed.append(focused(reader))
        if passed[-1].startswith(name):
            return
    pytest.fail(f"the keyboard does not come to {name}, but to {passed}")


def comes_to(reader: Reader, name: str | re.Pattern[str], role: str = "button") -> None:
    """Wait until what has this name has the focus: the page moves it once it has drawn what was asked for."""
    # Not by a function of text, which the page's policy forbids.
    reader.page.locator(":focus").and_(reader.page.get_by_role(role, name=name, exact=True)).wait_for()


def press(reader: Reader, name: str, *, back: bool = False) -> None:
    go_to(reader, name, back=back)
    reader.page.keyboard.press("Enter")


def typed(reader: Reader, text: str) -> None:
    reader.page.keyboard.type(text)
    reader.page.keyboard.press("Enter")


def test_a_question_is_asked_read_and_judged_by_the_keyboard(reader: Reader) -> None:
    reader.page.get_by_label("Question", exact=True).focus()
    typed(reader, ASKED)
    reader.turn(0).locator(".actions").wait_for()
    go_to(reader, "Source 1, quoted", back=True)
    assert BUILT in reader.page.get_by_role("tooltip").inner_text()
    reader.page.keyboard.press("Escape")
    reader.page.get_by_role("tooltip").wait_for(state="detached")
    reader.page.keyboard.press("Enter")
    reader.page.locator(".sheet rect").first.wait_for()
    comes_to(reader, "The Halden weir", "heading")
    press(reader, "Next page")
    reader.page.get_by_alt_text("Page 2 of The Halden weir").wait_for()
    comes_to(reader, "Next page")
    reader.page.keyboard.press("Escape")
    comes_to(reader, re.compile("^Source 1, quoted"))
    press(reader, "How it was found")
    reader.page.get_by_role("region", name="How it was found").wait_for()
    press(reader, "Better source")
    typed(reader, "")
    go_to(reader, "Better source")
    reader.page.keyboard.press("Enter")
    reader.page.get_by_label("What should it say").focus()
    typed(reader, "The gauge book.")
    reader.page.get_by_text("Noted: better source").wait_for()
    comes_to(reader, "Better source")
    press(reader, "Edit", back=True)
    reader.page.keyboard.press("Escape")
    comes_to(reader, "Edit")
    reader.page.keyboard.press("Enter")
    reader.page.keyboard.press("ControlOrMeta+a")
    reader.page.keyboard.type("Which flood carried away a half of the weir?")
    press(reader, "Ask again")
    reader.page.get_by_text("Version 2 of 2").wait_for()
    assert FLOOD in reader.turn(0).inner_text()
    # Nothing that had the focus was left behind.
    comes_to(reader, "Question", "textbox")


def test_conversations_documents_and_settings_are_reached_and_left_by_the_keyboard(reader: Reader) -> None:
    reader.ask(ASKED)
    reader.page.get_by_role("button", name="New question").focus()
    press(reader, "More about")
    press(reader, "Rename")
    reader.page.keyboard.press("Escape")
    comes_to(reader, re.compile("^More about"))
    reader.page.keyboard.press("Enter")
    press(reader, "Rename")
    reader.page.keyboard.press("ControlOrMeta+a")
    typed(reader, "About the dam")
    reader.page.get_by_role("button", name="About the dam", exact=True).wait_for()
    comes_to(reader, "More about About the dam")
    reader.page.keyboard.press("Enter")
    press(reader, "Delete")
    comes_to(reader, "Keep")
    reader.page.keyboard.press("Escape")
    comes_to(reader, "More about About the dam")
    for panel, heading in (("Documents", "Documents"), ("Settings", "Settings")):
        reader.page.get_by_role("button", name="New question").focus()
        press(reader, panel, back=True)
        comes_to(reader, heading, "heading")
        reader.page.get_by_role("complementary", name=panel).wait_for()
        if panel == "Documents":
            press(reader, "Remove weir.pdf")
            press(reader, "Keep")
            comes_to(reader, "Remove weir.pdf")
        reader.page.keyboard.press("Escape")
        comes_to(reader, panel)
    reader.page.get_by_role("button", name="More about About the dam").focus()
    reader.page.keyboard.press("Enter")
    press(reader, "Delete")
    comes_to(reader, "Keep")
    press(reader, "Delete for good", back=True)
    reader.page.get_by_role("button", name="About the dam", exact=True).wait_for(state="detached")
    comes_to(reader, "New question")


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: `npm install` in the folder of the page")
@pytest.mark.parametrize("width", [1400, 380])
def test_nothing_serious_stands_in_the_way_of_a_screen_reader(reader: Reader, width: int) -> None:
    page = reader.page
    page.set_viewport_size({"width": width, "height": 800})

    def looked_at(view: str) -> None:
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        assert reader.is_serious() == [], view
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0, view
        # Dark colours change nothing but what the rule about colours sees.
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        assert reader.is_serious("color-contrast") == [], view

    looked_at("nothing asked yet")
    reader.ask(ASKED)
    page.get_by_role("button", name="How it was found").click()
    page.get_by_text("Passages and their ranks").click()
    page.get_by_role("button", name="Better source").click()
    looked_at("passages, how they were found, and feedback")
    page.locator("button.marker").first.focus()
    page.get_by_role("tooltip").wait_for()
    looked_at("a card")
    page.locator("button.marker").first.click()
    page.locator(".sheet rect").first.wait_for()
    looked_at("a document")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Edit", exact=True).click()
    looked_at("a question that is edited")
    page.keyboard.press("Escape")
    for panel, ready in (("Documents", "Remove weir.pdf"), ("Settings", "Leave everything to the server")):
        page.get_by_role("button", name=panel, exact=True).click()
        page.get_by_role("button", name=ready).wait_for()
        looked_at(panel)
        page.keyboard.press("Escape")
    reader.set("model", "openai:stub")
    for question, folds in (
        (ASKED, [".claims"]),
        ("When was the flood?", [".nearest", ".claims"]),
        ("What does helium cost on Mars?", [".nearest"]),
    ):
        page.evaluate("location.hash = ''")
        page.locator(".welcome").wait_for()
        reader.ask(question)
        assert page.locator(".turn > details").count() == len(folds)
        for fold in folds:
            page.locator(f"{fold} summary").click()
        looked_at(question)
    if width < 1000:
        page.get_by_role("button", name="Conversations").click()
    page.get_by_role("button", name="More about").first.click()
    looked_at("conversations")


MOVING = """() => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule.style?.animationName && rule.style.animationName !== "none")
  .map((rule) => {
    const one = document.body.appendChild(document.createElement("span"));
    one.className = rule.selectorText.slice(1);
    return getComputedStyle(one).animationName;
  })"""
"""What each class that is animated comes to for this reader."""


def test_nothing_moves_for_whoever_wants_none_of_it(reader: Reader) -> None:
    reader.page.get_by_label("Question", exact=True).wait_for()
    assert set(reader.page.evaluate(MOVING)) == {"none"}
    reader.page.emulate_media(reduced_motion="no-preference")
    assert set(reader.page.evaluate(MOVING)) == {"breathe"}
