"""The part of PyMuPDF that the reader leans on, with types: the library's own functions have none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, cast

import pymupdf

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in points from the upper left corner."""

Span = dict[str, Any]
"""Glyphs of one font: `text`, `bbox`, `origin`, `size`, `flags`, `char_flags`, `color`, `alpha`."""


class Rect(Protocol):
    """The size of a page in points."""

    width: float
    height: float


class Pixmap(Protocol):
    """A rendered page."""

    width: int
    height: int
    stride: int
    samples: bytes


class Page(Protocol):
    """`pymupdf.Page`."""

    number: int
    rect: Rect

    def get_text(self, option: str, *, flags: int, clip: Box) -> dict[str, Any]:
        """Return blocks of lines of spans for the option `dict`."""
        ...

    def get_image_info(self) -> list[dict[str, Any]]:
        """Return the place of each image."""
        ...

    def get_bboxlog(self) -> list[tuple[str, Box]]:
        """Return everything that is drawn."""
        ...

    def get_pixmap(self, *, dpi: int, colorspace: object, alpha: bool) -> Pixmap:
        """Render the page."""
        ...


class Pdf(Protocol):
    """`pymupdf.Document`."""

    needs_pass: bool
    is_pdf: bool
    is_repaired: bool
    page_count: int
    metadata: dict[str, str | None] | None

    def __enter__(self) -> Self:
        """Enter a block at whose end the file is closed."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        ...

    def __getitem__(self, number: int) -> Page:
        """Return a page by its 0-based number."""
        ...

    def authenticate(self, password: str) -> int:
        """Return 0 when the password is wrong."""
        ...

    def get_toc(self) -> list[tuple[int, str, int]]:
        """Return the outline: level, title, 1-based page."""
        ...

    def embfile_count(self) -> int:
        """Return how many files are attached."""
        ...


def open_pdf(path: Path) -> Pdf:
    """Open a file as a PDF whatever its first bytes say, with MuPDF's own messages to the terminal silenced.

    Raises:
        RuntimeError: MuPDF finds no PDF in it.
    """
    tools: Any = pymupdf.TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    opener = cast("Callable[..., Pdf]", pymupdf.open)
    return opener(path, filetype="pdf")
