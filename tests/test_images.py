"""The images that LangGraph's command makes of this repository and of the template, as far as Docker is not needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.dockerfiles import (
    Call,
    Instruction,
    check_syntax,
    copied_sources,
    installs,
    read_environment,
    read_instructions,
    run_install,
    sent_files,
)
from tests.shared_fixtures import REPOSITORY

TEMPLATE = REPOSITORY / "template"
# The variable in which the server looks for each part of langgraph.json.
VARIABLES = {
    "auth": "LANGGRAPH_AUTH",
    "checkpointer": "LANGGRAPH_CHECKPOINTER",
    "graphs": "LANGSERVE_GRAPHS",
    "http": "LANGGRAPH_HTTP",
    "store": "LANGGRAPH_STORE",
}
_WITH_VALUE = frozenset({"-c", "-e", "-r", "--extra"})


class Image(NamedTuple):
    """A project, and the Dockerfile that is made of it."""

    home: Path
    lines: list[Instruction]

    @property
    def config(self) -> dict[str, Any]:
        """What its langgraph.json says."""
        return json.loads((self.home / "langgraph.json").read_text(encoding="utf-8"))


def write_dockerfile(home: Path, target: Path) -> Image:
    """Have LangGraph's command write the file, as a user does."""
    pytest.importorskip("langgraph_cli", reason="the extra `server` is not installed")
    environment = {**os.environ, "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    command = [sys.executable, "-m", "langgraph_cli", "dockerfile", str(target)]
    subprocess.run(command, cwd=home, env=environment, check=True, capture_output=True, timeout=300)
    return Image(home, read_instructions(target.read_text(encoding="utf-8")))


def copy_template(folder: Path) -> Path:
    home = folder / "my-agent"
    shutil.copytree(TEMPLATE, home, ignore=shutil.ignore_patterns("__pycache__"))
    return home


@pytest.fixture(scope="module", params=["repository", "template", "template and checkout"])
def image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    if request.param == "repository":
        return write_dockerfile(REPOSITORY, folder / "Dockerfile")
    home = copy_template(folder)
    if request.param == "template and checkout":
        (folder / "anabranch").mkdir()
        shutil.copy(REPOSITORY / "pyproject.toml", folder / "anabranch")
        (listed,) = re.findall(r'`("dependencies": \[.+?\])`', (home / "README.md").read_text(encoding="utf-8"))
        changed = json.loads((home / "langgraph.json").read_text(encoding="utf-8")) | json.loads("{" + listed + "}")
        (home / "langgraph.json").write_text(json.dumps(changed), encoding="utf-8")
    return write_dockerfile(home, folder / "Dockerfile")


def run_all(image: Image, root: Path) -> list[Call]:
    """Run what installs, in an image whose folders are empty."""
    work = root / "work"
    for each in (work, root / "api", root / "tmp"):
        each.mkdir()
    for word, rest in image.lines:
        if word in ("ADD", "COPY"):
            (root / rest.split()[-1].lstrip("/")).mkdir(parents=True)
    calls = [call for line in image.lines if installs(line) for call in run_install(line.rest, root, work)]
    # A `<` or `>` without quotes would read or write a file.
    assert list(work.iterdir()) == []
    return calls


def test_the_server_is_given_what_is_configured(image: Image) -> None:
    (work,) = {rest for word, rest in image.lines if word == "WORKDIR"}
    found: dict[str, str] = {}
    for word, rest in image.lines:
        if word == "ENV":
            found |= read_environment(rest)
    text = json.dumps({VARIABLES[name]: image.config[name] for name in VARIABLES if name in image.config})
    expected = json.loads(text.replace('"./', f'"{work}/'))
    assert {name: json.loads(value) for name, value in found.items()} == expected


def test_each_install_gets_the_words_that_are_meant(image: Image, tmp_path: Path) -> None:
    calls = run_all(image, tmp_path)
    assert calls
    given: list[str] = []
    for call in calls:
        words = iter(call.words[call.words.index("install") + 1 :])
        for word in words:
            if word in _WITH_VALUE:
                next(words)
            elif not word.startswith("--"):
                given.append(word)
    assert given == [each for each in image.config["dependencies"] if not each.startswith(".")]
    folders = [call.folder for call in calls if call.words[-2:] == ["-e", "."]]
    names = [(image.home / each).resolve().name for each in image.config["dependencies"] if each.startswith(".")]
    # In this order: what has Anabranch from a checkout must find it installed.
    assert folders == [f"/deps/{name}" for name in names]


def test_other_commands_can_be_read_by_the_shell(image: Image) -> None:
    commands = [line.rest for line in image.lines if line.word == "RUN" and not installs(line)]
    assert commands
    for command in commands:
        check_syntax(command)


def test_what_is_copied_is_there_and_sent_to_the_builder(image: Image) -> None:
    assert set(copied_sources(image.lines)) - {"."} <= sent_files(image.home)


def test_the_image_of_the_repository_has_what_the_page_and_the_keys_need(tmp_path: Path) -> None:
    """It gets the extra from the project's own file, without a package of this name on a registry."""
    image = write_dockerfile(REPOSITORY, tmp_path / "Dockerfile")
    (tmp_path / "root").mkdir()
    (call,) = [each for each in run_all(image, tmp_path / "root") if "--extra" in each.words]
    options = dict(zip(call.words, call.words[1:], strict=False))
    (copied,) = [rest.split()[0] for word, rest in image.lines if word == "ADD" and rest.split()[0] != "."]
    assert copied == "pyproject.toml"
    assert options["-r"] == next(rest.split()[1] for word, rest in image.lines if word == "ADD") + copied
    assert options["-c"] == "/api/constraints.txt"
    assert options["--extra"] == "serve"
    project = tomllib.loads((REPOSITORY / copied).read_text(encoding="utf-8"))
    assert options["--extra"] in project["project"]["optional-dependencies"]
    # What the wheel is built from.
    named = project["project"]
    built = [
        named["readme"],
        *named["license-files"],
        *project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"],
    ]
    assert {*built, "graph", "nodes", "prompts", "anabranch/agent/graph"} <= sent_files(REPOSITORY)


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("A=1", {"A": "1"}),
        ("A=1 B='two words'", {"A": "1", "B": "two words"}),
        ('A="say \\"so\\"" B=a\\ b', {"A": 'say "so"', "B": "a b"}),
        ("A='{\"b\": 1}'", {"A": '{"b": 1}'}),
        ("A='back\\slash'", {"A": "back\\slash"}),
        ("A='it'\"'\"'s'", {"A": "it's"}),
    ],
)
def test_an_environment_is_read_as_a_builder_reads_it(rest: str, expected: dict[str, str]) -> None:
    assert read_environment(rest) == expected


@pytest.mark.parametrize("rest", ["A='the user's'", "A='the user's own'", "A='the user's and the server's own'", 'A="'])
def test_an_apostrophe_that_ends_the_quotation_is_noticed(rest: str) -> None:
    with pytest.raises(ValueError, match=r"No closing quotation|no name=value"):
        read_environment(rest)


def test_a_mark_that_the_shell_takes_for_a_file_is_noticed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(subprocess.CalledProcessError):
        run_install("pip install aiosqlite<1", tmp_path, work)
    run_install("pip install aiosqlite>=0.21", tmp_path, work)
    assert [each.name for each in work.iterdir()] == ["=0.21"]
    (call,) = run_install("python -m pip install 'aiosqlite>=0.21,<1'", tmp_path, work)
    assert call.words[-1] == "aiosqlite>=0.21,<1"
