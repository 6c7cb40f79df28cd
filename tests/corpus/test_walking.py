from pathlib import Path

import pytest

from anabranch.corpus.walking import Found, walk
from anabranch.errors import UserError


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def sources(*paths: Path, skip: tuple[Path, ...] = ()) -> list[str]:
    return [found.source for found in walk(paths, skip)]


def test_a_folder_is_walked_in_sorted_order_whatever_the_kind_of_file(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "a/z.txt", "a/b/c.pdf", "a/picture.png", "c")
    assert sources(tmp_path) == ["a/b/c.pdf", "a/picture.png", "a/z.txt", "b.md", "c"]


def test_found_says_where_the_file_lies(tmp_path: Path) -> None:
    put(tmp_path, "a/b.md")
    assert list(walk([tmp_path])) == [Found(tmp_path / "a" / "b.md", "a/b.md")]


def test_a_single_file_is_called_by_its_name(tmp_path: Path) -> None:
    put(tmp_path, "deep/down/b.md")
    assert sources(tmp_path / "deep/down/b.md") == ["b.md"]


def test_hidden_files_and_folders_are_left_out_unless_given_themselves(tmp_path: Path) -> None:
    put(tmp_path, ".git/config", ".env", "a/.hidden.md", "a/shown.md")
    assert sources(tmp_path) == ["a/shown.md"]
    assert sources(tmp_path / ".env") == [".env"]


def test_the_corpus_itself_is_skipped(tmp_path: Path) -> None:
    put(tmp_path, "corpus/corpus.db", "a.md")
    assert sources(tmp_path, skip=(tmp_path / "corpus",)) == ["a.md"]
    assert sources(tmp_path / "corpus" / "corpus.db", skip=(tmp_path / "corpus" / "corpus.db",)) == []


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
        next(walk([tmp_path, tmp_path / "nowhere"]))
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
