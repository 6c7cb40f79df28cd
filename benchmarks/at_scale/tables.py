"""The figures as tables of one page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.at_scale.figures import Figures, Kept
from benchmarks.at_scale.systems import NAMES
from benchmarks.report import Table, ms

Row = tuple[str, ...]
NOTHING = "-"


def tables(kept: Kept, machine: dict[str, str]) -> list[Table]:
    """Return all tables."""
    figures = list(kept)
    return [
        Table("scale-machine", "Measured on", ("what", "value"), tuple(machine.items())),
        Table("scale-corpora", "Corpora", CORPORA, tuple(_corpora(kept))),
        Table("scale-build", "Building, and adding one document", BUILD, tuple(map(_build, figures))),
        Table("scale-open", "Opening, and memory", OPEN, tuple(map(_open, figures))),
        Table("scale-search", "Searching", SEARCH, tuple(row for each in figures for row in _searches(each))),
        Table("scale-filter", "With a filter", FILTER, tuple(row for each in figures for row in _filters(each))),
        Table("scale-agree", "BM25 scores beside rank_bm25", AGREE, tuple(_agreement(figures))),
        Table("scale-not-run", "Not run", NOT_RUN, tuple(row for each in figures for row in _failures(each))),
    ]  # fmt: skip


def versions(kept: Kept) -> dict[str, str]:
    """Return the versions of every system's packages, those of peers from their own environment."""
    found: dict[str, str] = {}
    for figures in kept:
        for package, version in figures.facts.get("versions", {}).items():
            known = found.get(package, version)
            found[package] = known if version in known.split(", ") else f"{known}, {version}"
    return found


CORPORA = (
    "passages", "documents", "of sentences", "MB of text", "words", "distinct", "made vector to real", "s to generate",
)  # fmt: skip


def _corpora(kept: Kept) -> Iterator[Row]:
    for _, facts in sorted(kept.corpora.items()):
        counts = [f"{facts[name]:,}" for name in ("passages", "documents", "sentences")]
        words = [f"{facts[name]:,}" for name in ("tokens", "words")]
        yield (
            *counts, f"{facts['characters'] / 1e6:.1f}", *words,
            _of(facts, "made_cosine", ".2f"), _of(facts, "seconds", ".0f"),
        )  # fmt: skip


BUILD = (
    "passages", "system", "load", "build, s", "build, CPU-s", "passages/CPU-s", "peak MB", "disk MB",
    "add one, s", "and saved, s", "and saved, CPU-s",
)  # fmt: skip


def _build(figures: Figures) -> Row:
    facts = figures.facts
    speed = f"{figures.size / facts['build_cpu']:,.0f}" if "build_cpu" in facts else NOTHING
    seconds = (_of(facts, "build", ".1f"), _of(facts, "build_cpu", ".1f"), speed)
    sizes = (_of(facts, "build_peak", ",.0f"), _of(facts, "disk", ",.0f"))
    add = (_of(facts.get("add", {}), name, ".2f") for name in ("found", "saved", "cpu"))
    return (*_who(figures), f"{figures.load:.1f}", *seconds, *sizes, *add)


OPEN = (
    "passages", "system", "imports, s", "open, s", "first answer, s", "CPU-s", "private MB", "mapped MB", "peak MB",
)  # fmt: skip


def _open(figures: Figures) -> Row:
    facts = figures.facts
    after = facts.get("after_all", facts.get("after_search", facts.get("after_open", {})))
    seconds = (_of(facts, name, ".2f") for name in ("imports", "opened", "answered", "answered_cpu"))
    grown = {name: after[name] - facts["before"].get(name, 0.0) for name in after}
    sizes = (_of(grown, "private", "+,.0f"), _of(grown, "mapped", "+,.0f"), _of(after, "peak", ",.0f"))
    return (*_who(figures), *seconds, *sizes)


SEARCH = ("passages", "system", "arm", "p50, ms", "p95, ms", "CPU-ms", "questions", "recall@10")


def _searches(figures: Figures) -> Iterator[Row]:
    for each in figures.searches:
        recall = _of(figures.facts, "recall", ".3f") if each["arm"] == "dense" else NOTHING
        times = (_ms(each, name) for name in ("p50", "p95", "cpu"))
        yield (*_who(figures), each["arm"], *times, str(each["asked"]), recall)


FILTER = (
    "passages", "system", "passes", "that is", "arm", "first, ms", "p50, ms", "p95, ms", "CPU-ms", "of 10", "others",
    "recall@10",
)  # fmt: skip


def _filters(figures: Figures) -> Iterator[Row]:
    for each in figures.filtered:
        share = _percent(each["share"])
        if "refused" in each:
            yield (*_who(figures), share, NOTHING, each["arm"], *[NOTHING] * 7)
            continue
        times = (_ms(each, name) for name in ("first", "p50", "p95", "cpu"))
        counts = (_of(each, "back", ".1f"), _of(each, "foreign", ".1f"), _of(each, "recall", ".3f"))
        yield (*_who(figures), share, _of(each, "allowed", ",d"), each["arm"], *times, *counts)


AGREE = ("passages", "scores compared", "largest difference")


def _agreement(figures: list[Figures]) -> Iterator[Row]:
    for each in figures:
        if "agreement" in each.facts:
            found = each.facts["agreement"]
            yield (f"{each.size:,}", f"{found['scores']:,}", f"{found['difference']:.1e}")


NOT_RUN = ("passages", "system", "what", "why")


def _failures(figures: Figures) -> Iterator[Row]:
    for phase, reason in figures.failed.items():
        yield (*_who(figures), phase, " ".join(reason.split()).replace("|", "/"))
    for each in figures.filtered:
        if "refused" in each:
            yield (
                *_who(figures),
                f"{each['arm']}, filter of {_percent(each['share'])}",
                each["refused"].replace("|", "/"),
            )


def _who(figures: Figures) -> tuple[str, str]:
    return f"{figures.size:,}", NAMES[figures.system]


def _percent(share: float) -> str:
    return f"{share * 100:.4g} %"


def _of(facts: dict[str, Any], name: str, form: str) -> str:
    return format(facts[name], form) if name in facts else NOTHING


def _ms(facts: dict[str, Any], name: str) -> str:
    return ms(facts[name] / 1000) if name in facts else NOTHING
