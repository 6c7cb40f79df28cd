"""Read pages that are pictures of text through Tesseract, the program, where it is on this machine.

The program and not a binding: it is what people have, it may crash or hang without taking the reader with it, and it
finds its languages by itself (`TESSDATA_PREFIX`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.readers.pdf_layout.hocr import Recognised, recognised

_SECONDS = 120.0
_LISTING_SECONDS = 30.0
_ANOTHER_WAY = "or run it through OCR first, for instance: ocrmypdf in.pdf out.pdf"


@dataclass(frozen=True, slots=True)
class Lack:
    """Why there is no OCR: `what` is missing, and a `hint` at what to do."""

    what: str
    hint: str


@dataclass(frozen=True, slots=True)
class Tesseract:
    """The program, ready for use.

    Attributes:
        program: Its path.
        languages: Its names of the languages on the pages.
        knows_directions: Whether it can tell that a page lies on its side or its head.
    """

    program: str
    languages: tuple[str, ...]
    knows_directions: bool

    def read(self, picture: bytes, dpi: float) -> Recognised | str:
        """Return what stands on a picture, or why it could not be read; takes seconds.

        Args:
            picture: A file in a format that needs no file name: PNM or PNG.
            dpi: Its pixels to the inch.
        """
        layout = "1" if self.knows_directions else "3"
        spoken = "+".join(self.languages)
        command = [self.program, "stdin", "stdout", "-l", spoken, "--psm", layout, "--dpi", str(round(dpi))]
        try:
            done = _run([*command, "-c", "tessedit_create_hocr=1"], picture, _SECONDS)
        except subprocess.TimeoutExpired:
            return f"it took over {_SECONDS:g} seconds"
        except OSError as error:
            return f"{error.strerror or error}"
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").split("\n")
            return f"Tesseract failed with code {done.returncode}: {' '.join(said[0].split())[:200]}"
        return recognised(done.stdout, dpi)


def tesseract(languages: Sequence[str]) -> Tesseract | Lack:
    """Return the program on the path, if it knows the languages.

    Args:
        languages: Tesseract's names of them, such as `eng` or `deu`.
    """
    program = shutil.which("tesseract")
    if program is None:
        return Lack("Tesseract is not on this machine", f"Install it (tesseract-ocr), {_ANOTHER_WAY}")
    try:
        listed = _run([program, "--list-langs"], b"", _LISTING_SECONDS)
    except (subprocess.TimeoutExpired, OSError) as error:
        what = f"Tesseract does not start ({type(error).__name__})"
        return Lack(what, f"Try `tesseract --list-langs`, {_ANOTHER_WAY}")
    known = {line.strip() for line in listed.stdout.decode("utf-8", "replace").splitlines()[1:]}
    missing = [language for language in languages if language not in known]
    if missing or not languages:
        names = ", ".join(missing) or "any language"
        hint = f"Install it (tesseract-ocr-{names}), or set TESSDATA_PREFIX to the folder with its .traineddata."
        return Lack(f"Tesseract has no data for {names}", hint)
    return Tesseract(program, tuple(languages), knows_directions="osd" in known)


def _run(command: Sequence[str], given: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    # One thread each: several pages are read at a time, and Tesseract's own threads mostly wait for each other.
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    return subprocess.run(command, input=given, capture_output=True, timeout=seconds, env=environment, check=False)  # noqa: S603
