"""Read pages that are pictures of text through Tesseract, the program, where it is on this machine.

The program and not a binding: it is what people have, it may crash or hang without taking the reader with it, and it
finds its languages by itself (`TESSDATA_PREFIX`).

It answers in hOCR 1.2 (Breuel, 2007; kba.github.io/hocr-spec/1.2): XHTML whose `title` attributes hold boxes in pixels,
sizes, angles and how sure each word is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from anabranch.readers.mupdf import Box
from anabranch.text.normalization import squeeze
from anabranch_readers.pdf_layout.text_lines import Line

_SECONDS = 120.0
_LISTING_SECONDS = 30.0
_ANOTHER_WAY = "or run it through OCR first, for instance: ocrmypdf in.pdf out.pdf"


@dataclass(frozen=True, slots=True)
class OcrUnavailable:
    """Why there is no OCR.

    Attributes:
        what: What is missing.
        hint: What to do about it.
        is_missing: Whether the program is not there at all, so that another one may read in its place.
    """

    what: str
    hint: str
    is_missing: bool = False


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


def tesseract(languages: Sequence[str]) -> Tesseract | OcrUnavailable:
    """Return the program on the path, if it knows the languages."""
    program = shutil.which("tesseract")
    if program is None:
        return OcrUnavailable(
            "Tesseract is not on this machine", f"Install it (tesseract-ocr), {_ANOTHER_WAY}", is_missing=True
        )
    try:
        listed = _run([program, "--list-langs"], b"", _LISTING_SECONDS)
    except (subprocess.TimeoutExpired, OSError) as error:
        what = f"Tesseract does not start ({type(error).__name__})"
        return OcrUnavailable(what, f"Try `tesseract --list-langs`, {_ANOTHER_WAY}")
    known = {line.strip() for line in listed.stdout.decode("utf-8", "replace").splitlines()[1:]}
    missing = [language for language in languages if language not in known]
    if missing or not languages:
        names = ", ".join(missing) or "any language"
        hint = f"Install it (tesseract-ocr-{names}), or set TESSDATA_PREFIX to the folder with its .traineddata."
        return OcrUnavailable(f"Tesseract has no data for {names}", hint)
    return Tesseract(program, tuple(languages), knows_directions="osd" in known)


def _run(command: Sequence[str], given: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    # One thread each: several pages are read at a time, and Tesseract's own threads mostly wait for each other.
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    return subprocess.run(command, input=given, capture_output=True, timeout=seconds, env=environment, check=False)  # noqa: S603


_LINES = frozenset({"ocr_line", "ocr_header", "ocr_caption", "ocr_textfloat"})
_FACT = re.compile(r"(?<![a-z_])([a-z_]+)((?: -?\d+(?:\.\d+)?)+)")
_BULLETS = frozenset({"¢", "e¢"})  # what Tesseract takes the dot before a list item for
_WIDE = 1.2  # of the line height: a gap between columns, not between words
_LEAST_SURE = 40.0  # per cent; specks and textures are read with less
_SIZE = 0.9  # Tesseract measures from the top of an ascender to the foot of a descender


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was read on the picture of a page.

    Attributes:
        lines: In points; where the page lay on its side or its head, as if it had been upright.
        margin: Lines that run another way than most.
        width: Of the page, upright, in points.
        height: The same.
        doubtful: How many words were left out, in lines that are mostly guesses: specks, textures, drawings.
    """

    lines: tuple[Line, ...] = ()
    margin: tuple[Line, ...] = ()
    width: float = 0.0
    height: float = 0.0
    doubtful: int = 0


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    box: Box
    sure: float


@dataclass(frozen=True, slots=True)
class _Read:
    words: tuple[_Word, ...]
    angle: int
    size: float
    descent: float

    @property
    def is_sure(self) -> bool:
        return fmean([word.sure for word in self.words], [len(word.text) for word in self.words]) >= _LEAST_SURE


