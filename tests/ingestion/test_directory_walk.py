from pathlib import Path

import pytest

from anabranch.errors import UserError
from anabranch.ingestion.directory_walk import FoundFile, survey
from anabranch.ingestion.ingest_root import IngestRoot


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def sources(*paths: Path, skip: tuple[Path, ...] = (), follow_links: bool = False) -> list[str]:
    return [found.source for found in survey(paths, skip, follow_links=follow_links).files]


def test_a_folder_is_walked_in_sorted_order_whatever_the_kind_of_file(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "a/z.txt", "a/b/c.pdf", "a/picture.png", "c")
    assert sources(tmp_path) == ["a/b/c.pdf", "a/picture.png", "a/z.txt", "b.md", "c"]


def test_found_says_where_the_file_lies(tmp_path: Path) -> None:
    put(tmp_path, "a/b.md")
    assert list(survey([tmp_path]).files) == [FoundFile(tmp_path / "a" / "b.md", "a/b.md")]


def test_a_single_file_is_called_by_its_name(tmp_path: Path) -> None:
    put(tmp_path, "deep/down/b.md")
    assert sources(tmp_path / "deep/down/b.md") == ["b.md"]


def test_hidden_files_and_folders_are_left_out_unless_given_themselves(tmp_path: Path) -> None:
    put(tmp_path, ".git/config", ".env", "a/.hidden.md", "a/shown.md")
    assert sources(tmp_path) == ["a/shown.md"]
    assert sources(tmp_path / ".env") == [".env"]


def test_mail_that_is_still_being_delivered_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "Mail/cur/1:2,S", "Mail/new/2", "Mail/tmp/3", "tmp/a.md", "half/tmp/b.md", "half/cur/c.md")
    assert sources(tmp_path) == ["Mail/cur/1:2,S", "Mail/new/2", "half/cur/c.md", "half/tmp/b.md", "tmp/a.md"]
    assert sources(tmp_path / "Mail/tmp") == ["3"]


def test_the_corpus_itself_is_skipped(tmp_path: Path) -> None:
    put(tmp_path, "corpus/corpus.db", "a.md")
    assert sources(tmp_path, skip=(tmp_path / "corpus",)) == ["a.md"]
    with pytest.raises(UserError, match="into itself"):
        sources(tmp_path / "corpus", skip=(tmp_path / "corpus",))


def test_names_that_do_not_clash_stay_short(tmp_path: Path) -> None:
    put(tmp_path, "one/a.md", "two/b.md")
    assert sources(tmp_path / "one", tmp_path / "two") == ["a.md", "b.md"]


def test_names_that_clash_get_their_folder_in_front(tmp_path: Path) -> None:
    put(tmp_path, "one/a.md", "two/a.md", "two/b.md", "three/c.md")
    found = sources(tmp_path / "one", tmp_path / "two", tmp_path / "three")
    assert found == ["one/a.md", "two/a.md", "two/b.md", "c.md"]


def test_folders_of_the_same_name_get_as_many_parents_as_it_takes(tmp_path: Path) -> None:
    put(tmp_path, "one/docs/a.md", "two/docs/a.md")
    assert sources(tmp_path / "one/docs", tmp_path / "two/docs") == ["one/docs/a.md", "two/docs/a.md"]


def test_files_of_the_same_name_get_their_folder_in_front(tmp_path: Path) -> None:
    put(tmp_path, "one/a.md", "two/a.md")
    assert sources(tmp_path / "one/a.md", tmp_path / "two/a.md") == ["one/a.md", "two/a.md"]


def test_a_file_reached_twice_is_yielded_once(tmp_path: Path) -> None:
    put(tmp_path, "a/b.md", "a/c.md")
    assert sources(tmp_path / "a", tmp_path / "a", tmp_path / "a/b.md", tmp_path) == ["b.md", "c.md"]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "secret/key.md", "docs/a.md")
    (tmp_path / "docs/out").symlink_to(tmp_path / "secret")
    (tmp_path / "docs/key.md").symlink_to(tmp_path / "secret/key.md")
    (tmp_path / "docs/gone.md").symlink_to(tmp_path / "nowhere")
    assert sources(tmp_path / "docs") == ["a.md"]


def test_a_link_given_itself_is_followed(tmp_path: Path) -> None:
    put(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert sources(tmp_path / "link") == ["a.md"]


def test_links_inside_yield_what_nothing_else_shows(tmp_path: Path) -> None:
    put(tmp_path, "..2026/a.md", "b.md")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "a.md").symlink_to("..data/a.md")  # the way a mounted ConfigMap looks
    (tmp_path / "again.md").symlink_to("b.md")
    assert sources(tmp_path) == ["a.md", "b.md"]


