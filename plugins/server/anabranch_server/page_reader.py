"""The process that draws pages: `python -m anabranch_server.page_reader`, started by `PageProcess`.

A PDF is somebody else's program for a large C library, so it is opened where nothing else is: under a bound on memory
and time, for one order after the other. An order and a reply are each a line of JSON; a picture follows its line.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from anabranch.ingestion.isolation.process_limits import Limits, confine, end_after
from anabranch.ingestion.safe_open import open_real
from anabranch.readers.mupdf import FAULTS, Page, Pdf, open_pdf, words
from anabranch_server.page_limits import MEMORY, SECONDS
from anabranch_server.quote_boxes import boxes_of

MAX_BYTES = 256 << 20
"""Of a file of which pages are shown."""

RESOLUTION = 120
"""Pixels to an inch: sharp on a page as wide as half a screen, at about 150 kB."""

MAX_PIXELS = 8_000_000
"""Of a picture; a larger page is drawn smaller."""


MOST_BESIDE = 20
"""Pages before, and after, the one that is shown on which the same words are looked for."""


class NotShownError(Exception):
    """A page that is not shown; its text is the reason's name (`page_process.REASONS`)."""


def obey(order: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Carry out an order.

    Args:
        order: `path`, `sha256` of the file as it was taken in, `page` from 1, and, for marks in place of a picture,
            `quote`: what stands before it, the words, what stands after; `over`: the pages that they go over, as far
            as they are known.

    Returns:
        The reply with `width` and `height` of the page in points, `pages` of the file, and `boxes` and `on`, the
        numbers of the pages that the quote stands on; or `reason` alone. Then the picture as PNG.
    """
    try:
        with closing(_opened(order["path"], order["sha256"])) as pdf:
            if not 1 <= order["page"] <= len(pdf):
                return {"reason": "no_page"}, b""
            page = pdf[order["page"] - 1]
            known = {"width": page.rect.width, "height": page.rect.height, "pages": len(pdf)}
            if "quote" in order:
                return known | _marks(pdf, order["page"], order["quote"], order.get("over", [])), b""
            return known, _picture(page)
    except NotShownError as error:
        return {"reason": str(error)}, b""
    except FAULTS:
        return {"reason": "unreadable"}, b""


def _opened(path: str, sha256: str) -> Pdf:
    """Open exactly the bytes that were taken in."""
    try:
        with os.fdopen(open_real(Path(path)), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise NotShownError("gone") from error
    except OSError as error:
        raise NotShownError("closed") from error
    if len(data) > MAX_BYTES:
        raise NotShownError("too_large")
    if hashlib.sha256(data).hexdigest() != sha256:
        raise NotShownError("changed")
    pdf = open_pdf(data)
    if pdf.needs_pass:
        pdf.close()
        raise NotShownError("protected")
    return pdf


def _picture(page: Page) -> bytes:
    points = max(page.rect.width * page.rect.height, 1.0)
    zoom = min(RESOLUTION / 72, math.sqrt(MAX_PIXELS / points))
    drawn: bytes = page.get_pixmap(dpi=max(int(72 * zoom), 1), alpha=False).tobytes("png")
    return drawn


def _marks(pdf: Pdf, number: int, quote: list[str], over: list[int]) -> dict[str, Any]:
    # With the pages beside it: a sentence may begin on the one before, and its surroundings may stand on either.
    first, last = min([number, *over]) - 1, max([number, *over]) + 1
    numbers = range(max(first, number - MOST_BESIDE, 1), min(last, number + MOST_BESIDE, len(pdf)) + 1)
    found = boxes_of([words(pdf[each - 1]) for each in numbers], *quote)
    by_page = dict(zip(numbers, found, strict=True))
    return {"boxes": by_page[number], "on": [each for each, boxes in by_page.items() if boxes]}


def serve(obey: Callable[[dict[str, Any]], tuple[dict[str, Any], bytes]]) -> None:
    """Obey orders until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no reply
    confine(Limits(seconds=SECONDS, bytes=MEMORY))
    for line in orders:
        end_after(2 * SECONDS)
        try:
            reply, picture = obey(json.loads(line))
        except MemoryError:
            reply, picture = {"reason": "too_large"}, b""
        _send(replies, reply, picture)
        end_after(0)


def _send(replies: BinaryIO, reply: dict[str, Any], picture: bytes) -> None:
    try:
        replies.write(json.dumps({**reply, "bytes": len(picture)}).encode() + b"\n" + picture)
        replies.flush()
    except BrokenPipeError:  # nobody is left to tell
        sys.exit(0)


if __name__ == "__main__":
    serve(obey)
