"""The server in a process of its own, on a free port of 127.0.0.1, and a real browser that is shown nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.server.dev_server import free_port

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
AXE = REPOSITORY / "anabranch/server/page/node_modules/axe-core/axe.min.js"
_SERVE = "import sys, uvicorn; from anabranch.server.application import create_app; \
uvicorn.run(create_app(sys.argv[1]), host='127.0.0.1', port=int(sys.argv[2]), log_level='warning')"


@contextmanager
def page_server(home: Path, **variables: str) -> Iterator[str]:
    """Run the server with its data in a folder; return its address.

    Args:
        home: The folder, with the corpus in `corpus`.
        **variables: Of its environment, besides the usual ones.
    """
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("ANABRANCH_")}
    environment |= {"PYTHONPATH": str(REPOSITORY), "ANABRANCH_CORPUS": str(home / "corpus")} | variables
    command = [sys.executable, "-c", _SERVE, str(home / "data"), str(port)]
    log = home / "server.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, cwd=home, env=environment, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        url = f"http://127.0.0.1:{port}"
        try:
            _wait(url, process, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    while process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/ready", timeout=60):
                return
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")


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


class Reader:
    """Somebody at the page, who notices every error and every request that goes elsewhere."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.url = url
        self.problems: list[str] = []
        page.set_default_timeout(30_000)
        page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", self._look)
        page.goto(f"{url}/")

    def _look(self, request: Any) -> None:
        if not request.url.startswith((f"{self.url}/", f"blob:{self.url}/", "data:")):
            self.problems.append(f"a request to {request.url}")

    def ask(self, question: str, *, wait: bool = True) -> None:
        """Ask, and wait for the answer."""
        before = self.page.locator("article").count()
        self.page.get_by_label("Question", exact=True).fill(question)
        self.page.get_by_role("button", name="Ask", exact=True).click()
        if wait:
            self.turn(before).locator(".actions").wait_for()

    def turn(self, at: int) -> Any:
        """Return a question with its answer."""
        return self.page.locator("article").nth(at)

    def choose_model(self) -> None:
        """Choose the stub, in the form of the settings."""
        self.page.get_by_role("button", name="Settings", exact=True).click()
        self.page.get_by_label("model", exact=True).fill("openai:stub")
        self.page.get_by_role("button", name="Close the settings").click()

    def is_serious(self) -> list[str]:
        """Return what axe-core finds that is serious or worse."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed: `npm install` in the folder of the page")
        # Not as a script element, which the page's own policy forbids.
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run()")["violations"]
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