def test_links_in_circles_end(tmp_path: Path) -> None:
    for name in "abcdefgh":
        put(tmp_path, f"{name}/{name}.md")
        for other in "abcdefgh":
            (tmp_path / name / f"to-{other}").symlink_to(tmp_path / other)
        (tmp_path / name / "up").symlink_to(tmp_path)
    assert sources(tmp_path) == [f"{name}/{name}.md" for name in "abcdefgh"]


def test_a_path_that_does_not_exist_raises_before_anything_is_yielded(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    with pytest.raises(UserError, match="nowhere") as caught:
        survey([tmp_path, tmp_path / "nowhere"])
    assert caught.value.hint


def test_a_folder_that_may_not_be_opened_is_not_lost(tmp_path: Path) -> None:
    put(tmp_path, "shut/a.md", "b.md")
    (tmp_path / "shut").chmod(0)
    try:
        list((tmp_path / "shut").iterdir())
        pytest.skip("this user may open every folder")
    except PermissionError:
        assert sources(tmp_path) == ["b.md", "shut"]
    finally:
        (tmp_path / "shut").chmod(0o700)


def test_the_current_folder_has_no_empty_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "here/a.md", "there/a.md")
    monkeypatch.chdir(tmp_path / "here")
    assert sources(Path(), tmp_path / "there") == ["here/a.md", "there/a.md"]


def test_links_out_of_the_folder_are_followed_when_asked_for(tmp_path: Path) -> None:
    put(tmp_path, "secret/key.md", "secret/deep/er.md", "secret/.hidden.md", "docs/a.md", "one/b.md")
    (tmp_path / "docs/out").symlink_to(tmp_path / "secret")
    (tmp_path / "docs/b.md").symlink_to(tmp_path / "one/b.md")
    (tmp_path / "docs/gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "docs/itself").symlink_to("itself")
    assert sources(tmp_path / "docs") == ["a.md"]
    assert sources(tmp_path / "docs", follow_links=True) == ["a.md", "b.md", "out/deep/er.md", "out/key.md"]


def test_links_to_what_holds_the_folder_end(tmp_path: Path) -> None:
    put(tmp_path, "docs/a.md", "other/b.md")
    (tmp_path / "docs/up").symlink_to(tmp_path)
    (tmp_path / "other/back").symlink_to(tmp_path / "docs")
    assert sources(tmp_path / "docs", follow_links=True) == ["a.md", "up/other/b.md"]


def test_no_link_leads_into_the_corpus(tmp_path: Path) -> None:
    put(tmp_path, "corpus/corpus.db", "corpus/generations/1.json", "docs/a.md")
    (tmp_path / "docs/in").symlink_to(tmp_path / "corpus")
    (tmp_path / "docs/deeper").symlink_to(tmp_path / "corpus/generations")
    (tmp_path / "docs/file.db").symlink_to(tmp_path / "corpus/corpus.db")
    assert sources(tmp_path / "docs", skip=(tmp_path / "corpus",), follow_links=True) == ["a.md"]
    assert sources(tmp_path, skip=(tmp_path / "corpus",)) == ["docs/a.md"]


def test_the_folders_are_those_that_were_looked_through(tmp_path: Path) -> None:
    put(tmp_path, "secret/key.md", "docs/a.md")
    (tmp_path / "docs/out").symlink_to(tmp_path / "secret")
    assert survey([tmp_path / "docs", tmp_path / "secret/key.md"]).folders == (tmp_path / "docs",)
    followed = survey([tmp_path / "docs"], follow_links=True)
    assert followed.folders == (tmp_path / "docs", tmp_path / "secret")
    assert [found.path for found in followed.files] == [tmp_path / "docs/a.md", tmp_path / "docs/out/key.md"]


def test_only_a_copy_is_deleted(tmp_path: Path) -> None:
    put(tmp_path, "mine/a.md", "copies/1/a.md")
    FoundFile(tmp_path / "mine/a.md", "a.md").discard()
    assert (tmp_path / "mine/a.md").is_file()
    copy = FoundFile(tmp_path / "copies/1/a.md", "x.zip!/a.md", is_copy=True)
    copy.discard()
    copy.discard()
    assert list((tmp_path / "copies").iterdir()) == []


def test_folders_that_no_person_wrote_are_left_out(tmp_path: Path) -> None:
    for name in ("notes.md", "node_modules/left/pad.js", "src/__pycache__/a.py", "src/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    assert [found.source for found in survey([tmp_path]).files] == ["notes.md", "src/a.py"]
    assert [found.source for found in survey([tmp_path / "node_modules"]).files] == ["left/pad.js"]


def test_files_below_a_folder_of_their_own_are_called_by_their_path(tmp_path: Path) -> None:
    for name in ("sent/a/x.md", "sent/b/x.md", "else/y.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    paths = [tmp_path / "sent/a/x.md", tmp_path / "else/y.md", tmp_path / "sent/b"]
    found = survey(paths, root=IngestRoot(tmp_path, "sent", is_open=True)).files
    assert [each.source for each in found] == ["a/x.md", "y.md", "x.md"]
