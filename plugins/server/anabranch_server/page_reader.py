"""The process that draws pages: `python -m anabranch_server.page_reader`, started by `PageProcess`.

A hostile PDF may exploit the large C library that reads it, so it is opened in a process of its own, with limits on
memory and time. An order and a reply are each a line of JSON; a picture follows its line.
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
"""Most bytes of a file whose pages are shown."""

RESOLUTION = 120
"""Pixels per inch: sharp at half the width of a screen, and about 150 kB a page."""

MAX_PIXELS = 8_000_000
"""Most pixels of a picture; a larger page is scaled down."""


MOST_BESIDE = 20
"""Pages before and after the shown one that are searched for the quote, too."""


class NotShownError(Exception):
    """A page cannot be shown; the message is the key of a reason in `page_process.REASONS`."""


def obey(order: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Carry out an order.

    Args:
        order: `path`, `sha256` of the ingested file, `page` from 1; and for marks instead of a picture `quote`: the
            text before, the words, the text after; `over`: the pages that they span, if known.

    Returns:
        The reply with `width` and `height` of the page in points, `pages` of the file, and `boxes` and `on`, the
        numbers of the pages that hold the quote; or `reason` alone. Then the picture as PNG.
    """
    try:
        with closing(_open_unchanged(order["path"], order["sha256"])) as pdf:
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


def _open_unchanged(path: str, sha256: str) -> Pdf:
    """Open a file, unless its bytes differ from those that were ingested."""
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
    # With the neighbouring pages: a sentence may begin on the one before, and its context may be on either.
    first, last = min([number, *over]) - 1, max([number, *over]) + 1
    numbers = range(max(first, number - MOST_BESIDE, 1), min(last, number + MOST_BESIDE, len(pdf)) + 1)
    found = boxes_of([words(pdf[each - 1]) for each in numbers], *quote)
    by_page = dict(zip(numbers, found, strict=True))
    return {"boxes": by_page[number], "on": [each for each, boxes in by_page.items() if boxes]}


def serve(obey: Callable[[dict[str, Any]], tuple[dict[str, Any], bytes]]) -> None:
    """Carry out orders until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with replies
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
    except BrokenPipeError:  # the parent has gone
        sys.exit(0)


if __name__ == "__main__":
    serve(obey)
