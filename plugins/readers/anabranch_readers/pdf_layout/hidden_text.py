"""What is written on a PDF page and no eye can see: a way to plant instructions in a document.

Letters without size, outside the page, unpainted, in the colour of the ground, or beneath something opaque. Whether a
suspicion holds is seen on a small rendering of the page; pages that raise none pay for no rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nlargest

import pymupdf

from anabranch.readers.mupdf import Box, Page
from anabranch_readers.page_contents import PdfSpan, RawBlock, Shape, list_images, list_painted

_PAINTED = 1 << 4 | 1 << 5 | 1 << 6  # filled, stroked or used for clipping
_LEAST_SIZE = 1.0  # points on a page of usual size
_USUAL_SIDE = 400.0  # points; the letters of a smaller page may be smaller
_WHITE = 0xF0  # least of each channel; off-white hides as well as white
_ALIKE = 16  # of 256: a difference that nobody sees
_PROBE = 1200  # pixels of the longer side: enough to see small letters, cheap to draw
_THINNEST = 3.0  # points: a rule covers nothing
_SCAN = 0.5  # of the page: an image over more is a scan above its own text layer
_MOST_PAIRS = 500_000  # of a block and an area; maps have thousands of either

# A block and its place in the order of painting.
Numbered = tuple[int, RawBlock]


def hidden_spans(page: Page, blocks: Sequence[RawBlock]) -> set[int]:
    """Return the `id` of each span that nobody would see; the invisible layer that OCR puts over a scan is seen."""
    written = [(at, block) for at, block in enumerate(blocks) if "lines" in block]
    shapes = [(at, block) for at, block in enumerate(blocks) if "lines" not in block]
    spans = [span for _, block in written for span in _spans(block)]
    width, height = page.rect.width, page.rect.height
    found = {id(span) for span in spans if _is_tiny_or_outside(span, width, height)}
    found |= _unpainted_alone(page, spans)
    found |= _under_images(page, spans, width * height)
    white = {color for color in {span["color"] for span in spans} if min(_channels(color)) >= _WHITE}
    areas = [(at, shape) for at, shape in shapes if _is_area(shape)]
    if len(areas) * len(written) > _MOST_PAIRS:  # of a mosaic, what may hide a line of text is large
        areas = nlargest(_MOST_PAIRS // len(written), areas, key=lambda area: _area(area[1]["bbox"]))
    doubtful = [
        *(span for span in spans if span["color"] in white),
        *_covered(written, areas),
        *_camouflaged(written, areas, {span["color"] for span in spans}),
    ]
    if any(id(span) not in found for span in doubtful):
        is_plain = _plain_test(page, width, height)
        found |= {id(span) for span in doubtful if is_painted(span) and is_plain(span["bbox"])}
    return found


def _spans(block: RawBlock) -> Iterator[PdfSpan]:
    for line in block["lines"]:
        yield from (span for span in line["spans"] if span["text"].strip())


def _is_tiny_or_outside(span: PdfSpan, width: float, height: float) -> bool:
    x0, y0, x1, y1 = span["bbox"]
    if x1 <= 0 or y1 <= 0 or x0 >= width or y0 >= height:
        return True
    # A font may count in units of its own, and so may a page.
    return bool(max(span["size"], y1 - y0) < _LEAST_SIZE * min(1.0, max(width, height) / _USUAL_SIDE))


def is_painted(span: PdfSpan) -> bool:
    """Tell whether the letters of a span leave any paint; those of the layer that OCR puts over a scan do not."""
    return bool(span["char_flags"] & _PAINTED) and span["alpha"] != 0


def _unpainted_alone(page: Page, spans: Sequence[PdfSpan]) -> set[int]:
    """Return the unpainted spans that stand for no picture of theirs, which is what the layer of an OCR does."""
    unpainted = [span for span in spans if not is_painted(span)]
    if not unpainted:
        return set()
    scans = [image.box for image in list_images(page)]
    if len(unpainted) == len(spans) and (scans or any("text" not in kind for kind, _ in list_painted(page))):
        return set()
    return {id(span) for span in unpainted if not any(_is_inside(span["bbox"], scan) for scan in scans)}


def _under_images(page: Page, spans: Sequence[PdfSpan], whole: float) -> set[int]:
    """Return the spans beneath an opaque image painted later; under a whole scanned page lies its text layer."""
    if not spans or not page.get_images():
        return set()
    order = list_painted(page)
    pictures = [(at, box) for at, (kind, box) in enumerate(order) if kind == "fill-image"]
    under = [
        (box, picture)
        for at, (kind, box) in enumerate(order)
        if kind.endswith("-text")
        for later, picture in pictures
        if later > at and _area(picture) < _SCAN * whole and _is_inside(box, picture)
    ]
    opaque = [image.box for image in list_images(page) if image.is_opaque] if under else []
    covers = [pair for pair in under if any(_is_same(pair[1], box) for box in opaque)]
    return {id(span) for span in spans if any(all(_is_inside(span["bbox"], box) for box in pair) for pair in covers)}


def _covered(written: Sequence[Numbered], areas: Iterable[Numbered]) -> Iterator[PdfSpan]:
    """Yield the spans that an opaque area painted later may cover."""
    for at, area in areas:
        if area["alpha"] == 0xFF:
            for before, block in written:
                if before > at:
                    break
                yield from _spans_inside(block, area["bbox"])


def _camouflaged(written: Sequence[Numbered], areas: Iterable[Numbered], colors: Iterable[int]) -> Iterator[PdfSpan]:
    """Yield the spans painted on an area of their own colour."""
    for _, area in areas:
        alike = {color for color in colors if _is_alike(color, area["color"])}
        for _, block in written if alike else ():
            yield from (span for span in _spans_inside(block, area["bbox"]) if span["color"] in alike)


def _spans_inside(block: RawBlock, frame: Box) -> Iterator[PdfSpan]:
    x0, y0, x1, y1 = block["bbox"]
    if x0 < frame[2] and frame[0] < x1 and y0 < frame[3] and frame[1] < y1:
        yield from (span for span in _spans(block) if _is_inside(span["bbox"], frame))


def _is_area(shape: Shape) -> bool:
    x0, y0, x1, y1 = shape["bbox"]
    return not shape["stroked"] and x1 - x0 >= _THINNEST and y1 - y0 >= _THINNEST


def _channels(color: int) -> tuple[int, int, int]:
    return color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF


def _is_alike(one: int, other: int) -> bool:
    return all(abs(a - b) < _ALIKE for a, b in zip(_channels(one), _channels(other), strict=True))


def _is_inside(box: Box, frame: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return frame[0] <= x <= frame[2] and frame[1] <= y <= frame[3]


def _is_same(one: Box, other: Box) -> bool:
    return all(abs(a - b) < 1 for a, b in zip(one, other, strict=True))


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _plain_test(page: Page, width: float, height: float) -> Callable[[Box], bool]:
    """Render the page small and return whether a box of it shows one colour and no letter."""
    dpi = max(1, int(72 * min(1.0, _PROBE / max(width, height, 1))))
    picture = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csRGB, alpha=False)
    samples, stride, scale = picture.samples, picture.stride, dpi / 72

    def test(box: Box) -> bool:
        # The middle of the letters alone: what covers them need not cover the room above and below.
        top, bottom = (box[1] + (box[3] - box[1]) * part for part in (0.25, 0.8))
        left, right = max(0, int(box[0] * scale)), min(picture.width, int(box[2] * scale) + 1)
        rows = range(max(0, int(top * scale)), min(picture.height, int(bottom * scale) + 1))
        seen = b"".join(samples[row * stride + 3 * left : row * stride + 3 * right] for row in rows)
        return all(not part or max(part) - min(part) < _ALIKE for part in (seen[0::3], seen[1::3], seen[2::3]))

    return test
