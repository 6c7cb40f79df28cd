"""What a document, a model or a caller may have written is read in linear time, whatever it repeats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from anabranch.citations import (
    answer_sources,
    deep_links,
    quantities,
    quote_matching,
    unconfirmed_claims,
)
from anabranch.citations.claims import claims, markers
from anabranch.citations.hit_rows import NumberedPassage, collect_rows, fold_name
from anabranch.citations.markers import mark
from anabranch.citations.read_passages import PassageText, read
from anabranch.citations.shared_words import SharedWords
from anabranch.citations.time_limit import TimeLimit
from anabranch.citations.verification import attribute
from anabranch.errors import AnabranchError
from anabranch.extracts import (
    best_passages,
    composition,
    nearest_passages,
    passage_answer,
    passage_layout,
    row_answer,
    shell_commands,
    whole_documents,
)
from anabranch.parsing import json_repair, numbered_lines, relevance_scores, revision, yes_or_no
from anabranch.parsing.answer_reply import read_answer
from anabranch.parsing.answer_stream import AnswerStream
from anabranch.parsing.evidence_verdict import parse_verdict
from anabranch.parsing.query_list import parse_queries, select_queries
from anabranch.parsing.query_plan import parse_plan
from anabranch.parsing.reasoning_blocks import ThinkingFilter, drop_thinking
from anabranch.parsing.refusal import is_refusal
from anabranch.parsing.row_list import ListedHit, is_row_list, read_rows
from anabranch.readers.document import Chunk
from anabranch.retrieval.found_value import find_value
from anabranch.safety import key_redaction, link_removal, prompt_envelope, prompt_leak, prompt_template
from anabranch.store.protocol import Place, Scope
from anabranch.text import (
    amounts,
    analyzer,
    function_words,
    line_starts,
    normalization,
    phrases,
    scripts,
    sentences,
)
from anabranch.text.language import language_of
from tests.text.repeated_atoms import ATOMS, patterns, public_functions, slow

PACKAGES = ("anabranch.text", "anabranch.citations", "anabranch.extracts", "anabranch.safety", "anabranch.parsing")

INSTRUCTIONS = ["Answer from the passages alone. The code K3-7742 is a secret."]
PHRASES = phrases.phrases_for("Who?", "english")
STATED = "Ida lives in Bonn. Anna has 12 cats and no dog."


def _passage(text: str) -> dict[int, PassageText]:
    return {1: PassageText("a", text, text[:200])}


def _leaf(text: str) -> Chunk:
    return Chunk("c", "d", "d", "a.md", text[:80], text[:200], None, None, 2, None, 0, len(text), text, 1)


def _read_leaf(text: str) -> Callable[[Sequence[str]], Awaitable[dict[str, Chunk]]]:
    async def read(ids: Sequence[str]) -> dict[str, Chunk]:
        return {leaf: _leaf(text) for leaf in ids}

    return read


class _Analysing:
    """All that a list of documents takes of a corpus."""

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        return [analyzer.analyser().terms(text) for text in texts]


def _shown(text: str) -> best_passages.ShownPassage:
    """A passage as long as the text, where a real one is bounded; all of it is what fits best."""
    leaves = (best_passages.ChunkSpan(_leaf(text), 0, len(text)),)
    return best_passages.ShownPassage(1, leaves, text, (0, len(text)))


def _fed(stream: Any, text: str) -> None:  # whatever has `feed`
    for start in range(0, len(text), 16):
        stream.feed(text[start : start + 16])


class _Corpus:
    """What the steps ask of a corpus beside its passages."""

    async def analyse(self, texts: Sequence[str]) -> list[list[str]]:
        return [text.split() for text in texts]

    async def places(self, spots: Sequence[object], _scope: object) -> list[Place]:
        return [Place(None, "") for _ in spots]


def _near(text: str) -> object:
    corpus: Any = _Corpus()
    return asyncio.run(nearest_passages.find_nearest(corpus, [_leaf(text)], text, text, text))


def _composed(text: str) -> object:
    corpus: Any = _Corpus()
    best = composition.mark_best([_shown(text)], text, {"a": 1.0}, corpus, by_meaning=False)
    passages = asyncio.run(best)
    return asyncio.run(composition.write_passages(passages, text, corpus, Scope(), is_weak=True, silence=""))


def _citations(text: str) -> list[Any]:
    place = {"source": text, "title": text, "heading": text, "page": 1, "link": ""}
    return [{**place, "marker": number, "quote": text} for number in range(1, 20)]


def _checked_prompt(text: str) -> None:
    with suppress(AnabranchError):
        prompt_template.checked_prompt("create", text)


TRIED: dict[str, Callable[[str], object]] = {
    "amounts.without_amounts": amounts.without_amounts,
    "analyzer.analyser": lambda text: [analyzer.analyser(each).terms(text) for each in ("english", "german")],
    "function_words.fold_word": function_words.fold_word,
    "language.language_of": language_of,
    "line_starts.line_kind": line_starts.line_kind,
    "line_starts.entry_kinds": lambda text: line_starts.entry_kinds([text, text]),
    "normalization.clean": normalization.clean,
    "normalization.clean_counted": normalization.clean_counted,
    "normalization.squeeze": normalization.squeeze,
    "normalization.storable": normalization.storable,
    "normalization.visible": normalization.visible,
    "phrases.greeting_reply": phrases.greeting_reply,
    "phrases.phrases_for": phrases.phrases_for,
    "phrases.without_courtesy": phrases.without_courtesy,
    "scripts.letters_by_script": scripts.letters_by_script,
    "scripts.main_script": scripts.main_script,
    "sentences.running_spans": sentences.running_spans,
    "sentences.spans": sentences.spans,
    "claims.claims": lambda text: claims(text, text),
    "claims.markers": markers,
    "markers.mark": lambda text: mark(text, [(claim, [1, 2]) for claim in claims(text)]),
    "deep_links.link_to": lambda text: deep_links.link_to("a.md", page=None, quote=text, start=0, end=len(text)),
    "answer_sources.with_sources": lambda text: answer_sources.with_sources(text, _citations(text)),
    "answer_sources.locate_markers": lambda text: list(answer_sources.locate_markers(text, _citations("a"))),
    "answer_sources.by_marker": lambda text: answer_sources.by_marker(_citations(text)),
    "answer_sources.title_of": lambda text: answer_sources.title_of(_citations(text)[0]),
    "composition.mark_best": _composed,
    "composition.write_passages": _composed,
    "nearest_passages.find_nearest": _near,
    "quantities.figures": quantities.figures,
    "quote_matching.fold": quote_matching.fold,
    "quote_matching.find_quote": lambda text: quote_matching.find_quote(text[:3000] + "x", quote_matching.fold(text)),
    "quote_matching.locate": lambda text: quote_matching.locate(text[:3000], quote_matching.fold(text)),
    # With all that it calls: an answer against another passage, another answer against it, and against itself.
    "verification.attribute": lambda text: attribute(text, _passage(STATED), "Where does Ida live?").set_markers(),
    "verification.attribute, a passage": lambda text: attribute(STATED, _passage(text), "Where is Ida?").set_markers(),
    "verification.attribute, itself": lambda text: attribute(
        text, _passage(text), "Where does Ida live?"
    ).set_markers(),
    "verification.attribute, a question": lambda text: attribute(text[:300], _passage(text), text).set_markers(),
    "verification.verify": lambda text: attribute(text, _passage(text), text).set_markers(),
    "unconfirmed_claims.unconfirmed_lines": lambda text: unconfirmed_claims.unconfirmed_lines(
        "answered", [{"text": text, "reason": text, "nearest": text}]
    ),
    "read_passages.read": lambda text: read(_passage(text).values(), TimeLimit(60)),
    "shared_words.SharedWords": lambda text: SharedWords(_passage(text), text).find_nearest(text),
    "best_passages.best_passages": lambda text: best_passages.best_passages([_leaf(text)]),
    "best_passages.lines_of": lambda text: best_passages.lines_of(_leaf(text)),
    "best_passages.shared_weight": lambda text: best_passages.shared_weight({"a": 1.0}, text.split()),
    "passage_answer.passage_markdown": lambda text: passage_answer.passage_markdown(_shown(text)),
    "passage_answer.place_line": lambda text: passage_answer.place_line(text, 1, text),
    "passage_answer.round_references": passage_answer.round_references,
    "passage_answer.write_answer": lambda text: passage_answer.write_answer(text, [(text, _shown(text))]),
    "passage_layout.blocks_of": passage_layout.blocks_of,
    "passage_layout.piece_spans": passage_layout.piece_spans,
    "passage_layout.trim_span": lambda text: passage_layout.trim_span(text, 0, len(text)),
    "shell_commands.command_spans": lambda text: list(shell_commands.command_spans(text, 0, len(text))),
    "shell_commands.is_code": shell_commands.is_code,
    "shell_commands.is_shell": shell_commands.is_shell,
    "key_redaction.redacted": lambda text: key_redaction.redacted(text, [text[:50]]),
    "link_removal.strip_links": link_removal.strip_links,
    "link_removal.make_plain": lambda text: link_removal.make_plain(text, len(text)),
    "link_removal.name_source": link_removal.name_source,
    "link_removal.break_live": link_removal.break_live,
    "link_removal.escape_marks": link_removal.escape_marks,
    "link_removal.LinkFilter": lambda text: _fed(link_removal.LinkFilter(), text),
    "prompt_envelope.wrap": lambda text: prompt_envelope.wrap([(1, text, text)], prompt_envelope.new_nonce()),
    "prompt_envelope.unwrap": lambda text: [
        prompt_envelope.unwrap(each) for each in (text, prompt_envelope.wrap([(1, text, text)], "0" * 16))
    ],
    "prompt_envelope.is_nonce": prompt_envelope.is_nonce,
    "prompt_envelope.with_first_lines": prompt_envelope.with_first_lines,
    "prompt_envelope.first_line": prompt_envelope.first_line,
    "prompt_leak.without_instructions": lambda text: [
        prompt_leak.without_instructions(text, [text], ["other words"]),
        prompt_leak.without_instructions(text, INSTRUCTIONS, [text]),
    ],
    "prompt_leak.find_runs": prompt_leak.find_runs,
    "prompt_leak.find_codes": prompt_leak.find_codes,
    "prompt_leak.InstructionFilter": lambda text: _fed(prompt_leak.InstructionFilter([text], ["other"]), text),
    "prompt_template.checked_prompt": _checked_prompt,
    "prompt_template.is_template": prompt_template.is_template,
    "prompt_template.filled": lambda text: prompt_template.filled("{query_str}", query_str=text),
    "prompt_template.messages": lambda text: prompt_template.messages(text, "usual", query_str=text),
    "answer_reply.read_answer": read_answer,
    "answer_stream.AnswerStream": lambda text: _fed(AnswerStream(instructions=INSTRUCTIONS, given=["other"]), text),
    "evidence_verdict.parse_verdict": parse_verdict,
    "json_repair.find_json": lambda text: [
        json_repair.find_json(text, cut_off=each) for each in ("complete", "refuse")
    ],
    "json_repair.find_object": json_repair.find_object,
    "numbered_lines.read_quotes": numbered_lines.read_quotes,
    "query_list.parse_queries": lambda text: parse_queries(text, limit=3, original=text),
    "query_plan.parse_plan": lambda text: parse_plan(text, limit=3, original=text),
    "reasoning_blocks.drop_thinking": drop_thinking,
    "reasoning_blocks.ThinkingFilter": lambda text: _fed(ThinkingFilter(), text),
    "refusal.is_refusal": is_refusal,
    "relevance_scores.document_of": relevance_scores.document_of,
    "relevance_scores.score_of": relevance_scores.score_of,
    "relevance_scores.says_none": relevance_scores.says_none,
    "relevance_scores.read_judgements": lambda text: relevance_scores.read_judgements(text, 9),
    "relevance_scores.from_table": lambda text: list(relevance_scores.from_table(text)),
    "relevance_scores.from_lines": lambda text: list(relevance_scores.from_lines(text)),
    "revision.read_revision": lambda text: revision.read_revision(text, text),
    "revision.append_text": lambda text: revision.append_text(text, text),
    "yes_or_no.yes_probability": yes_or_no.yes_probability,
    "query_list.select_queries": lambda text: select_queries([text, *text.split()[:5]], limit=3, original=text),
    "row_list.read_rows": lambda text: [*read_rows(text), *read_rows(f"{text} [1] {text}")],
    "row_list.is_row_list": is_row_list,
    "hit_rows.fold_name": fold_name,
    "hit_rows.collect_rows": lambda text: collect_rows(
        [([ListedHit(text[:300], 1, text[:1000])], [1])], {1: NumberedPassage("a", text)}
    ),
    "row_answer.write_rows": lambda text: row_answer.write_rows([], [ListedHit(text, 1, text)], PHRASES),
    "best_passages.spans_without_titles": lambda text: best_passages.spans_without_titles(text, [_leaf(text)]),
    "whole_documents.list_outline": lambda text: asyncio.run(
        whole_documents.list_outline(_read_leaf(text), {"c": "b"}, text)
    ).write(),
    "whole_documents.list_documents": lambda text: asyncio.run(
        whole_documents.list_documents(_Analysing(), [(_leaf(text), False)], {"a": 1.0}, text)  # type: ignore[arg-type]
    ).write(),
    "found_value.find_value": lambda text: [
        find_value(each, [_leaf(text)]) for each in (text[:60], text, *text.split()[:5])
    ],
}

# They take the numbers of a text; `attribute` calls them.
OF_NUMBERS = {"quantities.has"}

# They take names, numbers and settings of the program or of its operator.
NO_TEXT = {
    "check_pool.check", "check_pool.read_meanwhile", "citation_record.piece_of",
    "composition.list_excerpts", "composition.list_records", "key_redaction.keys_of", "nearest_passages.select_leaves",
    "nearest_passages.take_fitting", "plural.counted", "prompt_envelope.new_nonce",
    "refusal.source_words", "whole_documents.find_documents",
    "relevance_scores.on_ten", "relevance_scores.value_in", "scripts.script_of", "stemmer.checked_language",
    "stemmer.languages",
}  # fmt: skip
OF_THE_OPERATOR = ("jsonl_rows.", "operator.", "reach.")


def test_there_are_sixty_atoms() -> None:
    assert len(set(ATOMS)) >= 60


def test_every_public_function_is_tried() -> None:
    there = {name for name in public_functions(*PACKAGES) if not name.startswith(OF_THE_OPERATOR)}
    assert there - set(TRIED) - OF_NUMBERS - NO_TEXT == set()


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.work(60)
def test_no_function_is_slow(name: str) -> None:
    assert slow(TRIED[name]) == {}


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.work(120)
def test_no_pattern_is_slow(package: str) -> None:
    found = {name: times for name, tried in patterns(package).items() if (times := slow(tried))}
    assert found == {}
