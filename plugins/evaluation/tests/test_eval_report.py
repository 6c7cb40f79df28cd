from __future__ import annotations

import re

from markdown_it import MarkdownIt

from anabranch_evaluation.eval_report import markdown_of
from plugins.evaluation.tests.reports import report


def test_the_whole_report_is_there() -> None:
    text = markdown_of(report(), "anabranch eval t.yaml")
    for line in (
        "# Trial \\| of two",
        "Written by `anabranch eval t.yaml`; do not edit.",
        "What it is about.",
        "| here | 0.631 | **1.000** |",
        "| there | **1.000** | 0.631 |",
        "| mean | **0.815** | **0.815** |",
        "## here",
        "| here | new | +0.369 | 4 | 0 | 0 | 0.1250 |",
        "| here | new | RR@10 | 1.000 | 0.500 | 0.005 | drift |",
        "| nowhere | new | RR@10 |  | 0.500 | 0.005 | not here |",
        "| there | new | old | old | -0.369 | +0.500 | missed |",
        "1,234 documents, 4 queries, embedder made:up.",
        "| new | 1.000 | 1.000 | 1.000 to 1.000 |",
        "- here: one \\| thing.",
        "Not here: nowhere.",
        '| new | fusion="rrf" |',
    ):
        assert line in text.splitlines()


def test_every_table_is_one_and_rows_are_as_wide_as_their_heads() -> None:
    text = markdown_of(report(), "x")
    html = MarkdownIt().enable("table").render(text)
    assert html.count("<table>") == 7
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        head = table.count("<th>")
        assert all(row.count("<td>") == head for row in re.findall(r"<tr>\s*<td>.*?</tr>", table, flags=re.DOTALL))


def test_the_same_scores_give_the_same_text() -> None:
    assert markdown_of(report(), "x") == markdown_of(report(), "x")
