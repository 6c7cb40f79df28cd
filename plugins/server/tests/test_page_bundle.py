"""The page that is committed is what its sources give, is small, and says whose code is in it."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from anabranch_server.page_routes import FILES, STATIC
from scripts.page import PAGE, build, built_from, has_tools, source_hash
from tests.shared_fixtures import REPOSITORY

MOST_BYTES = 60_000


def test_the_bundle_was_built_from_these_sources() -> None:
    assert built_from() == source_hash(), "run `python scripts/page.py`"


def test_a_new_build_gives_the_same_files(tmp_path) -> None:
    if not has_tools():
        pytest.skip("the bundler is not installed: `python scripts/page.py` needs Node")
    build(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        name: (STATIC / name).read_bytes() for name in FILES
    }


def test_it_is_small() -> None:
    assert {file.name for file in STATIC.iterdir()} == set(FILES)
    assert sum(len(gzip.compress((STATIC / name).read_bytes())) for name in FILES) < MOST_BYTES


def test_it_names_no_other_host_and_runs_no_text() -> None:
    for name in FILES:
        text = (STATIC / name).read_text(encoding="utf-8")
        # The names of XML are no addresses.
        hosts = set(re.findall(r"https?://([\w.-]+)", text)) - {"www.w3.org"}
        assert hosts == set(), name
        assert not re.search(r"\beval\(|new Function|document\.write", text)
    for source in (PAGE / "src").glob("*.js"):
        assert not re.search(r"innerHTML|insertAdjacentHTML", source.read_text(encoding="utf-8"))


def test_whoever_wrote_what_is_bundled_is_named() -> None:
    notice = (REPOSITORY / "NOTICE").read_text(encoding="utf-8")
    packages = json.loads((PAGE / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in packages.values())
    for name in ("preact", "htm"):
        assert f"{name} {packages[name]}" in notice
