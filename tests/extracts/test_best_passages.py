from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from anabranch.extracts.best_passages import (
    MOST_CHARS,
    MOST_SHOWN,
    ShownPassage,
    best_passages,
    lines_of,
    shared_weight,
)
from anabranch.readers.document import Chunk


def leaf(name: str, text: str, *, start: int = 0, doc: str = "d", heading: str = "", title: str = "Mill") -> Chunk:
    return Chunk(name, doc, doc, f"{doc}.md", title, heading, None, None, 2, None, start, start + len(text), text, 1)


def chain(texts: list[str], doc: str = "d") -> list[Chunk]:
    """Leaves that follow each other in one document."""
    starts = [sum(map(len, texts[:at])) for at in range(len(texts))]
    return [leaf(f"{doc}{at}", text, start=starts[at], doc=doc) for at, text in enumerate(texts)]


def shown(passages: list[ShownPassage]) -> list[tuple[int, str]]:
    return [(each.number, each.text) for each in passages]


def test_the_best_leaves_are_shown_best_first() -> None:
    leaves = [leaf(name, f"{name} says so.\n\n", doc=name) for name in "cabdef"]
    assert shown(best_passages(leaves)) == [(at, f"{name} says so.") for at, name in enumerate("cabde", 1)]


def test_a_leaf_is_shown_with_the_passage_it_was_merged_into_where_that_fits() -> None:
    head, body, tail = chain(["# Locks\n\n", "There are three.\n\n", "The lowest is at Lervik.\n\n"])
    whole = leaf("whole", head.text + body.text + tail.text)
    (passage,) = best_passages([tail, head], {head.chunk_id: whole, tail.chunk_id: whole})
    assert passage.text == "# Locks\n\nThere are three.\n\nThe lowest is at Lervik."
    assert [each.chunk.chunk_id for each in passage.spans] == ["whole"]
    long = leaf("long", whole.text + "x" * MOST_CHARS)
    assert shown(best_passages([tail], {tail.chunk_id: long})) == [(1, "The lowest is at Lervik.")]


def test_the_headings_of_the_leaves_in_a_merged_passage_are_no_pieces() -> None:
    (found,) = chain(["Pruning logs\n\nKeep seven days.\n"])
    whole, found = leaf("whole", found.text), leaf("d0", found.text, heading="Backup > Pruning logs")
    (passage,) = best_passages([found], {"d0": whole})
    assert [passage.text[start:end] for start, end in passage.pieces] == ["Keep seven days."]


def test_leaves_that_touch_are_one_passage_with_the_blanks_between_them() -> None:
    first, second, _, far = chain(["The mill.\n\n", "It turns.\n\n", "Between.\n\n", "The weir.\n\n"])
    (joined, alone) = best_passages([second, far, first])
    assert joined.text == "The mill.\n\nIt turns."
    assert [(each.chunk.chunk_id, each.start, each.end) for each in joined.spans] == [("d0", 0, 11), ("d1", 11, 20)]
    assert (alone.number, alone.text) == (2, "The weir.")


def test_where_the_best_words_begin_is_known_of_the_leaf_that_has_them() -> None:
    (joined,) = best_passages(chain(["The mill.\n\n", "It turns. It stops.\n\n"]))
    at = joined.text.index("It stops.")
    best = joined.with_best((at, at + len("It stops.")))
    assert best.best_span.chunk.chunk_id == "d1"
    assert [best.best_from(leaf.start, leaf.end) for leaf in best.spans] == [0, at]


def test_leaves_of_two_documents_never_touch() -> None:
    here, there = leaf("a", "One.", doc="x"), leaf("b", "Two.", start=4, doc="y")
    assert [text for _, text in shown(best_passages([here, there]))] == ["One.", "Two."]


def test_a_leaf_for_which_no_room_is_left_is_passed_over_and_a_long_one_is_cut() -> None:
    sizes = (("a", 1_000), ("b", MOST_CHARS - 900), ("c", 600))
    first, long, short = (leaf(name, name * size, doc=name) for name, size in sizes)
    assert [text[0] for _, text in shown(best_passages([first, long, short]))] == ["a", "c"]
    ((_, cut),) = shown(best_passages([leaf("e", "e" * 5_000)]))
    assert len(cut) == MOST_CHARS


def test_blank_leaves_are_none() -> None:
    assert best_passages([leaf("a", " \n\n"), leaf("b", "")]) == []


SIZES = st.lists(st.tuples(st.sampled_from("xy"), st.text("ab \n", max_size=900)), max_size=8)


@given(SIZES, st.randoms(use_true_random=False))
def test_what_is_shown_is_bounded_and_stands_in_its_documents(texts: list[tuple[str, str]], random: object) -> None:
    by_doc = {doc: [text for name, text in texts if name == doc] for doc in "xy"}
    leaves = [each for doc, parts in by_doc.items() for each in chain(parts, doc)]
    random.shuffle(leaves)  # type: ignore[attr-defined]
    passages = best_passages(leaves)
    spans = [each for passage in passages for each in passage.spans]
    assert len(spans) <= MOST_SHOWN
    assert sum(len(each.text) for each in passages) <= MOST_CHARS
    for passage in passages:
        document = "".join(by_doc[passage.spans[0].chunk.doc_id])
        assert passage.text == document[passage.spans[0].start : passage.spans[-1].end]
        assert all(one.end == other.start for one, other in pairwise(passage.spans))
    assert [each.number for each in passages] == list(range(1, len(passages) + 1))


def test_a_title_that_is_a_line_of_its_own_does_not_fit_best() -> None:
    (passage,) = best_passages([leaf("a", "Pruning logs\n\nKeep seven days.", heading="Backup > Pruning logs")])
    assert [passage.text[start:end] for start, end in passage.pieces] == ["Keep seven days."]
    assert lines_of(leaf("a", "Pruning logs\n\nKeep seven\ndays.", heading="Pruning logs")) == ["Keep seven days."]
    assert lines_of(leaf("a", "Pruning logs\n", heading="Pruning logs")) == ["Pruning logs"]


def test_rare_words_of_the_question_weigh_more() -> None:
    asked = {"prune": 3.0, "log": 1.0}
    assert shared_weight(asked, ["prune", "fast", "prune"]) == 0.75
    assert shared_weight(asked, ["log"]) == 0.25
    assert shared_weight({}, ["log"]) == 0.0
