from __future__ import annotations

import time

import pytest

from anabranch.cli import progress
from anabranch.cli.progress import figures, stages


def test_what_is_left_is_what_the_pieces_took_so_far() -> None:
    assert figures(10, 100, 0, spent=20.0, elapsed=20.0) == "10/100  0.5/s  0:00:20  3 min left"
    assert figures(90, 100, 0, spent=180.0, elapsed=185.0) == "90/100  0.5/s  0:03:05  15 s left"


def test_a_last_piece_that_takes_long_is_promised_no_end() -> None:
    seen = [figures(12, 13, 0, spent=24.0, elapsed=24.0 + waited) for waited in (0, 1, 2, 30)]
    assert [text.rpartition("  ")[2] for text in seen] == ["2 s left", "1 s left", "0:00:26", "0:00:54"]


def test_without_a_total_there_is_a_count_and_a_rate() -> None:
    assert figures(1_232, None, 64, spent=10.0, elapsed=12.0) == "1,232  117/s  0:00:12"
    assert figures(64, None, 64, spent=0.0, elapsed=3.0) == "64  0:00:03"


def test_all_of_it_has_a_rate_and_no_rest() -> None:
    assert figures(100, 100, 0, spent=10.0, elapsed=10.0) == "100/100  10/s  0:00:10"


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_a_line_fits_a_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    monkeypatch.setenv("NO_COLOR", "1")
    with stages(passages="passages embedded") as told:
        told("passages", 0, 123_456, "folder/" * 20 + "end.pdf")
        told("passages", 1_234, 123_456, "folder/" * 20 + "end.pdf")
    drawn = capsys.readouterr().err
    assert "1,234/123,456" in drawn
    assert "0:00:0" in drawn
    assert ("end.pdf" in drawn) == (columns > 70)


def test_a_pipe_is_told_now_and_then_also_while_nothing_is_finished(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert progress.SECONDS_BETWEEN_LINES <= 60
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.01)
    written = ""
    with stages(files="files read") as told:
        told("files", 3, 80, "papers/long.pdf")
        while written.count("\n") < 3:
            written += capsys.readouterr().err
            time.sleep(0.01)
    assert all(line.startswith("files read  papers/long.pdf  3/80  0:0") for line in written.splitlines())
