from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing.query_list import MAX_QUERY, parse_queries

ORIGINAL = "What did Lyft earn in 2021?"
THREE = ["Lyft revenue 2021", "How much money did Lyft make?", "Lyft annual report: total revenue"]

REPLIES = {
    "plain lines": "\n".join(THREE),
    "blank lines": "\n\n".join(THREE) + "\n\n",
    "windows": "\r\n".join(THREE),
    "numbered": "\n".join(f"{place}. {query}" for place, query in enumerate(THREE, 1)),
    "parentheses": "\n".join(f"{place}) {query}" for place, query in enumerate(THREE, 1)),
    "brackets": "\n".join(f"[{place}] {query}" for place, query in enumerate(THREE, 1)),
    "letters": "\n".join(f"{letter}) {query}" for letter, query in zip("abc", THREE, strict=True)),
    "bullets": "\n".join(f"- {query}" for query in THREE),
    "stars": "\n".join(f"* **{query}**" for query in THREE),
    "dots": "\n".join(f"• {query}" for query in THREE),
    "bulleted numbers": "\n".join(f"- {place}. {query}" for place, query in enumerate(THREE, 1)),
    "quoted": "\n".join(f'"{query}"' for query in THREE),
    "curly quotes": "\n".join(f"{place}. “{query}”" for place, query in enumerate(THREE, 1)),
    "quoted with commas": ",\n".join(f'"{query}"' for query in THREE),
    "labels": "\n".join(f"Query {place}: {query}" for place, query in enumerate(THREE, 1)),
    "bold labels": "\n".join(f"{place}. **Query:** {query}" for place, query in enumerate(THREE, 1)),
    "one line": " ".join(f"{place}. {query}" for place, query in enumerate(THREE, 1)),
    "preamble": "Here are 3 search queries:\n" + "\n".join(f"{place}. {query}" for place, query in enumerate(THREE, 1)),
    "short preamble": "Sure! Here are 3:\n" + "\n".join(THREE),
    "preamble without a colon": "Certainly, these come to mind.\n\n" + "\n".join(THREE),
    "postamble": "\n".join(f"- {query}" for query in THREE) + "\n\nLet me know if you need more!",
    "a note": "\n".join(THREE) + "\n\nNote: the report of 2022 may help too.",
    "postamble after plain lines": "\n".join(THREE) + "\n\nI hope this helps.",
    "json": '["Lyft revenue 2021", "How much money did Lyft make?", "Lyft annual report: total revenue"]',
    "json object": '{"queries": ["Lyft revenue 2021", "How much money did Lyft make?", '
    '"Lyft annual report: total revenue"]}',
    "json objects": '[{"query": "Lyft revenue 2021"}, {"query": "How much money did Lyft make?"}, '
    '{"query": "Lyft annual report: total revenue", "why": "the report has it"}]',
    "json by number": '{"1": "Lyft revenue 2021", "2": "How much money did Lyft make?", '
    '"3": "Lyft annual report: total revenue"}',
    "json by name": '{"query_1": "Lyft revenue 2021", "query_2": "How much money did Lyft make?", '
    '"query_3": "Lyft annual report: total revenue"}',
    "fenced": "```\n" + "\n".join(THREE) + "\n```",
    "fenced json": 'Here you go:\n```json\n{"queries": ["Lyft revenue 2021", "How much money did Lyft make?", '
    '"Lyft annual report: total revenue"]}\n```\nLet me know!',
    "python": "['Lyft revenue 2021', 'How much money did Lyft make?', 'Lyft annual report: total revenue',]",
    "json after a label": 'Queries: ["Lyft revenue 2021", "How much money did Lyft make?", '
    '"Lyft annual report: total revenue"]',
    "cut off after the third": '["Lyft revenue 2021", "How much money did Lyft make?", '
    '"Lyft annual report: total revenue", "Lyft gro',
    "thinking": "<think>\n1. earnings, or revenue?\n</think>\n" + "\n".join(f"- {query}" for query in THREE),
    "channels": "<|channel|>analysis<|message|>earnings, or revenue?<|end|><|channel|>final<|message|>"
    + "\n".join(THREE),
    "end of turn": "\n".join(THREE) + "</s>\n<|im_end|>",
    "old line ends": "\r".join(THREE),
    "separators": "\u2028".join(THREE),
    "loose commas": " ,\n".join(f'"{query}"' for query in THREE) + " ;",
    "circled": "\n".join(f"{chr(0x2460 + place)} {query}" for place, query in enumerate(THREE)),
    "east": "\n".join(f"{place}、{query}" for place, query in enumerate(THREE, 1)),
    "wide": "\n".join(f"{place}．{query}" for place, query in enumerate(THREE, 1)),
    "hashes": "\n".join(f"#{place} {query}" for place, query in enumerate(THREE, 1)),
    "corner brackets": "\n".join(f"「{query}」" for query in THREE),
    "headings": "\n".join(f"### Query {place}\n{query}\n" for place, query in enumerate(THREE, 1)),
    "sub-questions": "\n".join(f"Sub-question {place}: {query}" for place, query in enumerate(THREE, 1)),
    "explained below": "\n".join(f"{place}. {query}\n   - other words" for place, query in enumerate(THREE, 1)),
    "explained behind": "\n".join(f'- "{query}" - other words' for query in THREE),
    "table": "| # | Query |\n|---|---|\n" + "\n".join(f"| {n} | {query} |" for n, query in enumerate(THREE, 1)),
    "tags": "<queries>\n" + "\n".join(f"<query>{query}</query>" for query in THREE) + "\n</queries>",
    "json lines": "\n".join(f'{{"query": "{query}"}}' for query in THREE),
    "json with reasons": '{"reasoning": ["earnings mean revenue"], "original_question": "Lyft?", "search_queries": '
    '["Lyft revenue 2021", "How much money did Lyft make?", "Lyft annual report: total revenue"]}',
    "json in layers": '{"result": {"queries": [{"text": "Lyft revenue 2021"}, '
    '{"text": "How much money did Lyft make?"}, {"text": "Lyft annual report: total revenue"}]}}',
    "json on many lines": '{\n  "queries": [\n    "Lyft revenue 2021",\n    "How much money did Lyft make?",\n'
    '    "Lyft annual report: total revenue"\n  ]\n}',
    "preamble in German": "Hier sind drei Suchanfragen:\n" + "\n".join(THREE),
    "preamble in Chinese": "以下是三个查询：\n" + "\n".join(THREE),
    "repeated": "\n".join([THREE[0], THREE[0].upper() + "!", *THREE[1:], THREE[1]]),
    "with the original": "\n".join(["what did lyft earn in 2021", *THREE]),
}


