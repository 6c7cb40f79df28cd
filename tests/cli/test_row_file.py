"""The file of rows: every place, no formula, and nothing written where no row was listed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.row_file import COLUMNS, check_row_file, write_row_file
from anabranch.errors import SettingsError
from tests.cli.conftest import Run
from tests.graph.test_coverage import LEAKS, QUESTION, logs, script  # noqa: F401  # fixture
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub


def place(**changes: Any) -> dict[str, Any]:
    return {
        "marker": 1, "claim": "Pump 3", "quote": "Pump 3 leaked.", "source": "log.md", "page": None, "heading": "May",
        "chunk_id": "c", "start": 4, "end": 18, **changes,
    }  # fmt: skip


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_each_place_is_a_line_and_unconfirmed_rows_come_last(tmp_path: Path) -> None:
    state = {
        "citations": [place(), place(quote='It "leaked", again.\nTwice.', page=3)],
        "unconfirmed": [{"grade": "not_confirmed", "text": "Pump 9", "reason": "", "nearest": "Pump 9 blew up."}],
    }
    assert write_row_file(tmp_path / "rows.csv", state) == 3
    first, second, last = read(tmp_path / "rows.csv")
    assert tuple(first) == COLUMNS
    assert (first["hit"], first["confirmed"], first["quote"], first["page"]) == ("Pump 3", "yes", "Pump 3 leaked.", "")
    assert (second["quote"], second["page"]) == ('It "leaked", again. Twice.', "3")
    assert (last["row"], last["hit"], last["confirmed"], last["quote"]) == ("", "Pump 9", "no", "Pump 9 blew up.")


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_no_cell_is_a_formula(tmp_path: Path, start: str) -> None:
    hostile = f'{start}HYPERLINK("http://evil.example")'
    rows = [place(claim=hostile, quote=f"\t {hostile}", source=hostile, heading=hostile)]
    write_row_file(tmp_path / "rows.csv", {"citations": rows})
    (row,) = read(tmp_path / "rows.csv")
    assert [row[name][:2] for name in ("hit", "quote", "source", "heading")] == [f"'{start}"] * 4


@pytest.mark.parametrize("name", ["rows.txt", "nowhere/rows.csv"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError):
        check_row_file(tmp_path / name)


@pytest.mark.loopback
def test_the_command_writes_what_was_counted(logs: str, run: Run, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "leaks.csv"
    with OpenAIStub(script()) as stub:
        options = ["--model", "openai:stub", "--base-url", stub.base_url, "--set", "strategy=none"]
        done = run("ask", QUESTION, "--corpus", logs, "--rows", str(path), *options)
    assert done.exit_code == 0, done.output
    assert {row["hit"] for row in read(path)} == {f"leak {number}" for number in LEAKS}
    assert "Windows to read:" in done.stderr
    assert f"{path}: {len(LEAKS)} lines." in done.stderr.replace("\n", "")


@pytest.mark.parametrize("options", [(), ("--model", "auto")])
def test_without_a_model_the_file_is_refused_before_anything_is_read(
    logs: str,  # noqa: F811
    run: Run,
    tmp_path: Path,
    options: tuple[str, ...],
) -> None:
    done = run("ask", "leak", "--corpus", logs, "--rows", str(tmp_path / "leaks.csv"), "--thread", "none", *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--rows needs a chat model" in done.stderr
    assert "--model auto" in done.stderr
    assert not (tmp_path / "leaks.csv").exists()


@pytest.mark.loopback
def test_a_resumed_run_keeps_its_settings_and_writes_the_file(logs: str, run: Run, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "leaks.csv"
    begin = ("--corpus", logs, "--thread", "resumed", "--rows", str(path))
    with OpenAIStub(script()) as stub:
        model = ("--model", "openai:stub", "--base-url", stub.base_url, "--set", "strategy=none")
        chosen = ("--coverage", "document", "--filter", '{"source": "log1.md"}', "--set", "review=sources")
        waiting = run("ask", QUESTION, *begin, *model, *chosen)
        assert "--rows" in waiting.stdout
        assert not path.exists()
        done = run("ask", *begin, "--resume", "--reply", "true", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["coverage"]["reach"] == "document"
    assert {row["hit"] for row in read(path)} == {f"leak {number}" for number in LEAKS if 20 <= number < 40}


@pytest.mark.loopback
def test_where_the_model_read_nothing_no_file_is_written(logs: str, run: Run, tmp_path: Path) -> None:  # noqa: F811
    with OpenAIStub(Reply("no", status=500)) as stub:
        options = ["--model", "openai:stub", "--base-url", stub.base_url, "--set", "model_retries=0"]
        done = run("ask", "leak", "--corpus", logs, "--rows", str(tmp_path / "leaks.csv"), *options)
    assert "no model listed rows" in done.stderr.replace("\n", "")
    assert not (tmp_path / "leaks.csv").exists()
