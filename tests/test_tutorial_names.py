"""The look-up page of the tutorials' names: each name is in it, and everything that it says is here exists."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

import anabranch
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import OutputState
from anabranch.cli.app import app
from tests.shared_fixtures import REPOSITORY

PAGE = (REPOSITORY / "docs" / "tutorials.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| name |"))
]
LOOKED_FOR = [
    "similarity_top_k",
    "choice_batch_size",
    "top_n",
    "initial_k",
    "final_k",
    "alpha",
    "IndexFlatL2",
    "num_children",
    "HierarchicalNodeParser",
    "simple_ratio_thresh",
    "display_source_node",
    "fmt_prompts",
    "num_queries",
    "num_return_sequences",
    "tqdm",
    "nest_asyncio",
    "LLMRerank",
    "ListIndexLLMRetriever",
    "BM25Okapi",
    "CrossEncoder",
    "refine_prompt",
    "qa_prompt",
    "get_leaf_nodes",
    "AutoMergingRetriever",
    "PairwiseComparisonEvaluator",
]


def options(command: str) -> set[str]:
    """Return the options of a command such as `anabranch corpus stats`."""
    found: Any = typer.main.get_command(app)
    for part in command.split()[1:]:
        found = found.commands[part]
    return {option for param in found.params for option in param.opts}


def exists(name: str) -> bool:
    """Return whether there is a setting, value, option, argument, function, step, key or example of this name."""
    if name.startswith("anabranch "):
        command, _, option = name.partition(" --")
        return not option or f"--{option.replace(' ', '-')}" in options(command)
    if name.startswith("examples."):
        return (REPOSITORY / f"{name.replace('.', '/')}.py").is_file()
    if call := re.fullmatch(r"(\w+)\((\w+)=\)", name):
        return call[2] in inspect.signature(getattr(anabranch, call[1])).parameters
    setting, _, value = name.partition("=")
    if value:
        number = value if re.fullmatch(r"[\d.]+", value) else json.dumps([value] if setting == "retrievers" else value)
        return setting in Context.model_fields and bool(Context(**{setting: json.loads(number)}))
    known = {*Context.model_fields, *anabranch.__all__, *OutputState.__annotations__}
    return name in known or (REPOSITORY / "nodes" / f"{name}.py").is_file()


def names_here() -> Iterator[str]:
    for row in ROWS:
        yield from re.findall(r"`([^`]+)`", row[1])


def test_the_rows_have_three_cells() -> None:
    assert [row for row in ROWS if len(row) != 3] == []


@pytest.mark.parametrize("name", LOOKED_FOR)
def test_a_name_of_a_tutorial_is_in_the_first_column(name: str) -> None:
    assert any(f"`{name}`" in row[0] for row in ROWS)


@pytest.mark.parametrize("name", sorted(set(names_here())))
def test_what_the_page_says_is_here_exists(name: str) -> None:
    assert exists(name)


def test_every_row_says_what_is_here() -> None:
    assert [row for row in ROWS if "`" not in row[1]] == []


@pytest.mark.parametrize(
    "name", ["similarity_top_k", "depth_of", "build(similarity_top_k=)", "anabranch ask --explained", "examples.none"]
)
def test_a_name_that_is_not_here_is_noticed(name: str) -> None:
    assert not exists(name)