@pytest.mark.parametrize("form", REPLIES)
def test_every_form_of_list_gives_its_queries(form: str):
    # LlamaIndex and LangChain take the preamble for a query, keep the numbering and drop the last one
    assert parse_queries(REPLIES[form], limit=3, original=ORIGINAL) == THREE


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n\t",
        "```\n```",
        "[]",
        "{}",
        "Here are the queries:",
        "---",
        "1.\n2.",
        "\x00",
        "None",
        "N/A",
        "null",
        "No further queries are needed.",
        "<queries></queries>",
        "| Query |\n|---|",
        "<think>What else could it be called?",
    ],
)
def test_nothing_to_read_gives_no_query(reply: str):
    assert parse_queries(reply, limit=5, original=ORIGINAL) == []


def test_a_refusal_is_no_query():
    assert parse_queries("I'm sorry, I cannot help with that.", limit=5, original=ORIGINAL) == []


@pytest.mark.parametrize(
    "query",
    [
        "2001: A Space Odyssey plot",
        "5G networks",
        "1.5 GB memory limit",
        "What does [2020] mean in a[1] lists?",
        "C++ vs C#",
        "東京の人口",
        "what is {x}?",
        "how does vector<int> grow",
        "what does <div> close",
        '"weir" - meaning and origin (Old English)',
        "document retention policy",
        "surety bonds of 1848",
        "passage of the bill in 1848",
        "note taking apps | note-taking",
    ],
)
def test_what_only_looks_like_numbering_or_json_stays(query: str):
    assert parse_queries(query, limit=1, original=ORIGINAL) == [query]


