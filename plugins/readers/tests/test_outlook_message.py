from __future__ import annotations

from pathlib import Path

import pytest

from plugins.readers.tests.compound_file import compound, outlook
from tests.readers.read_bytes import documents, reason


def test_who_wrote_what_to_whom(tmp_path: Path) -> None:
    (document,) = documents(
        tmp_path, "a.msg", outlook("Grüße", "Dear Bob,\n\nit works.", "Ada", "<p>Hi</p>", "plan.pdf")
    )
    assert document.title == "Grüße"
    assert [block.text for block in document.blocks[1:]] == ["Dear Bob,", "it works."]
    assert document.blocks[0].text.startswith('From: "Ada" <ada@x.org>\nTo: Bob <bob@y.org>\nDate: Wed, 16 Jul 2008')
    assert document.notes == ("attached files were not read (1: plan.pdf)",)
    assert document.metadata["attachments"] == ["plan.pdf"]


@pytest.mark.parametrize("data", [b"no message", compound({"x": b"y"}), outlook("a", "b", "c")[:2000]])
def test_damage_is_broken(tmp_path: Path, data: bytes) -> None:
    assert reason(tmp_path, "a.msg", data) == "broken"
