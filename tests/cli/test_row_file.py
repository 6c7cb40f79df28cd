"""The file of rows: every place, no formula, and nothing written where no row was listed."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.row_file import COLUMNS, check_row_file, write_row_file
from anabranch.errors import SettingsError
from tests.cli.conftest import Run
from tests.graph.test_coverage import LEAKS, QUESTION, logs, script  # noqa: F401  # fixture
from tests.servers.calls import Request
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


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", "＋", "－", "＠"])
def test_no_cell_is_a_formula(tmp_path: Path, start: str) -> None:
    hostile = f'{start}HYPERLINK("http://evil.example")'
    rows = [place(claim=hostile, quote=f"\t {hostile}", source=hostile, heading=hostile)]
    write_row_file(tmp_path / "rows.csv", {"citations": rows})
    (row,) = read(tmp_path / "rows.csv")
    assert [row[name][:2] for name in ("hit", "quote", "source", "heading")] == [f"'{start}"] * 4


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\u200b="])
@pytest.mark.parametrize("before", ["x;", "x; ", "x;\t", ";;", "x|"])
def test_no_cell_is_a_formula_where_another_sign_separates(tmp_path: Path, sign: str, before: str) -> None:
    hostile = f"{before}{sign}cmd|' /C calc'!A0"
    write_row_file(tmp_path / "rows.csv", {"citations": [place(claim=hostile, quote=hostile, source=hostile)]})
    for delimiter in ",;|":
        with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
            cells = [cell.strip() for row in csv.reader(file, delimiter=delimiter) for cell in row]
        assert len(cells) > 1
        assert not [cell for cell in cells if unicodedata.normalize("NFKC", cell).startswith(("=", "+", "-", "@"))]


def test_the_words_of_a_quote_stay_as_they_are(tmp_path: Path) -> None:
    quote = "It held; 5 - 3 = 2 (see a@b.example); -"
    write_row_file(tmp_path / "rows.csv", {"citations": [place(quote=quote)]})
    assert read(tmp_path / "rows.csv")[0]["quote"] == quote.replace("; -", "; '-")


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
def test_the_file_is_whole_although_the_reader_left(logs: str, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "leaks.csv"
    with OpenAIStub(script()) as stub:
        options = ["--model", "openai:stub", "--base-url", stub.base_url, "--set", "strategy=none"]
        command = [sys.executable, "-m", "anabranch.cli", "ask", QUESTION, "--corpus", logs, "--rows", path, *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.close()
        _, notes = process.communicate()
    assert process.returncode == 0, notes
    assert "Traceback" not in notes
    assert "error" not in notes
    assert {row["hit"] for row in read(path)} == {f"leak {number}" for number in LEAKS}


@pytest.mark.loopback
def test_the_rows_of_a_finished_thread_are_written_again_at_no_call(
    logs: str,  # noqa: F811
    run: Run,
    tmp_path: Path,
) -> None:
    first, again, exported = (tmp_path / name for name in ("first.csv", "again.csv", "exported.csv"))
    thread = ("--corpus", logs, "--thread", "listed")
    is_done = False

    def reply(request: Request) -> Reply:
        assert not is_done, "the model was asked again"
        return listing(request)

    listing = script()
    with OpenAIStub(reply) as stub:
        model = ("--model", "openai:stub", "--base-url", stub.base_url, "--set", "strategy=none")
        assert run("ask", QUESTION, *thread, "--rows", first, *model).exit_code == 0
        is_done, asked = True, len(stub.calls)
        shown = run("ask", *thread, "--resume", "--rows", again)
        written = run("threads", "export", "listed", "--corpus", logs, "--rows", exported)
        assert len(stub.calls) == asked
    assert (shown.exit_code, written.exit_code) == (0, 0), shown.output + written.output
    assert "leak" in shown.stdout
    assert written.stdout == ""
    assert first.read_bytes() == again.read_bytes() == exported.read_bytes()
    assert len(read(first)) == len(LEAKS)


@pytest.mark.parametrize("options", [(), ("--set", "review=queries")])
def test_a_thread_that_lists_no_rows_has_none_to_export(
    logs: str,  # noqa: F811
    run: Run,
    tmp_path: Path,
    options: tuple[str, ...],
) -> None:
    name, path = f"plain{len(options)}", tmp_path / "rows.csv"
    assert run("ask", QUESTION, "--corpus", logs, "--thread", name, *options).exit_code == 0
    result = run("threads", "export", name, "--corpus", logs, "--rows", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no model listed rows" in result.stderr.replace("\n", "")
    assert not path.exists()
    assert run("threads", "export", "plain*", "none", "--corpus", logs, "--rows", path).exit_code == 2


@pytest.mark.loopback
def test_where_the_model_read_nothing_no_file_is_written(logs: str, run: Run, tmp_path: Path) -> None:  # noqa: F811
    with OpenAIStub(Reply("no", status=500)) as stub:
        options = ["--model", "openai:stub", "--base-url", stub.base_url, "--set", "model_retries=0"]
        done = run("ask", "leak", "--corpus", logs, "--rows", str(tmp_path / "leaks.csv"), *options)
    assert "no model listed rows" in done.stderr.replace("\n", "")
    assert not (tmp_path / "leaks.csv").exists()
