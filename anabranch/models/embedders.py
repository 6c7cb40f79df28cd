"""From the spelling in a setting to an embedder ready for use.

A spelling is the name of an embedder, alone or with a model behind a colon, or the path of a folder, which a plugin
reads. Another package adds an embedder as `anabranch.registry` says: a class as in `anabranch.models.embedder`, with a
class method `from_settings(settings: EmbedderSettings)`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder, EmbedderSettings, EmbedderType, NeedsPackage
from anabranch.models.lru import LRU
from anabranch.registry import OBJECT, Registry

DEFAULT_EMBEDDER = "minilm"
LOCAL_EMBEDDERS = (DEFAULT_EMBEDDER, "multilingual")
"""Those that come with us and run on this machine: what a caller of a server may choose."""

EMBEDDERS: Registry[EmbedderType] = Registry(
    "embedder",
    {
        "minilm": "anabranch.models.onnx_embedder:OnnxEmbedder",
        "openai": "anabranch.models.openai_embedding:OpenAIEmbedder",
    },
)


class EmbedderFolders(Protocol):
    """What reads folders with a model; a class with static methods, say."""

    def version(self, folder: Path) -> int:
        """Return a number that changes when a file of the folder's model does.

        Raises:
            SettingsError: It has no model.
        """
        ...

    def load(self, folder: Path) -> Embedder:
        """Return the embedder of a folder; blocks.

        Raises:
            SettingsError: A file is missing or cannot be used.
        """
        ...


FOLDERS: Registry[EmbedderFolders] = Registry("embedder folder", {}, use="An embedder in a folder")

_lock = threading.Lock()
# Embedders that are kept; a corpus that is open holds its own.
KEPT = 8
_loaded: LRU[tuple[str, str | None, int], Embedder] = LRU(KEPT)


def load_embedder(
    spec: str, base_url: str | None = None, progress: Callable[[str, int, int], None] | None = None
) -> Embedder:
    """Return the embedder of a spelling, made once and kept for a while; blocks, so call it from a thread.

    Args:
        spec: The spelling.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        progress: See `EmbedderSettings`.

    Raises:
        SettingsError: The spelling is none of these.
        MissingKeyError: A hosted embedder without its key.
    """
    spec = resolve_spec(spec)
    if spec.startswith(OBJECT):
        from anabranch.models.given_embedder import find_embedder

        return find_embedder(spec)
    # A folder whose model was replaced is another embedder.
    version = FOLDERS.get("onnx").version(Path(spec)) if Path(spec).is_absolute() else 0
    with _lock:
        key = (spec, base_url, version)
        if (embedder := _loaded.get(key)) is None:
            embedder = _new_embedder(spec, base_url, progress)
            _loaded.set(key, embedder)
        return embedder


def check_installed(name: str) -> None:
    """Return if the packages of an embedder are there, which is found out without loading a model.

    Raises:
        SettingsError: There is no such embedder, or it cannot be imported.
        MissingExtraError: One of them is not installed.
    """
    embedder_type = EMBEDDERS.get(name)
    if isinstance(embedder_type, NeedsPackage):
        embedder_type.check_package()


def resolve_spec(spec: str) -> str:
    """Return the spelling that means the same from anywhere: a folder becomes absolute.

    Raises:
        SettingsError: Neither an embedder, nor a folder with a model.
    """
    spec = spec.strip()
    if spec.startswith(OBJECT):
        return spec
    name, colon, model = spec.partition(":")
    if name in EMBEDDERS and (model or not colon):
        return spec
    if spec and Path(spec).is_dir():
        FOLDERS.get("onnx").version(Path(spec))
        return str(Path(spec).resolve())
    msg = f"Unknown embedder {spec!r}."
    near = get_close_matches(name, EMBEDDERS.names, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    known = f"Use one of {', '.join(EMBEDDERS.names)} (openai:text-embedding-3-small, say)"
    raise SettingsError(msg, hint=f"{hint}{known}, or the path of a folder with model.onnx and tokenizer.json.")


def _new_embedder(spec: str, base_url: str | None, progress: Callable[[str, int, int], None] | None) -> Embedder:
    name, _, model = spec.partition(":")
    if name in EMBEDDERS:
        settings = EmbedderSettings(model, base_url)
        return EMBEDDERS.get(name).from_settings(replace(settings, progress=progress) if progress else settings)
    return FOLDERS.get("onnx").load(Path(spec))
