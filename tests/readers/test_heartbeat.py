"""Signs of life."""

from __future__ import annotations

from anabranch.readers.heartbeat import beat, heard_by


def test_beats_are_heard_inside_the_block_alone() -> None:
    heard: list[str] = []
    beat()
    with heard_by(lambda: heard.append("outer")):
        beat()
        with heard_by(lambda: heard.append("inner")):
            beat()
        beat()
    beat()
    assert heard == ["outer", "inner", "outer"]