def recognised(hocr: bytes, dpi: float) -> Recognised:
    """Return the lines that hOCR of one page tells of; `dpi` is how many pixels of its picture make an inch."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    root = etree.fromstring(hocr, parser) if hocr.strip() else None
    pages = [] if root is None else [*_elements_of_class(root, {"ocr_page"})]
    if not pages:
        return Recognised()
    page = _box(_facts(pages[0]))
    read = [line for paragraph in _elements_of_class(pages[0], {"ocr_par"}) for line in _lines(paragraph)]
    sure = [line for line in read if line.is_sure]
    letters: Counter[int] = Counter()
    for line in sure:
        letters[line.angle] += sum(len(word.text) for word in line.words)
    # By letters, not by lines: a page number set upright beside a turned table is a line of its own.
    angle = letters.most_common(1)[0][0] if letters else 0
    along = [line for line in sure if line.angle == angle]
    across = [line for line in sure if line.angle != angle]
    _, _, width, height = _turned(page, page, angle)
    scale = 72 / dpi
    return Recognised(
        tuple(part for line in along for part in _parts(line, page, scale)),
        tuple(part for line in across for part in _parts(line, page, scale, in_margin_of=angle)),
        width * scale,
        height * scale,
        sum(len(line.words) for line in read if not line.is_sure),
    )


def _elements_of_class(root: etree._Element, names: Collection[str]) -> Iterator[etree._Element]:
    return (each for each in root.iter() if each.get("class") in names)


def _facts(element: etree._Element) -> dict[str, list[float]]:
    found = _FACT.findall(element.get("title") or "")
    return {name: [float(number) for number in numbers.split()] for name, numbers in found}


def _box(facts: dict[str, list[float]]) -> Box:
    box = facts.get("bbox", [])
    return (box[0], box[1], box[2], box[3]) if len(box) == 4 else (0.0, 0.0, 0.0, 0.0)


def _lines(paragraph: etree._Element) -> Iterator[_Read]:
    """Yield the lines of a paragraph; they share one size, because that of a single line is a rough guess."""
    found = [(_facts(line), _words(line)) for line in _elements_of_class(paragraph, _LINES)]
    size = median([facts.get("x_size", [0.0])[0] for facts, _ in found]) if found else 0.0
    for facts, words in found:
        if words and size > 0:
            angle = round(facts.get("textangle", [0.0])[0] / 90) * 90 % 360
            yield _Read(words, angle, size, facts.get("x_descenders", [0.2 * size])[0])


def _words(line: etree._Element) -> tuple[_Word, ...]:
    found = ((_facts(each), squeeze("".join(each.itertext()))) for each in _elements_of_class(line, {"ocrx_word"}))
    words = [_Word(text, _box(facts), facts.get("x_wconf", [0.0])[0]) for facts, text in found if text]
    if len(words) > 1 and words[0].text in _BULLETS:
        words[0] = replace(words[0], text="•")
    return tuple(words)


def _turned(box: Box, page: Box, angle: int) -> Box:
    """Return where a box would be if its page, turned by `angle` degrees, lay upright."""
    x0, y0, x1, y1 = box
    width, height = page[2], page[3]
    turned = {90: (height - y1, x0, height - y0, x1), 180: (width - x1, height - y1, width - x0, height - y0)}
    return turned.get(angle, (y0, width - x1, y1, width - x0) if angle == 270 else box)


def _parts(line: _Read, page: Box, scale: float, in_margin_of: int | None = None) -> Iterator[Line]:
    """Yield a line in the pieces that wide gaps cut it into, as MuPDF does for text that is no picture."""
    angle = line.angle if in_margin_of is None else in_margin_of
    group: list[tuple[str, Box]] = []
    for text, box in ((word.text, _turned(word.box, page, angle)) for word in line.words):
        if group and in_margin_of is None and box[0] - group[-1][1][2] > _WIDE * line.size:
            yield _line(group, line, scale)
            group = []
        group.append((text, box))
    yield _line(group, line, scale, is_margin=in_margin_of is not None)


def _line(group: Sequence[tuple[str, Box]], line: _Read, scale: float, *, is_margin: bool = False) -> Line:
    bottom = max(box[3] for _, box in group)
    size = _SIZE * line.size
    baseline = bottom - (line.descent if bottom - min(box[1] for _, box in group) > 0.85 * line.size else 0)
    return Line(
        " ".join(text for text, _ in group),
        min(box[0] for _, box in group) * scale,
        (min(box[1] for _, box in group) if is_margin else baseline - 0.75 * size) * scale,
        max(box[2] for _, box in group) * scale,
        (bottom if is_margin else baseline + 0.2 * size) * scale,
        0.0 if is_margin else size * scale,
    )
