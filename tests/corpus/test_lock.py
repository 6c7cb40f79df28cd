"""One writer at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.corpus.ingest import ingest
from anabranch.corpus.lock import writing
from anabranch.corpus.upkeep import rebuild, remove
from anabranch.errors import CorpusLockedError

HOLD = """
import sys, time
from pathlib import Path
from anabranch.corpus.lock import writing
with writing(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("# Herons\n\nHerons fish.\n", encoding="utf-8")
    corpus = tmp_path / "c"
    ingest([tmp_path / "d"], corpus)
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(corpus)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    for write in (
        lambda: ingest([tmp_path / "d"], corpus),
        lambda: rebuild(corpus),
        lambda: remove(corpus, ["a.md"]),
    ):
        with pytest.raises(CorpusLockedError, match=f"process {process.pid}"):
            write()
    process.kill()
    process.communicate()
    assert ingest([tmp_path / "d"], corpus).count("unchanged") == 1


def test_the_lock_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path):
        assert (tmp_path / "writer").read_text() == f"process {os.getpid()}"
        raise ZeroDivisionError
    with writing(tmp_path):
        pass
    assert not (tmp_path / "writer").exists()
