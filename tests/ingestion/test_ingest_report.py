"""The rows of a run."""

from __future__ import annotations

from anabranch.ingestion.ingest_report import MOST_FAILURES, FileRow, Tally


def test_rows_come_in_the_order_of_the_files() -> None:
    tally = Tally()
    tally.add(2, FileRow("c", "added"))
    tally.fail(0, "a", "broken", "no PDF")
    tally.fail_part(1, "b", "b:7", "encoding", "not UTF-8")
    tally.add(1, FileRow("b", "added"))
    tally.fail(3, "d", "unsupported", "a film")
    assert tally.rows() == [
        FileRow("a", "failed", "broken: no PDF"),
        FileRow("b:7", "failed", "encoding: not UTF-8"),
        FileRow("b", "added"),
        FileRow("c", "added"),
        FileRow("d", "skipped", "unsupported: a film"),
    ]


def test_failures_of_one_file_are_listed_up_to_a_number_then_counted() -> None:
    tally = Tally()
    for line in range(MOST_FAILURES + 23):
        tally.fail_part(0, "a", f"a:{line}", "broken", "no JSON")
    for line in range(MOST_FAILURES):
        tally.fail_part(1, "b", f"b:{line}", "broken", "no JSON")
    tally.add(0, FileRow("a", "added"))
    rows = tally.rows()
    assert [row.source for row in rows[:MOST_FAILURES]] == [f"a:{line}" for line in range(MOST_FAILURES)]
    assert rows[MOST_FAILURES:][:2] == [FileRow("a", "added"), FileRow("a", "failed", "and 23 more of its parts")]
    assert len(rows) == 2 * MOST_FAILURES + 2
