"""Local embeddings through onnxruntime: the bundled all-MiniLM-L6-v2, or a folder of the user's.

Mean pooling and unit length, as in Sentence-BERT (Reimers and Gurevych 2019, section 3). Each text goes through the
model alone: its vector is the same to the last bit whatever is embedded with it, no time is spent on padding, and
several texts are computed at once, one per thread.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import ModelError, SettingsError
from anabranch.models.checksums import sha256
from anabranch.models.embedding import Vectors
from anabranch.models.minilm.bundled import MINILM_NAME, bundled_model, open_bundled
from anabranch.models.sessions import open_session
from anabranch.models.unit import unit_rows
from anabranch.models.wordpieces import MINILM_TOKENIZER, WordPieces

TOKENS = 256
"""What the model sees of a text, special tokens included; all-MiniLM-L6-v2 was trained with no more."""


class OnnxEmbedder:
    """Embeds with an ONNX model on the CPU; loaded once, on the first use, and safe to share between threads."""

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        """Take a folder with `model.onnx` and `tokenizer.json`, or nothing for the bundled model.

        Args:
            folder: The user's model; `1_Pooling/config.json` is honoured where there is one.
            threads: Most texts that one call computes at a time; as many as there are cores by default.

        Raises:
            SettingsError: A file is missing from the folder, or cannot be read.
            CorpusDamagedError: The bundled model is not the one that its name promises.
        """
        self._folder = folder
        self._threads = threads or os.cpu_count() or 1
        self._model_file = bundled_model() if folder is None else _file_in(folder, "model.onnx")
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

    @property
    def tokenizer(self) -> Path:
        """What it counts tokens with, for whoever counts in another process."""
        return self._pieces.file

    def load(self) -> None:
        """Load the model now, so that the first text does not wait for it."""
        self._loaded()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text, in order; a text past 256 tokens is cut there.

        Raises:
            ModelError: A tokenizer without special tokens finds nothing in a text, or a vector has no direction.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        encodings = self._pieces.encode(texts)
        for text, encoding in zip(texts, encodings, strict=True):
            if not len(encoding):
                msg = f"The tokenizer of {self.name!r} finds no token in {text[:80]!r}."
                raise ModelError(
                    msg, hint="Give its tokenizer.json the special tokens that the model was trained with."
                )
        # The longest first, so that no thread is left alone with a long text at the end.
        order = sorted(range(len(texts)), key=lambda row: -len(encodings[row]))
        pooled = self._each([encodings[row] for row in order])
        rows = np.empty((len(texts), len(pooled[0])), dtype=np.float32)
        rows[order] = pooled
        return unit_rows(rows, count=len(texts), embedder=self.name)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in tokens, without special tokens, uncut."""
        return self._pieces.count(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of `text`, in order."""
        return self._pieces.offsets(text)

    def _each(self, encodings: Sequence[Any]) -> list[NDArray[np.float32]]:
        self._loaded()
        workers = min(self._threads, len(encodings))
        if workers == 1:
            return [self._pooled(encoding) for encoding in encodings]
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            return list(pool.map(self._pooled, encodings))

    def _pooled(self, encoding: Any) -> NDArray[np.float32]:  # noqa: ANN401  (tokenizers' Encoding, unhashable)
        session = self._loaded()
        ids = np.asarray([encoding.ids], dtype=np.int64)
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        feed = {each.name: known[each.name] for each in session.get_inputs()}
        hidden = session.run([session.get_outputs()[0].name], feed)[0][0]
        return np.asarray(hidden[0] if self._first_token_only else hidden.mean(axis=0), dtype=np.float32)

    def _loaded(self) -> Any:  # noqa: ANN401  (onnxruntime has no types)
        with self._lock:
            if self._session is None:
                file, bundled = self._model_file, self._folder is None
                self._session = open_bundled(file) if bundled else _open_folder(file, self._threads)
            return self._session


def _open_folder(file: Path, threads: int) -> Any:  # noqa: ANN401  (onnxruntime has no types)
    try:
        session = open_session(str(file), threads=threads)
    except Exception as error:  # onnxruntime has a type of its own for each kind of fault
        msg = f"The model {str(file)!r} cannot be loaded: {str(error)[:300]}"
        raise SettingsError(msg, hint="Point to a folder with a model.onnx that onnxruntime can run.") from error
    unknown = {each.name for each in session.get_inputs()} - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown or len(session.get_outputs()[0].shape) != 3:
        msg = f"The model {str(file)!r} does not take token ids to token vectors (unknown inputs: {sorted(unknown)!r})."
        raise SettingsError(msg, hint="Export the encoder alone: its first output is last_hidden_state.")
    return session


def _name(folder: Path | None, model_file: Path, tokenizer_file: Path) -> str:
    if folder is None:
        return MINILM_NAME
    both = hashlib.sha256((sha256(model_file) + sha256(tokenizer_file)).encode()).hexdigest()
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
