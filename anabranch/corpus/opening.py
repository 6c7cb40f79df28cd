"""Opening a corpus: once per generation and process, checked, outside the event loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from pathlib import Path

from anabranch.corpus.embedded import EmbeddedCorpus
from anabranch.corpus.generation import Manifest, current, read_manifest
from anabranch.corpus.truth import DATABASE
from anabranch.errors import CorpusEmptyError, CorpusNotFoundError, EmbedderMismatchError, SettingsError
from anabranch.models.embedders import load_embedder
from anabranch.models.embedding import Embedder

HANDLES = 8

_lock = threading.Lock()
_open: OrderedDict[tuple[str, str], EmbeddedCorpus] = OrderedDict()


async def open_corpus(path: str | Path) -> EmbeddedCorpus:
    """Return a handle on the current generation; the same handle until there is a new one.

    Raises:
        CorpusNotFoundError: There is no corpus at `path`.
        CorpusEmptyError: It holds no passage.
        EmbedderMismatchError: Its embedder cannot be had here, or is another one now.
        CorpusDamagedError: A derived file is missing or damaged.
    """
    return await asyncio.to_thread(open_now, path)


def open_now(path: str | Path) -> EmbeddedCorpus:
    """Do what `open_corpus` does, in this thread."""
    folder = Path(os.path.abspath(path))  # noqa: PTH100  # unlike resolve(), it does not follow links
    name = _current_name(folder)
    key = (str(folder), name)
    # One opening at a time: N branches that arrive together must share the handle, not make N of them.
    with _lock:
        handle = _open.get(key)
        if handle is None:
            manifest = read_manifest(folder, name)
            if manifest.leaves == 0:
                raise _empty(folder)
            embedder = _embedder(folder, manifest)
            handle = EmbeddedCorpus(folder, name, embedder)
            _open[key] = handle
        _open.move_to_end(key)
        while len(_open) > HANDLES:
            _open.popitem(last=False)
        return handle


def _embedder(folder: Path, manifest: Manifest) -> Embedder:
    """Load the embedder that the corpus was made with; questions embedded by another one would find nothing."""
    hint = "Bring the same embedder back, or embed the corpus anew: anabranch corpus rebuild --embedder ..."
    try:
        embedder = load_embedder(manifest.spec, manifest.base_url or None)
    except SettingsError as error:
        msg = f"The embedder {manifest.spec!r} of the corpus at {folder} cannot be had here: {error.message}"
        raise EmbedderMismatchError(msg, hint=hint) from error
    if embedder.name != manifest.embedder or embedder.dimension != manifest.dimension:
        msg = f"The corpus at {folder} was made with the embedder {manifest.embedder!r}; here it is {embedder.name!r}."
        raise EmbedderMismatchError(msg, hint=hint)
    return embedder


def _current_name(folder: Path) -> str:
    if not (folder / DATABASE).is_file():
        msg = f"There is no corpus at {folder}."
        raise CorpusNotFoundError(msg, hint=f"Make one: anabranch ingest YOUR_FOLDER --corpus {folder}")
    name = current(folder)
    if name is None:
        raise _empty(folder)
    return name


def _empty(folder: Path) -> CorpusEmptyError:
    msg = f"The corpus at {folder} holds no passage."
    return CorpusEmptyError(msg, hint=f"Add documents: anabranch ingest YOUR_FOLDER --corpus {folder}")
