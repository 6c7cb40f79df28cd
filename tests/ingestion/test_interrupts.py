"""A Ctrl-C that comes while something must not be stopped."""

from __future__ import annotations

import signal
import threading

import pytest

from anabranch.ingestion.intake import defer_interrupt


def test_it_waits_for_the_end_of_the_block() -> None:
    done = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):  # it has to come after the block
        with defer_interrupt():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")
        done.append("what comes next")
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is before


def test_what_fails_in_the_block_is_told() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), defer_interrupt():
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_have_none() -> None:
    done: list[str] = []

    def work() -> None:
        with defer_interrupt():
            done.append("all of it")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["all of it"]
