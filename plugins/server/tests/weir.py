"""A PDF of three pages, a note, and files of which no page can be shown: what the page's tests ask about."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pymupdf

BUILT = "The weir at Halden was built in 1848 by the engineer Ole Moen."
FLOOD = "In the spring of 1911 a flood carried away the northern half of the weir."
BROKEN = "The warden counts the salmon at the fourteen steps of the ladder every autumn"
REST = "and writes their number into the green gauge book of the county."
MILL = "The mill ground the corn of eleven farms until 1963."
FERRY = "The ferry at Lervik crosses the fjord every forty minutes in summer."
RAISED = "It raised the water by two metres."
SEEN = "Salmon were seen above it for the first time in 1922."
WEIR, LADDER = "The Halden weir", "The fish ladder"
STEPS = " ".join(f"Step {number} of cleaning the lantern takes {number + 2} minutes." for number in range(1, 20))
"""Too long for one leaf of the index."""
SALARY = "The salary of the director is 91000 crowns a year."


def write_weir(file: Path) -> None:
    """Write the PDF; a sentence runs over the end of its second page."""
    pdf: Any = pymupdf.open()
    _page(pdf, WEIR, [BUILT, RAISED, FLOOD])
    _page(pdf, LADDER, [SEEN, BROKEN])
    _page(pdf, "", [REST, MILL])
    pdf.save(file)
    pdf.close()


def _page(pdf: Any, title: str, paragraphs: list[str]) -> None:
    page = pdf.new_page()
    page.insert_text((72, 80), title, fontsize=20)
    for at, text in enumerate(paragraphs):
        page.insert_textbox((72, 110 + 60 * at, 330, 170 + 60 * at), text, fontsize=11)


def write_documents(folder: Path) -> Path:
    """Write all of them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_weir(folder / "weir.pdf")
    (folder / "ferry.md").write_text(
        f"# The ferry\n\n{FERRY} It takes twelve cars.\n\n# Bread\n\nThe oven is lit at four.\n"
    )
    write_weir(folder / "packed.pdf")
    with zipfile.ZipFile(folder / "old.zip", "w") as archive:
        archive.write(folder / "packed.pdf", "packed.pdf")
    (folder / "packed.pdf").unlink()
    return folder


def lines_of(pdf_file: Path, number: int, *quotes: str) -> list[tuple[float, float, float, float]]:
    """Return where PyMuPDF itself finds quotes on a page, one box for each line."""
    opener: Any = pymupdf.open
    with opener(pdf_file) as pdf:
        return [tuple(box) for quote in quotes for box in pdf[number - 1].search_for(quote)]
