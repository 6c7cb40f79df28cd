from __future__ import annotations

from anabranch.cli.eval_settings import context_of, settings_of
from anabranch.evaluation.score_tables import usual_table


def test_the_usual_table_is_valid_and_compares_with_the_default() -> None:
    table = usual_table("mine")
    assert table.baseline in table.configurations
    assert table.collections == ("mine",)
    settings = settings_of(table, {}, reproducible=False, where="usual")
    assert context_of(settings["bm25"], "c").retrievers == ("bm25",)
    assert context_of(settings["rrf"], "c").strategy == "none"
