from __future__ import annotations

from pathlib import Path

from tests.readers.read_bytes import documents, reason, texts


def test_headings_lists_and_tables(tmp_path: Path) -> None:
    source = "Title\n=====\n\n- one\n\n  - deep\n\nSub\n---\n\n3. three\n4. four\n\n"
    source += "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n"
    (document,) = documents(tmp_path, "a.rst", source)
    assert document.title == "Title"
    assert [(block.text, block.heading) for block in document.blocks if not block.is_heading] == [
        ("- one\n  - deep", ("Title",)),
        ("3. three\n4. four", ("Title", "Sub")),
        ("| a | b |\n| 1 | 2 |", ("Title", "Sub")),
    ]


def test_code_keeps_its_indent_and_directives_are_no_text(tmp_path: Path) -> None:
    source = (
        ".. code-block:: python\n   :linenos:\n\n   def f():\n       return 1\n\n.. toctree::\n\n   other\n\n"
        ".. automodule:: foo\n   :members:\n\n.. comment of nobody\n\n::\n\n    literal\n      block\n"
    )
    assert texts(tmp_path, "a.rst", source) == ["def f():\n    return 1", "literal\n  block"]


def test_directives_of_sphinx_show_what_sphinx_shows(tmp_path: Path) -> None:
    source = (
        ".. versionadded:: 2.0\n   The *thing*.\n\n.. function:: open(path)\n\n   Opens :class:`~a.B`.\n\n"
        ".. note:: Mind it.\n\nSee :ref:`Other <x>`.\n"
    )
    assert texts(tmp_path, "a.rst", source) == [
        "New in version 2.0", "The thing.", "open(path)", "Opens a.B.", "Note: Mind it.", "See Other.",
    ]  # fmt: skip


def test_nothing_is_included_and_nothing_is_raw(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    source = (
        f"Words.\n\n.. include:: {tmp_path}/secret.txt\n\n.. raw:: html\n   :file: {tmp_path}/secret.txt\n\n"
        f".. csv-table::\n   :file: {tmp_path}/secret.txt\n\n.. literalinclude:: {tmp_path}/secret.txt\n"
    )
    assert texts(tmp_path, "a.rst", source)[0] == "Words."
    assert "SECRET" not in "".join(texts(tmp_path, "a.rst", source))


def test_what_cannot_be_parsed_is_text_all_the_same(tmp_path: Path) -> None:
    assert "b" in " ".join(texts(tmp_path, "a.rst", "=====\na\n-----\n\nb *c\n"))


def test_binary_data_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.rst", b"\x89PNG\r\n\x1a\n" + bytes(50)) == "broken"


def test_a_table_without_a_header_is_given_none_and_a_source_that_sphinx_copied_is_read(tmp_path: Path) -> None:
    source = "Why?\n====\n\n== ===\n-n do\n-s not\n== ===\n"
    (document,) = documents(tmp_path, "faq.rst.txt", source)
    assert [(block.text, block.heading) for block in document.blocks] == [
        ("Why?", ("Why?",)),
        ("-n: do\n-s: not", ("Why?",)),
    ]
    assert document.metadata["format"] == "rst"
