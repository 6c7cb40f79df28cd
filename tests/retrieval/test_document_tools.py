"""The tools over a corpus: what they show, their bounds, their cursors, access tags, and bad input."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch import remove
from anabranch.errors import DocumentNotFoundError, QuestionError, SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.retrieval import document_scan, document_tools, result_cursor
from anabranch.retrieval.document_tools import grep, list_documents, narrow, read, show_found
from anabranch.retrieval.result_size import TOKENS
from anabranch.store.protocol import CorpusReader, Scope
from anabranch.store.stores import open_corpus

BOARD = Scope(access=("board",))
LONG = "\n\n".join(f"# Part {part}\n\nIn part {part} the heron was counted {part * 7} times." for part in range(150))


def _write(folder: Path, count: int) -> None:
    lines: list[dict[str, Any]] = [
        {
            "id": f"note{number:03}",
            "title": f"Note {number}",
            "text": f"The otter of pond {number} is Otter{number}.",
        }
        for number in range(count)
    ]
    lines[1] |= {"access": ["board"], "title": "Pay", "text": "The salary of the otter is secret."}
    (folder / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "long.md").write_text(LONG, encoding="utf-8")


def _made(folder: Path) -> str:
    _write(folder, 240)
    ingest([folder / "notes.jsonl", folder / "long.md"], folder / "corpus")
    return str(folder / "corpus")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _made(tmp_path_factory.mktemp("tools"))


@pytest.fixture
async def corpus(address: str) -> CorpusReader:
    return await open_corpus(address)


async def everything(corpus: CorpusReader, call: Callable[[str], Awaitable[Any]]) -> list[Any]:
    """Return the items of all parts of a result; each part keeps to the bound."""
    items, cursor = [], ""
    for _ in range(100):
        result = await call(cursor)
        (size,) = corpus.embedder.count([json.dumps(result, ensure_ascii=False, indent=2)])
        assert size <= TOKENS
        assert result["note"] in ("", "Nothing so far: go on with the cursor.")
        items += result["items"]
        cursor = result["cursor"]
        assert len(cursor) <= result_cursor.MAX_CURSOR
        if not cursor:
            return items
    raise AssertionError


async def test_all_documents_are_listed_part_by_part(corpus: CorpusReader) -> None:
    found = await everything(corpus, lambda cursor: list_documents(corpus, BOARD, cursor))
    assert len(found) == 241
    assert [each["source"] for each in found] == sorted(each["source"] for each in found)
    first = found[0]
    assert (first["source"], first["passages"] > 100, first["pages"]) == ("long.md", True, 0)
    narrowed = await list_documents(corpus, narrow(BOARD, {"title": {"glob": "Note 2?"}}))
    assert [each["title"] for each in narrowed["items"]] == [f"Note {number}" for number in range(20, 30)]


async def test_a_document_is_read_from_one_passage_to_another(corpus: CorpusReader) -> None:
    whole = await everything(corpus, lambda cursor: read(corpus, Scope(), "long.md", cursor=cursor))
    assert [each["number"] for each in whole] == list(range(1, len(whole) + 1))
    assert all(each["is_whole"] for each in whole)
    text = "".join(each["text"] for each in whole)
    assert all(f"counted {part * 7} times" in text for part in range(150))
    part = await read(corpus, Scope(), whole[0]["document_id"], 3, 5)
    assert part["items"] == whole[2:5]
    assert (part["passages"], part["cursor"]) == (len(whole), "")
    later = await everything(corpus, lambda cursor: read(corpus, Scope(), "long.md", 100, cursor=cursor))
    assert later == whole[99:]
    assert (await read(corpus, Scope(), "Note 7"))["items"][0]["text"].startswith("The otter of pond 7")


async def test_a_passage_that_is_too_long_is_read_in_pieces(tmp_path: Path) -> None:
    text = " ".join(f"heron{number}" for number in range(3_000))
    (tmp_path / "one.txt").write_text(text, encoding="utf-8")
    ingest([tmp_path / "one.txt"], tmp_path / "corpus", sizes=(40_000, 30_000, 20_000))
    corpus = await open_corpus(str(tmp_path / "corpus"))
    pieces = await everything(corpus, lambda cursor: read(corpus, Scope(), "one.txt", cursor=cursor))
    assert len(pieces) > 2
    assert {each["number"] for each in pieces} == {1}
    assert not any(each["is_whole"] for each in pieces)
    assert "".join(each["text"] for each in pieces).split() == text.split()
    chunks = list((await corpus.chunks([pieces[0]["passage_id"]], Scope())).values())
    found = await everything(corpus, lambda cursor: show_found(corpus, Scope(), "x", chunks, 8, cursor))
    assert "".join(each["text"] for each in found).split() == text.split()


async def test_words_are_found_in_every_document_part_by_part(
    corpus: CorpusReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    async def call(cursor: str) -> Any:
        calls.append(cursor)
        return await grep(corpus, BOARD, "the OTTER * pond", cursor=cursor)

    found = await everything(corpus, call)
    assert [each["document"] for each in found] == [f"Note {number}" for number in range(240) if number != 1]
    assert all("The otter of pond" in each["text"] for each in found)
    # Neither the bound on passages nor the size of a slice changes what is found.
    monkeypatch.setattr(document_scan, "MOST_SCANNED", 7)
    monkeypatch.setattr(document_scan, "SLICE", 3)
    few, calls = len(calls), []
    assert await everything(corpus, call) == found
    assert len(calls) > 20 > few
    monkeypatch.setattr(document_scan, "SECONDS", 0.0)
    calls = []
    assert (await call(""))["cursor"]
    within = await everything(corpus, lambda cursor: grep(corpus, Scope(), "counted * times", "long.md", cursor))
    assert len(within) == len({each["number"] for each in within}) > 100


async def test_a_search_is_shown_part_by_part(corpus: CorpusReader) -> None:
    (ranked,) = await corpus.search("bm25", ["heron counted"], 60, Scope())
    chunks = list((await corpus.chunks(ranked["ids"], Scope())).values())
    found = await everything(corpus, lambda cursor: show_found(corpus, Scope(), "heron", chunks, 20, cursor))
    assert [each["passage_id"] for each in found] == ranked["ids"]
    some = found[3]
    assert (await read(corpus, Scope(), some["document_id"], some["number"], some["number"]))["items"] == [some]


async def test_what_a_caller_may_not_read_does_not_exist(corpus: CorpusReader) -> None:
    pay = next(each for each in (await list_documents(corpus, BOARD))["items"] if each["title"] == "Pay")
    assert (await grep(corpus, BOARD, "salary"))["items"][0]["document"] == "Pay"
    assert (await read(corpus, BOARD, "Pay"))["items"][0]["text"].startswith("The salary")
    for scope in (Scope(), Scope(access=("staff",)), narrow(BOARD, {"title": {"glob": "Note*"}})):
        assert "Pay" not in json.dumps(await list_documents(corpus, scope))
        assert (await grep(corpus, scope, "salary"))["items"] == []
        for name in (pay["document_id"], pay["source"], "Pay"):
            for call in (read(corpus, scope, name), grep(corpus, scope, "otter", name)):
                with pytest.raises(DocumentNotFoundError) as refused:
                    await call
                with pytest.raises(DocumentNotFoundError) as absent:
                    await read(corpus, scope, "x" * len(name))
                assert str(refused.value).replace(name, "") == str(absent.value).replace("x" * len(name), "")
    # A cursor of somebody who may read it opens nothing.
    theirs = await grep(corpus, BOARD, "otter")
    rest = await grep(corpus, Scope(), "otter", cursor=theirs["cursor"])
    assert rest["items"]
    assert "salary" not in json.dumps(rest)


async def test_a_corpus_that_changed_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    address = _made(tmp_path)
    before = await open_corpus(address)
    first = await list_documents(before, Scope())
    scanned = await grep(before, Scope(), "otter")
    begun = await read(before, Scope(), "long.md")
    remove(address, "notes.jsonl#note000")
    (tmp_path / "a.md").write_text("# A\n\nAn otter.\n", encoding="utf-8")
    ingest([tmp_path / "a.md"], address, prune=False)
    after = await open_corpus(address)
    assert after.generation > before.generation
    rest = await list_documents(after, Scope(), first["cursor"])
    assert "has changed" in rest["note"]
    # It goes on behind the last document, which is in another place now.
    last, following = (int(each["source"][-3:]) for each in (first["items"][-1], rest["items"][0]))
    assert following == last + 1
    seen = {each["document"] for each in scanned["items"]}
    found = await grep(after, Scope(), "otter", cursor=scanned["cursor"])
    assert "has changed" in found["note"]
    assert int(found["items"][0]["document"].split()[1]) == max(int(each.split()[1]) for each in seen) + 1
    read_on = await read(after, Scope(), "long.md", cursor=begun["cursor"])
    assert read_on["items"][0]["number"] == begun["items"][-1]["number"] + 1
    assert "has changed" in read_on["note"]
    # What a part ended with is gone: all begins anew rather than leave something out.
    remove(address, first["items"][-1]["source"])
    remove(address, scanned["items"][-1]["document"].replace("Note ", "notes.jsonl#note0"))
    remove(address, f"notes.jsonl#note0{int(scanned['items'][-1]['document'].split()[1]) + 1}")
    later = await open_corpus(address)
    for again, whole in (
        (await list_documents(later, Scope(), first["cursor"]), await list_documents(later, Scope())),
        (await grep(later, Scope(), "otter", cursor=scanned["cursor"]), await grep(later, Scope(), "otter")),
    ):
        assert again["items"] == whole["items"]
        assert "begins anew" in again["note"]
    (tmp_path / "long.md").write_text(LONG.replace("heron", "crane"), encoding="utf-8")
    ingest([tmp_path / "long.md"], address, prune=False)
    rewritten = await read(await open_corpus(address), Scope(), "long.md", cursor=begun["cursor"])
    assert (rewritten["items"][0]["number"], "begins anew" in rewritten["note"]) == (1, True)
    gone = (await list_documents(before, Scope(filters={"title": "Note 9"})))["items"][0]["document_id"]
    remove(address, "notes.jsonl#note009")
    with pytest.raises(DocumentNotFoundError):
        await read(await open_corpus(address), Scope(), gone)


WRONG: list[tuple[Callable[[CorpusReader], Awaitable[Any]], type[Exception], str]] = [
    (lambda corpus: read(corpus, Scope(), "nobody.md"), DocumentNotFoundError, "There is no document 'nobody.md'"),
    (lambda corpus: read(corpus, Scope(), ""), DocumentNotFoundError, "no document ''"),
    (lambda corpus: read(corpus, Scope(), "a\0b"), DocumentNotFoundError, "no document"),
    (lambda corpus: read(corpus, Scope(), "x" * 5_000), DocumentNotFoundError, "no document"),
    (lambda corpus: read(corpus, Scope(), "long.md", 0), QuestionError, "no passages from 0"),
    (lambda corpus: read(corpus, Scope(), "long.md", 5, 4), QuestionError, "no passages from 5 to 4"),
    (lambda corpus: read(corpus, Scope(), "long.md", 10**9), QuestionError, "no passages from"),
    (lambda corpus: read(corpus, Scope(), "long.md", 9_999), QuestionError, "none with the number 9,999"),
    (lambda corpus: grep(corpus, Scope(), "**"), QuestionError, "nothing to look for"),
    (lambda corpus: list_documents(corpus, Scope(), "nonsense"), QuestionError, "not of this call"),
    (lambda corpus: list_documents(corpus, Scope(), "WyJhIiwxXQ=="), QuestionError, "not of this call"),
    (lambda corpus: list_documents(corpus, Scope(), "ü" * 5_000), QuestionError, "not of this call"),
    (lambda corpus: list_documents(corpus, narrow(Scope(), {"a": {"b": 1}})), SettingsError, "unknown operator"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG)
async def test_bad_input_is_refused_in_words(
    corpus: CorpusReader, call: Callable[[CorpusReader], Awaitable[Any]], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message.replace("*", r"\*")) as refused:
        await call(corpus)
    assert len(str(refused.value)) < 400


async def test_a_cursor_is_for_one_call_alone(corpus: CorpusReader) -> None:
    cursor = (await grep(corpus, BOARD, "otter"))["cursor"]
    assert cursor
    for call in (
        grep(corpus, BOARD, "heron", cursor=cursor),
        list_documents(corpus, BOARD, cursor),
        read(corpus, BOARD, "long.md", cursor=cursor),
        show_found(corpus, BOARD, "otter", [], 3, cursor),
    ):
        with pytest.raises(QuestionError, match="not of this call"):
            await call


async def test_a_cursor_that_somebody_made_up_asks_for_no_more_than_there_is(
    corpus: CorpusReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    leaves = type(corpus).leaves  # type: ignore[attr-defined]  # this store has them

    async def noting(self: CorpusReader, ids: list[str], scope: Scope, most: int) -> Any:
        asked.append(most)
        return await leaves(self, ids, scope, most)

    monkeypatch.setattr(type(corpus), "leaves", noting)
    made_up = result_cursor.Paging("grep", ["otter", "", None], corpus).write(0, "", 10**11)
    await grep(corpus, Scope(), "otter", cursor=made_up)
    assert asked
    assert max(asked) <= 151 + document_scan.SLICE


async def test_two_documents_of_one_title_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# Minutes\n\nOf {name}.\n", encoding="utf-8")
    ingest([tmp_path / "a.md", tmp_path / "b.md"], tmp_path / "corpus")
    corpus = await open_corpus(str(tmp_path / "corpus"))
    with pytest.raises(QuestionError, match="several documents 'Minutes'"):
        await read(corpus, Scope(), "Minutes")
    assert "Of b." in (await read(corpus, Scope(), "b.md"))["items"][0]["text"]


async def test_a_regular_expression_that_finds_nothing_is_said_to_be_none(corpus: CorpusReader) -> None:
    assert "Only * has a meaning" in (await grep(corpus, Scope(), r"otter|heron\d+"))["note"]
    assert (await grep(corpus, Scope(), "nobody"))["note"] == ""


async def test_long_lists_say_that_they_are_cut(corpus: CorpusReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_tools, "MOST_DOCUMENTS", 3)
    listed = await list_documents(corpus, Scope())
    assert len(listed["items"]) == 3
    assert "Only the first 3 documents" in listed["note"]
    assert "Only the first 3 documents" in (await grep(corpus, Scope(), "heron"))["note"]


async def test_a_passage_that_goes_while_it_is_read_is_said(
    corpus: CorpusReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await read(corpus, Scope(), "long.md", 1, 4)
    fetch = corpus.chunks

    async def chunks(ids: list[str], scope: Scope) -> Any:
        return {
            key: chunk for key, chunk in (await fetch(ids, scope)).items() if key != whole["items"][1]["passage_id"]
        }

    monkeypatch.setattr(corpus, "chunks", chunks)
    rest = await read(corpus, Scope(), "long.md", 1, 4)
    assert [each["number"] for each in rest["items"]] == [1, 3, 4]
    assert "has changed" in rest["note"]


class Bare:
    """A store that can only search."""

    generation = 1


async def test_a_store_that_lists_nothing_is_said() -> None:
    with pytest.raises(SettingsError, match="does not list its documents"):
        await list_documents(Bare(), Scope())  # type: ignore[arg-type]
