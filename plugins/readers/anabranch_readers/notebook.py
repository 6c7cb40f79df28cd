"""Read a Jupyter notebook: its prose as Markdown, its code as code, and of the output only what is text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, HeadingPath, ReadOptions, titles
from anabranch.readers.document_parts import LeftOut, in_parts
from anabranch.readers.encoding import decode
from anabranch.readers.markdown import markdown_blocks
from anabranch.readers.size_limit import limited
from anabranch.text.normalization import clean, clean_counted

_LONGEST_OUTPUT = 4000


@limited(1 << 27, "Clear its outputs.")
def read_notebook(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of an .ipynb file, or its parts where it is long; its first heading is its title.

    Raises:
        ReadingError: `empty`, `broken` when it is no notebook, `encoding`.
    """
    text, notes = decode(path.read_bytes(), source)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadingError(f"{source!r} is no JSON: {error}", reason="broken", hint="Save it again.") from error
    # Whole and not streamed: a notebook is one JSON object, and its first heading may stand anywhere.
    cells = _Cells(_listed(notebook, source))
    blocks = tuple(cells.blocks())
    title = next((block.text for block in blocks if block.is_heading), path.stem)
    whole = Document(source, title, (), {"format": "ipynb"}, key=source, notes=notes)
    yield from in_parts(blocks, whole, cells.left_out.notes)


class _Cells:
    """The cells of one notebook; counts what is left out."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        self._cells = cells
        self.left_out = LeftOut()

    def blocks(self) -> Iterator[Block]:
        path: HeadingPath = ()
        for cell in self._cells:
            # Before version 4 of the format, code stood under `input`.
            text = self._clean(_joined(cell.get("source", cell.get("input"))))
            if cell.get("cell_type") == "markdown":
                blocks, path = markdown_blocks(text, path)
                yield from blocks
            elif text.strip():
                yield Block(text.strip("\n"), None, titles(path), is_preformatted=True)
            outputs = cell.get("outputs")
            for output in outputs if isinstance(outputs, list) else []:
                shown = self._output(output) if isinstance(output, dict) else ""
                if shown:
                    yield Block(shown, None, titles(path), is_preformatted=True)

    def _output(self, output: dict[str, Any]) -> str:
        data = output.get("data")
        forms = data if isinstance(data, dict) else {}
        is_picture = bool(forms) and any(not form.startswith(("text/", "application/json")) for form in forms)
        self.left_out["outputs that are not text were left out ({})"] += is_picture
        # Beside a picture, the text is only the name of the object that drew it.
        text = clean(_joined(output.get("text") or forms.get("text/plain"))).strip("\n") if not is_picture else ""
        self.left_out[f"outputs were cut to {_LONGEST_OUTPUT} characters ({{}})"] += len(text) > _LONGEST_OUTPUT
        return text[:_LONGEST_OUTPUT].rstrip()

    def _clean(self, text: str) -> str:
        cleaned, hidden = clean_counted(text)
        self.left_out["invisible characters were removed ({})"] += hidden
        return cleaned


def _listed(notebook: object, source: str) -> list[dict[str, Any]]:
    """Return the cells; before version 4 of the format they lay in worksheets."""
    sheets = notebook.get("worksheets", [notebook]) if isinstance(notebook, dict) else []
    found = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)] if isinstance(sheets, list) else []
    if not any(isinstance(cells, list) for cells in found):
        raise ReadingError(f"{source!r} is no notebook.", reason="broken", hint="Check the file's extension.")
    return [cell for cells in found if isinstance(cells, list) for cell in cells if isinstance(cell, dict)]


def _joined(text: object) -> str:
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""
