"""What the graph made of the replies, as a table of counts, all models together and one by one."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report import Table
from evals.real.shown_reply import ShownReply

COLUMNS = ("reply", "model", "replies", "shown", "unmarked", "not found")
ROWS = {
    "right": "right",
    "wrong": "wrong",
    "beside": "beside the question",
    "unanswerable": "an answer to what is not answered",
    "refusal": "a refusal",
}
ALL = "both"


def table(found: Sequence[ShownReply]) -> Table:
    """Return the table: of the right replies all should be shown and few marked, of the others few unmarked."""
    models = list(dict.fromkeys(each.reply.model for each in found))
    rows = [
        _row(name, model, [each for each in found if each.reply.kind == kind and model in (ALL, each.reply.model)])
        for kind, name in ROWS.items()
        for model in (ALL, *models)
    ]
    return Table("real", "Replies of real models", COLUMNS, tuple(rows))


def _row(name: str, model: str, own: Sequence[ShownReply]) -> tuple[str, ...]:
    counts = (
        len(own),
        sum(each.is_shown for each in own),
        sum(each.is_unmarked for each in own),
        sum(each.status == "not_found" for each in own),
    )
    return (name, model, *map(str, counts))
