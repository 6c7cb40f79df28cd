"""Makes a PDF as TeX does with bitmap fonts: of Type 3, with glyphs that are named by their codes (`/a28`)."""

from __future__ import annotations

from collections.abc import Sequence


def bitmap_pdf(lines: Sequence[bytes], *, named: bool = True) -> bytes:
    """Return a PDF of one page with these lines of codes; each glyph is a box 5 points wide and 7 high, blanks 3."""
    codes = sorted({code for line in lines for code in line})
    shown = b"".join(b"<%s> Tj T* " % line.hex().encode() for line in lines)
    text = b"BT /F1 10 Tf 40 250 Td 14 TL %sET" % shown
    glyph = b"50 0 0 0 45 70 d1 0 0 45 70 re f"
    widths = b" ".join(b"30" if code == 32 else b"50" for code in range(codes[0], codes[-1] + 1))
    differences = b" ".join(b"%d /a%d" % (code, code) for code in codes)
    font = (
        b"<< /Type /Font /Subtype /Type3 %s /FontMatrix [.01 0 0 .01 0 0] /FontBBox [0 0 50 70] "
        b"/FirstChar %d /LastChar %d /Widths [%s] /Encoding << /Differences [%s] >> /CharProcs << %s >> >>"
        % (
            b"/Name /F1" if named else b"",
            codes[0],
            codes[-1],
            widths,
            differences,
            b" ".join(b"/a%d 6 0 R" % code for code in codes),
        )
    )
    resources = b"<< /Font << /F1 5 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R /Resources %s >>" % resources
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        font,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(glyph), glyph),
    ]
    made = b"%PDF-1.4\n"
    starts = []
    for number, each in enumerate(objects, start=1):
        starts.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    return made + b"xref\n0 7\n0000000000 65535 f \n%strailer << /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(made),
    )
