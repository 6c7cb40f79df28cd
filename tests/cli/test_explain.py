from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from anabranch.cli.explain import print_explanation
from anabranch.readers.document import Chunk


def chunk(identity: str, text: str, page: int | None = 3) -> Chunk:
    return Chunk(
        chunk_id=identity, doc_id="d", doc_key="d", source="folder/report.pdf", title="Report", heading="", page=page,
        page_end=page, level=2, parent_id=None, start=0, end=len(text), text=text, tokens=1,
    )  # fmt: skip


def state(**changes: Any) -> dict[str, Any]:
    citation = {
        "marker": 1,
        "claim": "It rose.",
        "quote": "rose by 4 %",
        "grade": "found",
        "judged": "",
        "chunk_id": "p",
    }
    return {
        "queries": [{"text": "what rose [bold]?", "weight": 1.0, "kind": "asked"}],
        "candidates": [
            {"id": "b", "score": 9.0, "ranks": {"bm25": 2}, "fused": 2},
            {"id": "a", "score": 7.5, "ranks": {"bm25": 1, "dense": 1}, "fused": 1},
            {"id": "c", "score": 1.0, "ranks": {"dense": 9}, "fused": 3},
        ],
        "passages": [{"id": "p", "leaves": ["a", "b"], "score": 9.0, "source": "x", "page": 3, "preview": ""}],
        "windows": [[{"number": n, "id": "p", "start": 0, "end": 9}] for n in (1, 2)],
        "evidence": {"verdict": "thin", "reasons": ["few words"], "missing": "profit"},
        "route": {"name": "refine", "reasons": ["2 windows", "focused"]},
        "round": 2,
        "citations": [{**citation, "source": "folder/report.pdf", "page": 3, "heading": "Sales"}],
        "unconfirmed": [{"text": "It fell.", "reason": "", "nearest": "It rose."}],
        "degraded": [{"step": "rerank", "reason": "the server is down"}],
        "trace": [
            {"node": "begin", "round": 1, "ms": 1.4, "calls": 0, "prompt_tokens": 0, "output_tokens": 0, "counts": {}},
            {"node": "create", "round": 2, "ms": 900, "calls": 1, "prompt_tokens": 700, "output_tokens": 50,
             "counts": {"by": "model", "lists": [50, 49], "dropped": [{"id": "z"}]}},
        ],
        **changes,
    }  # fmt: skip


def screen(values: dict[str, Any], chunks: dict[str, Chunk]) -> str:
    console = Console(file=StringIO(), width=100)
    print_explanation(console, values, chunks)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def line_with(text: str, part: str) -> str:
    return next(line for line in text.splitlines() if part in line)


def test_each_candidate_is_followed_from_its_ranks_to_its_window() -> None:
    text = screen(state(), {"a": chunk("a", "alpha text"), "b": chunk("b", "beta text")})
    assert line_with(text, "alpha").split()[:6] == ["1", "1", "1", "2", "7.500", "2"]
    assert line_with(text, "beta").split()[:5] == ["2", "-", "2", "1", "9.000"]
    assert line_with(text, "beta").split()[5:10] == ["2", "in", "1", "1", "2"]
    assert line_with(text, "beta").split()[10:14] == ["[1]", "report.pdf", "p.", "3"]
    assert "left out" in line_with(text, "removed")


def test_without_a_reranker_there_is_no_column_for_it() -> None:
    kept = [{"id": "a", "score": 1.0, "ranks": {"bm25": 1}, "fused": 1}]
    text = screen(state(candidates=kept), {"a": chunk("a", "alpha")})
    assert "rerank" not in line_with(text, "fused")


def test_what_repeats_a_better_passage_is_named() -> None:
    kept = [{"id": "a", "score": 1.0, "ranks": {"bm25": 1}, "fused": 1}]
    kept.append({"id": "d", "score": 0.5, "ranks": {"bm25": 3}, "fused": 3})
    cost = {"round": 1, "ms": 1.0, "calls": 0, "prompt_tokens": 0, "output_tokens": 0}
    trace = [
        {"node": "rerank", **cost, "counts": {"duplicates": [{"id": "b", "of": "a"}]}},
        {
            "node": "pack",
            **cost,
            "counts": {"dropped": [{"id": "c", "why": "duplicate_of a"}, {"id": "e", "why": "x"}]},
        },
    ]
    chunks = {name: chunk(name, name, page) for name, page in (("a", 1), ("b", 2), ("c", 3), ("d", 4))}
    text = screen(state(candidates=kept, trace=trace), chunks)
    assert "report.pdf p. 2 repeats report.pdf p. 1; report.pdf p. 3 repeats" in line_with(text, "p. 2")
    assert line_with(text, "p. 2").split()[:3] == ["left", "out", "2"]
    # A rank that is left out is no order of a reranker.
    assert "rerank " not in line_with(text, "fused")


def test_decisions_claims_and_costs() -> None:
    text = screen(state(), {})
    assert line_with(text, "thin (round 2)").rstrip().endswith("few words; missing: profit")
    assert "2 windows; focused" in line_with(text, "refine")
    assert "the server is down" in line_with(text, "degraded")
    assert "“rose by 4 %”" in text
    assert "(found)" in text
    assert "not confirmed; It rose." in line_with(text, "It fell.")
    assert line_with(text, "create").split() == [
        "create",
        "900",
        "1",
        "700",
        "50",
        "by=model",
        "lists=50+49",
        "dropped=1",
    ]
    assert line_with(text, "round trips").split()[:5] == ["all", "901", "1", "700", "50"]


def test_what_a_judge_said_of_a_claim_is_beside_its_grade() -> None:
    (citation,) = state()["citations"]
    text = screen(state(citations=[{**citation, "judged": "entailed"}]), {})
    assert "(found, entailed by the judge)" in " ".join(text.split())


def test_brackets_in_documents_are_no_markup_and_escapes_are_gone() -> None:
    text = screen(state(), {"a": chunk("a", "[red]x[/red] \x1b[31mboo")})
    assert "what rose [bold]?" in text
    assert "[red]x" in text
    assert "\x1b" not in text


def test_many_candidates_do_not_fill_the_screen() -> None:
    many = [{"id": str(i), "score": 1.0, "ranks": {"bm25": i}, "fused": i} for i in range(1, 101)]
    text = screen(state(candidates=many), {})
    assert "and 85 more" in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_turn_that_ended_early_has_a_screen_too() -> None:
    empty: dict[str, Any] = {key: [] for key in ("candidates", "passages", "windows", "citations", "unconfirmed")}
    evidence = {"verdict": "nothing", "reasons": ["no passage was found"], "missing": ""}
    empty = state(**empty, degraded=[], route={"name": "", "reasons": []}, evidence=evidence)
    text = screen(empty, {})
    assert "no passage was found" in text
    assert "Claims" not in text


def test_a_chain_is_a_table_and_its_places_are_not_a_rerankers() -> None:
    link = {"hop": 1, "asked": "Who led it?", "value": "Ida Berg", "chunk_id": "p", "query": "Where did Ida Berg work?"}
    text = screen(state(chain={"links": [link], "ended": ""}), {})
    assert line_with(text, "Ida Berg [1]").split()[:3] == ["1", "Who", "led"]
    assert "joined" in line_with(text, "fused")
    assert "rerank" not in line_with(text, "fused")
