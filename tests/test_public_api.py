"""The names that other people's code may import: each is there, says what it is, and the first steps work with them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import anabranch
from anabranch import errors


@pytest.mark.parametrize("name", anabranch.__all__)
def test_every_name_is_there_and_says_what_it_is(name: str) -> None:
    found = getattr(anabranch, name)
    assert name == "__version__" or inspect.getdoc(found)


def test_the_list_is_in_order_and_nothing_else_is_offered() -> None:
    assert anabranch.__all__ == sorted(set(anabranch.__all__))
    assert dir(anabranch) == anabranch.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = anabranch.nothing


def test_whatever_is_raised_can_be_caught_by_name() -> None:
    raised = {name for name, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, Exception)}
    assert raised <= set(anabranch.__all__)


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = ("langgraph", "numpy", "pydantic", "anabranch.agent")
    code = f"import sys, anabranch; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_module_below_does_not_hide_a_function_of_the_same_name() -> None:
    code = "import anabranch.ingestion.pipeline, anabranch; from anabranch import ingest; print(callable(ingest))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


async def test_the_first_steps(tmp_path: Path) -> None:
    from anabranch import Context, HybridRetriever, aanswer, asearch, ingest, open_corpus

    (tmp_path / "weir.md").write_text("# Weir\n\nThe Halden weir was built by Ida Marrow in 1931.\n")
    corpus = tmp_path / "corpus"
    assert ingest(tmp_path / "weir.md", corpus).count("added") == 1
    assert (await (await open_corpus(corpus)).info()).documents == 1
    found = await asearch("Who built the weir?", corpus=corpus)
    assert "Ida Marrow" in found[0].page_content
    assert found[0].metadata["source"].endswith("weir.md")
    retriever = HybridRetriever(settings={"corpus": str(corpus), "top_k": 1})
    assert [document.id for document in await retriever.ainvoke("Who built the weir?")] == [found[0].id]
    state = await aanswer("Who built the Halden weir?", corpus=corpus)
    assert "Ida Marrow" in state["answer"]
    assert Context(corpus=corpus).corpus == str(corpus)


def test_the_same_without_an_event_loop(tmp_path: Path) -> None:
    from anabranch import answer, ingest, search

    (tmp_path / "weir.md").write_text("# Weir\n\nThe Halden weir was built by Ida Marrow in 1931.\n")
    ingest(tmp_path / "weir.md", tmp_path / "corpus")
    assert "Ida Marrow" in search("Who built the weir?", corpus=tmp_path / "corpus")[0].page_content
    (citation, *_) = answer("Who built the Halden weir?", corpus=tmp_path / "corpus")["citations"]
    assert citation["grade"] in ("quoted", "found")


def test_mistakes_are_errors_with_a_hint(tmp_path: Path) -> None:
    from anabranch import SettingsError, answer, search

    with pytest.raises(SettingsError, match="no setting 'tpo_k'") as caught:
        answer("Who?", corpus=tmp_path, tpo_k=3)
    assert caught.value.hint == "Did you mean 'top_k'?"
    with pytest.raises(SettingsError, match="'top_k' cannot be 0: input should be greater"):
        search("Who?", corpus=tmp_path, top_k=0)
    with pytest.raises(SettingsError, match="review: sources pauses"):
        answer("Who?", corpus=tmp_path, review="sources")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"top_k": 1}, 'Did you mean settings={"top_k": ...}?'),
        ({"filers": {}}, "Did you mean 'filters'?"),
        (
            {"n": 1},
            "It takes name, tags, metadata, settings, k, filters, retrievers, embedder, reranker; settings such as",
        ),
    ],
)
def test_an_argument_that_a_retriever_does_not_take_is_refused(given: dict[str, Any], hint: str) -> None:
    from anabranch import HybridRetriever, SettingsError

    with pytest.raises(SettingsError, match=f"takes no {next(iter(given))!r}") as caught:
        HybridRetriever(settings={"corpus": "x"}, **given)
    assert caught.value.hint.startswith(hint)


def test_a_retriever_without_settings_has_those_of_the_operator_as_a_search_has(tmp_path: Path) -> None:
    from anabranch import CorpusNotFoundError, HybridRetriever, search

    for call in (HybridRetriever(k=3).invoke, search):
        with pytest.raises(CorpusNotFoundError):
            call("Who built the weir?")


def test_a_retriever_with_an_argument_of_another_kind_is_refused() -> None:
    from anabranch import HybridRetriever, SettingsError

    with pytest.raises(SettingsError, match=r"^The argument 'settings' cannot be"):
        HybridRetriever(settings="x")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=r"^The argument 'retrievers' cannot be \['bm25'\]: input should be"):
        HybridRetriever(settings={"corpus": "x"}, retrievers=["bm25"])  # type: ignore[arg-type]


def test_filters_of_another_kind_are_refused_alike_by_a_search_and_an_answer(tmp_path: Path) -> None:
    from anabranch import SettingsError, answer, ingest, search

    (tmp_path / "a.md").write_text("The mill stands.")
    ingest(tmp_path / "a.md", tmp_path / "corpus")
    for ask in (search, answer):
        with pytest.raises(SettingsError, match=r"filter part \['a.md'\] is not an object"):
            ask("Where is the mill?", corpus=tmp_path / "corpus", filters=["a.md"])  # type: ignore[arg-type]


def test_a_search_is_narrowed_by_filters(tmp_path: Path) -> None:
    from anabranch import ingest, search

    for name in ("weir", "mill"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} on the Halden was built by Ida Marrow.\n")
    ingest([tmp_path / "weir.md", tmp_path / "mill.md"], tmp_path / "corpus")
    found = search("Ida Marrow", corpus=tmp_path / "corpus", filters={"title": "mill"})
    assert {document.metadata["title"] for document in found} == {"mill"}