def test_a_long_original_never_comes_back_cut():
    original = "How high did the water stand in the year of the flood, " * 40
    assert parse_queries(f"{original}\n1. {original}", limit=3, original=original) == []


def test_the_limit_holds():
    assert parse_queries(REPLIES["numbered"], limit=2, original=ORIGINAL) == THREE[:2]
    assert parse_queries(REPLIES["numbered"], limit=0, original=ORIGINAL) == []
    assert parse_queries(REPLIES["numbered"], limit=-1, original=ORIGINAL) == []


def test_a_long_line_is_cut_at_a_word():
    (query,) = parse_queries("word " * 1000, limit=3, original=ORIGINAL)
    assert len(query) <= MAX_QUERY
    assert query.endswith("word")


@pytest.mark.parametrize(
    "reply",
    [
        "\n".join(f"{place}. query number {place}" for place in range(500)),
        "1. x " * 25_000,
        "[" * 100_000,
        '{"a":' * 20_000,
        '["' * 50_000,
        "<think>" * 15_000,
        "- \n" * 30_000,
        " " * 100_000 + "x",
        ": [" * 30_000,
        '{"a": 1}\n' * 10_000,
        "{[]}\n" * 20_000,
        "<|message|>" * 9_000,
        "| a " * 25_000,
        "|---|\n" * 16_000,
        "1 . ) " * 16_000,
        " " * 400 + "1" * 99_000,
        '"' + "a - (" * 20_000,
    ],
    ids=lambda reply: repr(reply[:12]),
)
def test_work_is_bounded(reply: str):
    started = time.process_time()
    queries = parse_queries(reply, limit=4, original=ORIGINAL)
    assert time.process_time() - started < 1.0
    assert len(queries) <= 4


@pytest.mark.parametrize(
    ("reply", "queries"),
    [
        ("١. سكان باريس\n٢. مساحة باريس", ["سكان باريس", "مساحة باريس"]),
        ("1. население Парижа\n2. площадь Парижа", ["население Парижа", "площадь Парижа"]),
        ('["パリの人口", "パリの面積"]', ["パリの人口", "パリの面積"]),
        ('["\\u6771\\u4eac"]', ["東京"]),
    ],
)
def test_any_language_is_read(reply: str, queries: list[str]):
    assert parse_queries(reply, limit=3, original=ORIGINAL) == queries


@pytest.mark.parametrize(
    "reply",
    ['{"passage": "The weir was built in 1848."}', '{"document": "The weir was built in 1848."}',
     "Passage: The weir was built in 1848.", "Here is one:\n\n> The weir was built in 1848."],
)  # fmt: skip
def test_a_passage_is_read_like_a_query(reply: str):
    assert parse_queries(reply, limit=1, original=ORIGINAL) == ["The weir was built in 1848."]


@given(
    original=st.text(max_size=60),
    case=st.sampled_from([str, str.upper, str.title]),
    form=st.sampled_from(["{}", "1. {}", "- {}", '"{}"', "Query: {}", "{}\n{}", "**{}**", "{}?"]),
)
def test_the_original_never_comes_back(original: str, case: Callable[[str], str], form: str):
    reply = form.replace("{}", case(original))
    assert _same(original) not in map(_same, parse_queries(reply, limit=4, original=original))


def _same(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


@given(
    st.one_of(
        st.text(max_size=300),
        st.lists(
            st.sampled_from(['"', "[", "]", "{", "}", ":", "1.", "- ", "\n", "a b", "```", "\\"]), max_size=40
        ).map("".join),
    )
)
def test_any_text_gives_clean_distinct_queries(reply: str):
    queries = parse_queries(reply, limit=4, original=ORIGINAL)
    assert len(queries) == len({query.casefold() for query in queries}) <= 4
    for query in queries:
        assert query == query.strip()
        assert 0 < len(query) <= MAX_QUERY
        assert "\n" not in query
        assert any(char.isalnum() for char in query)
