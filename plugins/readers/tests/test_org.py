from __future__ import annotations

from pathlib import Path

from tests.readers.read_bytes import documents, reason


def test_what_is_for_the_editor_is_no_text(tmp_path: Path) -> None:
    source = (
        "#+TITLE: Der Plan\n#+AUTHOR: Ada\n* TODO [#A] Erstens :arbeit:\n:PROPERTIES:\n:ID: 1\n:END:\n"
        "SCHEDULED: <2024-01-01>\nEtwas *fett* mit [[https://x.org][Verweis]]\nund weiter.\n# Bemerkung\n** Unten\n"
        "- eins\n  - [X] zwei\n| a | b |\n|---+---|\n| 1 | 2 |\n#+begin_src python\ndef f():\n    return 1\n\nx = 2\n"
        "#+end_src\n"
    )
    (document,) = documents(tmp_path, "a.org", source)
    assert (document.title, document.metadata) == ("Der Plan", {"format": "org", "author": "Ada"})
    assert [(block.text, block.heading) for block in document.blocks if not block.is_heading] == [
        ("Etwas fett mit Verweis und weiter.", ("Erstens",)),
        ("- eins\n  - zwei", ("Erstens", "Unten")),
        ("| a | b |\n| 1 | 2 |", ("Erstens", "Unten")),
        ("def f():\n    return 1\n\nx = 2", ("Erstens", "Unten")),
    ]


def test_binary_data_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.org", b"\x7fELF" + bytes(50)) == "broken"
