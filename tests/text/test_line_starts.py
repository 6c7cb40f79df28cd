from __future__ import annotations

import pytest

from anabranch.text.line_starts import entry_kinds, line_kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("- apples", "bullet"),
        ("• Äpfel", "bullet"),
        ("2024-03-12 09:06:03,126 INFO", "time"),
        ("[12.03.24, 09:06:03] Ada: Hallo", "time"),
        ("Mar 12 09:06:03 weir sshd[1]: ok", "time"),
        ("2024年3月12日 开会", "time"),
        ("3. The seller", "number"),
        ("2.1) Der Verkäufer", "number"),
        ("三、", ""),
        ("b) le vendeur", "number"),
        ("$ make check", "prompt"),
        ("root@weir:~# mdadm --detail", "prompt"),
        ("Present: Ada", "label"),
        ("Присутствуют: Анна", "label"),
        ("出席：王芳", "label"),
        ("following: nothing", ""),
        ("i.e. nothing", ""),
        ("The crane had been out of order since the storm: it fell", ""),
        ("3.5 tonnes", ""),
        ("", ""),
    ],
)
def test_what_a_line_begins_with(line: str, kind: str) -> None:
    assert line_kind(line) == kind


def test_one_line_alone_may_begin_so_by_chance() -> None:
    assert entry_kinds(["The tide on the", "12. of May was"]) == set()
    assert entry_kinds(["1. Ebbe", "die zweite", "2. Flut"]) == {"number"}
    assert entry_kinds(["Bring:", "- bread"]) == {"bullet"}
