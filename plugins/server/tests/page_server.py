"""The server with its page, and a real browser that is shown nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from plugins.server.tests.dev_server import dev_server
from plugins.server.tests.serve_process import PATIENCE, serving
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.shared_fixtures import REPOSITORY

SERVE, DEV = "anabranch serve", "langgraph dev"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
WINDOW = {"width": 1400, "height": 900}
_DRAWN = """() => {
  const sheet = document.querySelector('.sheet img').getBoundingClientRect();
  const inPoints = (each) => {
    const box = each.getBoundingClientRect();
    const sides = [box.left - sheet.left, box.top - sheet.top, box.right - sheet.left, box.bottom - sheet.top];
    return sides.map((at) => at * 595 / sheet.width);
  };
  return [...document.querySelectorAll('.sheet rect')].map(inPoints);
}"""
"""The boxes that are seen, in points of the page."""
PASSAGES = "No chat model: the passages that match best."
AXE = REPOSITORY / "plugins/server/anabranch_server/page/node_modules/axe-core/axe.min.js"


@contextmanager
def page_server(home: Path, **variables: str) -> Iterator[str]:
    """Run the server with its data in a folder; return its address.

    Args:
        home: The folder, with the corpus in `corpus`.
        **variables: Of its environment, besides the usual ones.
    """
    with serving(home, "--data", str(home / "data"), **variables) as server:
        yield server.url


@contextmanager
def server_of(kind: str, home: Path, **variables: str) -> Iterator[str]:
    """Run one of the servers that have the page; return its address.

    Args:
        kind: SERVE or DEV; the test is skipped where that is not installed.
        home: A folder, with the corpus in `corpus`.
        **variables: Of its environment, besides the usual ones.
    """
    if kind == SERVE:
        with page_server(home, **variables) as address:
            yield address
        return
    pytest.importorskip("langgraph_api", reason="the extra `server` is not installed")
    (home / "dev").mkdir()
    usual = {"ANABRANCH_CORPUS": str(home / "corpus"), "ANABRANCH_FEEDBACK": str(home / "dev" / "feedback")}
    with dev_server(home / "dev", **usual, **variables) as (address, _):
        yield address


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the Chromium that is installed; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser is installed here: none of {', '.join(BROWSERS)} is on the PATH")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def tab_of(browser: Any) -> Iterator[Any]:
    """Open a tab for readers who come one after the other: one of its own costs each as much as the page itself.

    They want no motion: to draw it takes a quarter of the work of an answer that streams.
    """
    context = browser.new_context(viewport=WINDOW, accept_downloads=True, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@contextmanager
def saying(stub: OpenAIStub, reply: str) -> Iterator[None]:
    """Let the model write something else."""
    before, stub.script = stub.script, model(map=reply)
    try:
        yield
    finally:
        stub.script = before


@contextmanager
def reading(tab: Any, url: str, *reported: str) -> Iterator[Reader]:
    """Be a reader in a tab, who has no problems and leaves nothing behind for the next one.

    Args:
        tab: See `tab_of`.
        url: Of the server.
        *reported: What is in problems that a browser reports by itself, such as a status.
    """
    reader = Reader(tab, url)
    try:
        yield reader
    finally:
        reader.leave()
    assert [each for each in reader.problems if not any(some in each for some in reported)] == []


class Reader:
    """Somebody at the page, who notices every error and every request that goes elsewhere."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.url = url
        self.problems: list[str] = []
        self._listeners: list[tuple[str, Callable[[Any], None]]] = []
        page.set_default_timeout(PATIENCE * 1_000)
        self.listen("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        self.listen("pageerror", lambda error: self.problems.append(str(error)))
        self.listen("request", self._look)
        page.goto(f"{url}/")

    def listen(self, event: str, listener: Callable[[Any], None]) -> None:
        """Listen to an event of the browser until the reader leaves."""
        self.page.on(event, listener)
        self._listeners.append((event, listener))

    def leave(self) -> None:
        """Make the tab what a new one is."""
        for event, listener in self._listeners:
            self.page.remove_listener(event, listener)
        for other in self.page.context.pages:
            if other is not self.page:
                other.close()
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.context.clear_cookies()
        self.page.goto("about:blank")
        self.page.set_viewport_size(WINDOW)
        self.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        self.page.mouse.move(0, 0)

    def _look(self, request: Any) -> None:
        if not request.url.startswith((f"{self.url}/", f"blob:{self.url}/", "data:")):
            self.problems.append(f"a request to {request.url}")

    def ask(self, question: str, *, wait: bool = True) -> None:
        """Ask, and wait for the answer."""
        before = self.page.locator("article").count()
        self.page.get_by_label("Question", exact=True).fill(question)
        self.page.get_by_role("button", name="Ask", exact=True).click()
        # Left there, it would open the card of a marker that comes to lie below it, which takes the next Escape.
        self.page.mouse.move(0, 0)
        if wait:
            self.turn(before).locator(".actions").wait_for()

    def turn(self, at: int) -> Any:
        """Return a question with its answer."""
        return self.page.locator("article").nth(at)

    def assert_marked(self, lines: Sequence[tuple[float, ...]]) -> None:
        """Check that marks are seen at these lines of a document's page, in points, and nowhere else."""
        self.page.locator(".sheet rect").first.wait_for()
        seen = self.page.evaluate(_DRAWN)
        assert len(seen) == len(lines)
        for box, line in zip(seen, lines, strict=True):
            assert box == pytest.approx(line, abs=3)

    def set(self, name: str, value: str) -> None:
        """Choose a setting by its name in code, in its form."""
        self.page.get_by_role("button", name="Settings", exact=True).click()
        field = self.page.locator(f"#setting-{name}")
        if field.evaluate("(field) => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
        self.page.get_by_role("button", name="Close the settings").click()

    def is_serious(self, *rules: str) -> list[str]:
        """Return what axe-core finds that is serious or worse; nothing where it is not installed.

        The rest of a test goes on without it; test_page_access, which is about this, says that it is skipped.

        Args:
            *rules: The only ones that are looked at; none: all.
        """
        if not AXE.exists():
            return []
        if not self.page.evaluate("'axe' in window"):
            # Not as a script element, which the page's own policy forbids.
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("(rules) => axe.run(rules.length ? { runOnly: rules } : {})", rules)["violations"]
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
