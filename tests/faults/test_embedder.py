"""A corpus is not searched or added to with another embedder than it was made with; the error says what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.errors import EmbedderMismatchError, SettingsError
from anabranch.store.corpus_handles import open_folder
from anabranch.store.maintenance import rebuild
from tests.faults.conftest import NewFault
from tests.faults.days import check_answers, editions, made, problems, take_in, tell
from tests.faults.models import make_model

DAYS = 6


def other_weights(model: Path, other: Path) -> None:
    shutil.copy(other / "model.onnx", model)


def other_words(model: Path, other: Path) -> None:
    tokenizer = model / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text("utf-8") + "\n", encoding="utf-8")
    shutil.copy(model / "model.onnx", model / "copy")
    (model / "copy").rename(model / "model.onnx")


def gone(model: Path, other: Path) -> None:
    shutil.rmtree(model)


CHANGES: list[Callable[[Path, Path], None]] = [other_weights, other_words, gone]


def test_embedder_changed(ground: Path, model: Path, few: int, fault: NewFault) -> None:
    row = fault(
        "the embedder's weights or words are replaced under its name, or it is gone, or another one is asked for",
        "opening and ingest are refused, with the command that embeds anew; nothing is changed by that; after that "
        "command the corpus opens, both arms find exactly what the database holds, verify is clean",
    )
    folder, template = made(ground, model, DAYS)
    for number, dice in enumerate(row.dice(few)):
        corpus, own = shutil.copytree(template, ground / f"c{number}"), ground / f"own{number}"
        other = make_model(ground / f"other{number}", seed=number + 1)
        shutil.copytree(model, own)
        with row.attempt(number):
            rebuild(corpus, embedder=str(own))
            tell(folder, 1, 100 + number)
            refused(EmbedderMismatchError, take_in, folder, corpus, other)
            dice.choice(CHANGES)(own, other)
            before = editions(corpus)
            fresh = shutil.copytree(corpus, ground / f"f{number}")
            refused(EmbedderMismatchError, open_folder, fresh)
            refused((EmbedderMismatchError, SettingsError), take_in, folder, fresh, own)
            assert editions(fresh) == before
            rebuild(fresh, embedder=str(other))
            take_in(folder, fresh, other)
            check_answers(fresh, open_folder(fresh))
            assert problems(fresh) == []
    row.settle()


def refused(kind: type[Exception] | tuple[type[Exception], ...], work: Callable[..., object], *given: object) -> None:
    with pytest.raises(kind) as caught:
        work(*given)
    if isinstance(caught.value, EmbedderMismatchError):
        assert "anabranch corpus rebuild --corpus CORPUS --embedder" in str(caught.value)
