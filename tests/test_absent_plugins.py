"""The core by itself: what a plugin would do is refused with the extra that brings it, and nothing opens by chance."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.readers.corpus_marker import POINTER
from tests.shared_fixtures import REPOSITORY

PLUGINS = sorted(path.name for path in REPOSITORY.glob("plugins/*/anabranch_*"))
ABSENT = f"""
import sys
class Absent:
    def find_spec(name, *_):
        if name in {PLUGINS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent)
"""
"""What an installation without the plugins' folders comes to."""


def python(home: Path, code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")}
    command = [sys.executable, "-c", ABSENT + code, *arguments]
    return subprocess.run(
        command, cwd=home, env=environment | variables | {"COLUMNS": "200"}, capture_output=True, text=True, check=False
    )


COMMAND_LINE = "from anabranch.cli import main; main()"


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("serve --port 1", "serve"),
        ("key new --identity alice", "serve"),
        ("mcp", "mcp"),
        ("eval questions/ --strict", "eval"),
        ("work --help", "postgres"),
    ],
)
def test_a_command_without_its_plugin_says_which_extra_brings_it(tmp_path: Path, command: str, extra: str) -> None:
    done = python(tmp_path, COMMAND_LINE, *command.split())
    assert done.returncode == 2, done.stderr
    name = command.split(maxsplit=1)[0]
    said = f"error: The command '{name}' needs an optional dependency. Install it: pip install 'anabranch[{extra}]'"
    assert done.stderr.strip() == said
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("command", "what", "extra"),
    [
        ("search weir --corpus postgresql://db.example.org/documents#notes", "store 'postgresql'", "postgres"),
        ("search weir --corpus s3://bucket/notes", "store 's3'", "s3"),
        ("search weir --corpus published", "store 's3'", "s3"),
        ("corpus stats --corpus published", "store 's3'", "s3"),
        ("corpus export", "command 'corpus.export'", "s3"),
        ("corpus publish s3://bucket/notes", "command 'corpus.publish'", "s3"),
        ("corpus stats --watch", "queue action 'watch'", "postgres"),
        ("ingest published --queue", "queue action 'enqueue'", "postgres"),
    ],
)
def test_a_corpus_whose_store_or_queue_is_absent_says_which_extra_brings_it(
    tmp_path: Path, command: str, what: str, extra: str
) -> None:
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / POINTER).write_text("{}")
    done = python(tmp_path, COMMAND_LINE, *command.split())
    said = f"error: The {what} needs an optional dependency. Install it: pip install 'anabranch[{extra}]'"
    assert done.stderr.strip() == said
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("ask who --corpus c --set rerank=cross_encoder", "The reranker 'cross_encoder'"),
        ("ask who --corpus c --set rerank=late_interaction", "The reranker 'late_interaction'"),
        ("ingest weir.md --corpus d --embedder .", "An embedder in a folder"),
    ],
)
def test_a_model_in_a_folder_without_its_plugin_says_which_extra_brings_it(
    tmp_path: Path, command: str, what: str
) -> None:
    (tmp_path / "weir.md").write_text("The Halden weir was built by Ida Marrow in 1931.")
    assert python(tmp_path, COMMAND_LINE, "ingest", "weir.md", "--corpus", "c").returncode == 0
    done = python(tmp_path, COMMAND_LINE, *command.split())
    said = f"{what} needs an optional dependency. Install it: pip install 'anabranch[onnx]'"
    assert said in " ".join(done.stderr.split())
    assert done.returncode == 2


def test_help_lists_commands_whose_plugin_is_absent(tmp_path: Path) -> None:
    done = python(tmp_path, COMMAND_LINE, "--help")
    assert done.returncode == 0, done.stderr
    assert "pip install 'anabranch[serve]'" in done.stdout
    assert "Answer a question from the corpus" in done.stdout


def test_the_core_takes_in_a_file_and_answers_alone(tmp_path: Path) -> None:
    (tmp_path / "weir.md").write_text("The Halden weir was built by Ida Marrow in 1931.")
    assert python(tmp_path, COMMAND_LINE, "ingest", "weir.md", "--corpus", "c").returncode == 0
    done = python(tmp_path, COMMAND_LINE, "ask", "Who built the Halden weir?", "--corpus", "c")
    assert "Ida Marrow" in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["report.pdf", "prices.csv", "pump.py", "Makefile"])
def test_a_file_whose_reader_is_absent_is_skipped_with_the_extra_that_brings_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("all: some words")
    # Read in this process: another one that reads would have the plugins.
    code = f"import pathlib as p, anabranch.readers as r; list(r.read(p.Path({name!r}), {name!r}))"
    done = python(tmp_path, code)
    assert "ReadingError: " in done.stderr
    assert "pip install 'anabranch[formats]'" in done.stderr


def test_an_export_of_conversations_without_its_plugin_is_read_as_records(tmp_path: Path) -> None:
    (tmp_path / "day.json").write_text('[{"type": "message", "ts": "1709287200.0", "user": "U1", "said": "On weirs"}]')
    code = "import pathlib as p, anabranch.readers as r; print(list(r.read(p.Path('day.json'), 'day.json')))"
    assert "On weirs" in python(tmp_path, code).stdout


AUTH = (
    "from anabranch.identity.langgraph_auth import authenticate; import asyncio; print(asyncio.run(authenticate({})))"
)


def test_a_langgraph_server_without_the_plugin_opens_to_nobody_who_has_to_say_who_they_are(tmp_path: Path) -> None:
    (tmp_path / "auth.yaml").write_text("keys: []")
    done = python(tmp_path, AUTH, ANABRANCH_AUTH="auth.yaml")
    assert done.returncode != 0
    assert "MissingExtraError: The server part 'identity' needs an optional dependency" in done.stderr
    assert "local" in python(tmp_path, AUTH).stdout


def test_a_langgraph_server_without_the_plugin_has_no_page(tmp_path: Path) -> None:
    done = python(tmp_path, "from anabranch.server.page_app import app; print(type(app).__name__, app.routes)")
    assert done.stdout.strip() == "Starlette []", done.stderr
    assert "The page is not available: The server part 'page' needs an optional dependency" in done.stderr
