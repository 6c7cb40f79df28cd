"""What registries read of a release: `server.json`, the line of the README that it points at, and CITATION.cff."""

from __future__ import annotations

import json
import re
from typing import Any

import typer
import yaml
from packaging.requirements import Requirement

import anabranch
from anabranch.cli.app import app
from tests.shared_fixtures import REPOSITORY

SERVER: dict[str, Any] = json.loads((REPOSITORY / "server.json").read_text(encoding="utf-8"))
(PACKAGE,) = SERVER["packages"]


def test_the_name_stands_in_the_readme_which_is_how_the_registry_knows_the_owner() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)", text) == [SERVER["name"]]
    assert re.fullmatch(r"io\.github\.[a-zA-Z0-9-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert SERVER["name"].endswith(f"/{PACKAGE['identifier']}")
    # The registry refuses a longer one.
    assert len(SERVER["description"]) <= 100


def test_every_version_is_that_of_the_package() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    (extras,) = [each["value"] for each in PACKAGE["runtimeArguments"]]
    pinned = str(Requirement(extras).specifier).removeprefix("==")
    assert {SERVER["version"], PACKAGE["version"], pinned, citation["version"]} == {anabranch.__version__}


def test_a_client_starts_a_command_that_there_is_with_the_extra_that_it_needs() -> None:
    (extras,) = [Requirement(each["value"]) for each in PACKAGE["runtimeArguments"]]
    assert "mcp" in extras.extras
    command, *options = PACKAGE["packageArguments"]
    found = typer.main.get_command(app).commands[command["value"]]  # type: ignore[attr-defined]
    taken = {name for parameter in found.params for name in parameter.opts}
    assert {each["name"] for each in options} <= taken


def test_the_citation_says_what_its_format_asks_for() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == "Apache-2.0"
