"""Make the pictures of the server's page in docs/pictures, as a browser shows it.

    python -m scripts.pictures          # needs Chromium, playwright and Pillow

The answers are a script's, because a model's would be others each time; everything else is the real server. Look at
what was made before it is committed.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from anabranch.ingestion.pipeline import ingest
from plugins.server.tests.page_server import Reader, chromium, page_server
from plugins.server.tests.weir import BUILT, FLOOD, write_documents
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
COLOURS = 96
ASKED = "What is known of the weir at Halden?"
ANSWER = f"""The weir was built **in 1848** and repaired after a flood.

- {BUILT}
- {FLOOD}
- It is painted green every year.

| Year | What happened |
|---|---|
| 1848 | {BUILT} |
| 1922 | Salmon were seen above it for the first time in 1922. |
"""
SHOWN = 1_800
"""Milliseconds of each frame."""
WIDE, NARROW = {"width": 1280, "height": 760}, {"width": 390, "height": 760}


def fill(folder: Path) -> None:
    """Write documents, some of them in folders."""
    write_documents(folder / "rivers")
    for name in ("answering", "documents", "models", "page", "evaluation"):
        (folder / "guide").mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / f"{name}.md", folder / "guide")


@contextmanager
def opened(browser: Any, url: str, size: dict[str, int], scheme: str) -> Iterator[Reader]:  # noqa: ANN401  # of playwright, which has no types here
    """Open the page in a window of a size, light or dark."""
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    reader = Reader(context.new_page(), url)
    reader.page.locator(".welcome .questions").wait_for()
    yield reader
    context.close()


def taken(reader: Reader) -> Image.Image:
    """Return what is seen, in few colours."""
    picture = Image.open(io.BytesIO(reader.page.screenshot()))
    return picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def save(reader: Reader, name: str) -> None:
    """Keep what is seen."""
    taken(reader).save(PICTURES / f"{name}.png", optimize=True)


def look(reader: Reader) -> Iterator[Image.Image]:
    """Go from the first look at the page to the page of a quote."""
    page = reader.page
    yield taken(reader)
    page.get_by_label("Question", exact=True).fill(ASKED)
    yield taken(reader)
    reader.ask(ASKED)
    page.mouse.move(0, 0)
    yield taken(reader)
    marker = page.locator("button.marker.quoted").nth(1)
    marker.hover()
    page.get_by_role("tooltip").wait_for()
    yield taken(reader)
    marker.click()
    page.locator(".sheet rect").first.wait_for()
    page.mouse.move(0, 0)
    yield taken(reader)


def make(url: str, browser: Any) -> None:  # noqa: ANN401
    """Make all of them."""
    with opened(browser, url, WIDE, "light") as reader:
        first, *others = look(reader)
        # Played once: it rests on the last.
        first.save(PICTURES / "page.gif", save_all=True, append_images=others, duration=SHOWN, optimize=True)
        save(reader, "page")
    with opened(browser, url, WIDE, "dark") as reader:
        reader.page.get_by_role("button", name="Documents", exact=True).click()
        reader.page.get_by_label("Ask rivers/", exact=True).check()
        reader.page.get_by_role("heading", name="Documents").click()
        save(reader, "documents-dark")
    with opened(browser, url, NARROW, "light") as reader:
        save(reader, "phone")
    with opened(browser, url, NARROW, "dark") as reader:
        reader.ask(ASKED)
        reader.page.locator("button.marker.quoted").nth(1).click()
        reader.page.locator(".sheet rect").first.wait_for()
        reader.page.mouse.move(0, 0)
        save(reader, "phone-dark")


def main() -> None:
    """Serve the documents, and make the pictures."""
    with tempfile.TemporaryDirectory() as folder, OpenAIStub(model(map=ANSWER)) as stub, chromium() as browser:
        home = Path(folder)
        fill(home / "documents")
        ingest([home / "documents"], home / "corpus")
        variables = {"ANABRANCH_MODEL": "openai:example", "ANABRANCH_BASE_URL": stub.base_url, "OPENAI_API_KEY": "none"}
        with page_server(home, **variables) as url:
            make(url, browser)


if __name__ == "__main__":
    main()
