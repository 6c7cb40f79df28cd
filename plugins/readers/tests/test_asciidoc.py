from __future__ import annotations

from pathlib import Path

from tests.readers.read_bytes import documents, reason


def test_markup_goes_and_structure_stays(tmp_path: Path) -> None:
    source = (
        "= The Guide\n:product: Pump\n\n// hidden\n== Install the {product}\n\nSome *bold* with https://x.org[a link]\n"
        "and <<sec,Section>>.\n\nNOTE: Mind it.\n\n"
        "[source,ruby]\n----\ndef f\n  1\nend\n----\n\n* one\n** deep\n. first\n\n"
        "|===\n|Name |Value\n\n|a\n|1\n|b\n|2\n|===\n\n////\nblock comment\n////\nimage::x.png[A picture]\n"
    )
    (document,) = documents(tmp_path, "a.adoc", source)
    assert document.title == "The Guide"
    assert [block.text for block in document.blocks] == [
        "The Guide", "Install the Pump", "Some bold with a link and Section.", "NOTE: Mind it.", "def f\n  1\nend",
        "- one\n  - deep\n- first", "| Name | Value |\n| a | 1 |\n| b | 2 |", "A picture",
    ]  # fmt: skip


def test_a_listing_that_never_ends_is_text_all_the_same(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, "a.adoc", "Words.\n\n----\nx = 1\n  y\n")
    assert [block.text for block in document.blocks] == ["Words.", "x = 1\n  y"]


def test_binary_data_is_broken(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.adoc", b"\x7fELF" + bytes(50)) == "broken"
