"""From the spelling in a setting to an embedder ready for use.

A spelling is the name of an embedder, alone or with a model behind a colon, or the path of a folder. Another package
adds an embedder as `anabranch.registry` says: a class as in `anabranch.models.embedder`, with a class method
`from_settings(settings: EmbedderSettings)`.
"""

from __future__ import annotations

import threading
from difflib import get_close_matches
from pathlib import Path

from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder, EmbedderSettings, EmbedderType
from anabranch.models.lru import LRU
from anabranch.models.model_folder import model_file
from anabranch.registry import OBJECT, Registry

DEFAULT_EMBEDDER = "minilm"

EMBEDDERS: Registry[EmbedderType] = Registry(
    "embedder",
    {
        "minilm": "anabranch.models.onnx_embedder:OnnxEmbedder",
        "openai": "anabranch.models.openai_embedding:OpenAIEmbedder",
    },
)

_lock = threading.Lock()
# Embedders that are kept; a corpus that is open holds its own.
KEPT = 8
_loaded: LRU[tuple[str, str | None, int], Embedder] = LRU(KEPT)


def load_embedder(spec: str, base_url: str | None = None) -> Embedder:
    """Return the embedder of a spelling, made once and kept for a while; blocks, so call it from a thread.

    Raises:
        SettingsError: The spelling is none of these.
        MissingKeyError: A hosted embedder without its key.
    """
    spec = settled_spec(spec)
    if spec.startswith(OBJECT):
        from anabranch.models.given_embedder import embedder_given

        return embedder_given(spec)
    # A folder whose model was replaced is another embedder.
    version = _newest(Path(spec)) if Path(spec).is_absolute() else 0
    with _lock:
        key = (spec, base_url, version)
        if (embedder := _loaded.get(key)) is None:
            embedder = _new_embedder(spec, base_url)
            _loaded.set(key, embedder)
        return embedder


def settled_spec(spec: str) -> str:
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
        model_file(Path(spec), "embedder")
        return str(Path(spec).resolve())
    msg = f"Unknown embedder {spec!r}."
    near = get_close_matches(name, EMBEDDERS.names, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    known = f"Use one of {', '.join(EMBEDDERS.names)} (openai:text-embedding-3-small, say)"
    raise SettingsError(msg, hint=f"{hint}{known}, or the path of a folder with model.onnx and tokenizer.json.")


def _newest(folder: Path) -> int:
    """Return when the folder's model or one of its settings was last written."""
    settings = [*folder.glob("*.json"), folder / "1_Pooling" / "config.json"]
    return max(file.stat().st_mtime_ns for file in [model_file(folder, "embedder"), *settings] if file.is_file())


def _new_embedder(spec: str, base_url: str | None) -> Embedder:
    name, _, model = spec.partition(":")
    if name in EMBEDDERS:
        return EMBEDDERS.get(name).from_settings(EmbedderSettings(model, base_url))
    from anabranch.models.onnx_embedder import OnnxEmbedder

    return OnnxEmbedder(Path(spec))
