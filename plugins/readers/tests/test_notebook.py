import json
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch.readers.document import Document
from anabranch_readers import notebook
from anabranch_readers.notebook import read_notebook


def read(tmp_path: Path, *cells: dict[str, object], **others: object) -> Document:
    path = tmp_path / "work.ipynb"
    path.write_text(json.dumps({"cells": list(cells), "nbformat": 4, **others}))
    (document,) = read_notebook(path, "work.ipynb")
    return document


def prose(text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "source": text.splitlines(keepends=True)}


def source(text: str, *outputs: dict[str, object]) -> dict[str, object]:
    return {"cell_type": "code", "source": text, "outputs": list(outputs)}


def test_prose_is_markdown_and_code_is_code(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        prose("# Study\n\nSome *words*.\n\n## Data"),
        source("def f():\n    return 1"),
        prose("After."),
        {"cell_type": "raw", "source": "raw text"},
    )
    assert [(block.text, block.heading) for block in document.blocks if not block.is_heading] == [
        ("Some words.", ("Study",)),
        ("def f():\n    return 1", ("Study", "Data")),
        ("After.", ("Study", "Data")),
        ("raw text", ("Study", "Data")),
    ]
    assert document.title == "Study"
    assert document.metadata == {"format": "ipynb"}


def test_of_the_output_only_text_is_read(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        source(
            "plot()",
            {"output_type": "stream", "text": ["one\n", "two\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}},
            {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": "<Figure>"}},
            {"output_type": "error", "traceback": ["boom"]},
        ),
    )
    assert [block.text for block in document.blocks] == ["plot()", "one\ntwo", "42"]
    assert document.notes == ("outputs that are not text were left out (1)",)


def test_a_long_output_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "_LONGEST_OUTPUT", 10)
    document = read(tmp_path, source("run()", {"output_type": "stream", "text": "x" * 100}))
    assert document.blocks[1].text == "x" * 10
    assert document.notes == ("outputs were cut to 10 characters (1)",)


def test_the_old_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.ipynb"
    cells = [{"cell_type": "code", "input": "print(1)", "outputs": []}]
    path.write_text(json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}))
    (document,) = read_notebook(path, "old.ipynb")
    assert [block.text for block in document.blocks] == ["print(1)"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("{", "broken"),
        ("[1]", "broken"),
        ('{"cells": 7}', "broken"),
        ('{"cells": []}', "empty"),
        ('{"cells": [7, {"source": [7], "outputs": [7]}, {"source": 7}]}', "empty"),
        ("[" * 100_000, "broken"),
    ],
)
def test_what_is_no_notebook_says_why(tmp_path: Path, data: str, reason: str) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(data)
    with pytest.raises(ReadingError) as caught:
        list(read_notebook(path, "x.ipynb"))
    assert caught.value.reason == reason
