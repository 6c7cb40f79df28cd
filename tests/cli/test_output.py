from __future__ import annotations

import json

import pytest

from anabranch.cli.output import write_json

UNSEEN = "\x1b[2J \x9b2J \u202e \u200b \u00ad \u2066 \ufeff \x85 \ud800 " + "".join(chr(0xE0000 + ord(c)) for c in "hi")


def test_json_has_no_character_that_a_terminal_obeys_or_nobody_sees(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"answer": f"Größe 大小 é {UNSEEN}", "क्‍ष": [UNSEEN, 1, None]}
    write_json(value)
    shown = capsys.readouterr().out
    assert json.loads(shown) == value
    assert "Größe 大小 é" in shown
    assert shown.rstrip("\n").isprintable()
