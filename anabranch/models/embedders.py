"""From the spelling in a setting to an embedder ready for use."""

from __future__ import annotations

import threading
from pathlib import Path

from anabranch.errors import SettingsError
from anabranch.models.embedder import Embedder
from anabranch.models.lru import LRU
from anabranch.models.sentence_folder import model_file

DEFAULT_EMBEDDER = "minilm"

_lock = threading.Lock()
KEPT = 8
"""Embedders that are kept; a corpus that is open holds its own."""

_loaded: LRU[tuple[str, str | None, int], Embedder] = LRU(KEPT)


def load_embedder(spec: str, base_url: str | None = None) -> Embedder:
    """Return the embedder of that spelling, made once and kept for a while; blocks, so call it from a thread.

    Args:
        spec: `minilm`, `openai:<model>`, or the path of a folder (see `anabranch.models.sentence_folder`).
        base_url: OpenAI-compatible server, for `openai:` alone.

    Raises:
        SettingsError: The spelling is none of these.
        MissingKeyError: A hosted embedder without its key.
    """
    spec = settled_spec(spec)
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
        SettingsError: Neither `minilm`, nor `openai:<model>`, nor a folder with a model.
    """
    spec = spec.strip()
    provider, _, model = spec.partition(":")
    if spec == DEFAULT_EMBEDDER or (provider == "openai" and model):
        return spec
    if spec and Path(spec).is_dir():
        model_file(Path(spec))
        return str(Path(spec).resolve())
    msg = f"Unknown embedder {spec!r}."
    hint = "Use 'minilm', 'openai:text-embedding-3-small', or the path of a folder with model.onnx and tokenizer.json."
    raise SettingsError(msg, hint=hint)


def _newest(folder: Path) -> int:
    """Return when the folder's model or one of its settings was last written."""
    settings = [*folder.glob("*.json"), folder / "1_Pooling" / "config.json"]
    return max(file.stat().st_mtime_ns for file in [model_file(folder), *settings] if file.is_file())


def _new_embedder(spec: str, base_url: str | None) -> Embedder:
    if spec == DEFAULT_EMBEDDER:
        from anabranch.models.onnx_embedder import OnnxEmbedder

        return OnnxEmbedder()
    if spec.startswith("openai:"):
        from anabranch.models.openai_embedding import OpenAIEmbedder

        return OpenAIEmbedder(spec.removeprefix("openai:"), base_url)
    from anabranch.models.onnx_embedder import OnnxEmbedder

    return OnnxEmbedder(Path(spec))
