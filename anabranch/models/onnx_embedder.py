"""Local embeddings through onnxruntime: the bundled all-MiniLM-L6-v2, or a model that a plugin found in a folder.

Each text goes through the model alone: its vector is the same to the last bit whatever is embedded with it, no time is
spent on padding, and several texts are computed at once, one per thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import ModelError, SettingsError
from anabranch.models.embedder import EmbedderSettings, Vectors, unit_rows
from anabranch.models.minilm.bundled import MINILM_NAME, bundled_model, open_bundled
from anabranch.models.onnx_session import input_types
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER, EncodedText, Pieces, WordPieces
from anabranch.text.scripts import HAN

# What the bundled model sees of a text, special tokens included; it was trained with no more.
TOKENS = 256
# A model for Chinese or Russian reads two of these; the second is Latin.
_SCRIPTS, _MANY = ("Latin", "Cyrillic", "Greek", "Arabic", "Devanagari", "Thai", HAN), 3
# Output of a model that was exported with its pooling inside.
SENTENCE = "sentence_embedding"


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """How a text becomes a vector.

    Attributes:
        name: Another one whenever a text's vector would be.
        open: Opens the model for so many threads.
        tokenizer: Its tokenizer.json, or one that is made already.
        limit: Most tokens of a text, special ones included.
        pool: Makes one vector of those of the tokens, shape (tokens, dimension).
        query: What the model wants in front of a question.
        passage: What it wants in front of a passage.
    """

    name: str
    open: Callable[[int], Any]
    tokenizer: Path | Pieces
    limit: int
    pool: Callable[[NDArray[Any]], NDArray[Any]]
    query: str = ""
    passage: str = ""


def mean(tokens: NDArray[Any]) -> NDArray[Any]:
    """Return the mean of the vectors of a text's tokens."""
    return np.asarray(tokens.mean(axis=0))


class OnnxEmbedder:
    """Embeds with an ONNX model on the CPU; loaded once, on the first use, and safe to share between threads."""

    def __init__(self, model: SentenceModel | None = None, *, threads: int | None = None) -> None:
        """Take a model, or nothing for the bundled one.

        One call computes `threads` texts at a time, as many as there are cores by default.

        Raises:
            SettingsError: The tokenizer cannot be read.
            CorpusDamagedError: The bundled model is not the one that its name promises.
        """
        self._threads = threads or os.cpu_count() or 1
        self._model = model or _bundled_sentence_model()
        own = self._model.tokenizer
        self._pieces: Pieces = WordPieces(own, limit=self._model.limit) if isinstance(own, Path) else own
        self._lock = threading.Lock()
        self._session: Any = None

    @classmethod
    def from_settings(cls, settings: EmbedderSettings) -> Self:
        """Make the bundled one.

        Raises:
            SettingsError: A model was named: it has but one.
        """
        if settings.model:
            msg = f"The embedder 'minilm' has no models to choose from, so 'minilm:{settings.model}' is none."
            raise SettingsError(msg, hint="Use 'minilm' alone, or the path of a folder with a model of your own.")
        return cls()

    @property
    def name(self) -> str:
        """The bundled model's name, else `onnx:`, the folder's name and a hash of its files and recipe."""
        return self._model.name

    @property
    def dimension(self) -> int:
        """Length of each vector, from the model itself."""
        width = output_of(self._load()).shape[-1]
        return width if isinstance(width, int) else int(self.embed(["dimension"]).shape[1])

    @property
    def limit(self) -> int:
        """Most tokens of a text that the model reads, special ones included."""
        return self._model.limit

    @property
    def tokenizer(self) -> Path | None:
        """What it counts tokens with, for whoever counts in another process; None where that is no file."""
        return self._pieces.file

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per passage, in order; a text past the model's limit is cut there.

        Raises:
            ModelError: A tokenizer without special tokens finds nothing in a text, or a vector has no direction.
        """
        return self._embed([f"{self._model.passage}{text}" for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per question, in order; as `embed`, with what the model wants in front of a question."""
        return self._embed([f"{self._model.query}{text}" for text in texts])

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in tokens, without special tokens, uncut."""
        return self._pieces.count(texts)

    def reads(self, script: str) -> bool:
        """Tell by its vocabulary whether the model was trained on texts in a script."""
        return self._pieces.reads(script)

    @property
    def is_multilingual(self) -> bool:
        """Whether its vocabulary has words of several scripts, which only a model for many languages needs."""
        return sum(map(self._pieces.reads, _SCRIPTS)) >= _MANY

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of `text`, in order."""
        return self._pieces.offsets(text)

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the unit vectors of each text's tokens, shape (tokens, dimension), without the special ones.

        Raises:
            SettingsError: The model was exported with its pooling inside, and gives one vector for a text.
            ModelError: The tokenizer finds nothing in a text.
        """
        if texts and output_of(self._load()).name == SENTENCE:
            msg = f"The model of {self.name!r} gives one vector for a text, and none for its tokens."
            raise SettingsError(msg, hint="Export it without its pooling: its first output is last_hidden_state.")
        encodings = self._encode(texts)
        found = []
        for encoding, states in zip(encodings, self._compute_each(encodings, self._states), strict=True):
            own = np.asarray(encoding.special_tokens_mask) == 0
            found.append(unit_rows(states[own], count=int(own.sum()), embedder=self.name))
        return found

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit_rows(
            np.stack(self._compute_each(self._encode(texts), self._pooled)), count=len(texts), embedder=self.name
        )

    def _encode(self, texts: Sequence[str]) -> Sequence[EncodedText]:
        encodings = self._pieces.encode(texts)
        for text, encoding in zip(texts, encodings, strict=True):
            if not len(encoding):
                msg = f"The tokenizer of {self.name!r} finds no token in {text[:80]!r}."
                raise ModelError(
                    msg, hint="Give its tokenizer.json the special tokens that the model was trained with."
                )
        return encodings

    def _compute_each(
        self, encodings: Sequence[EncodedText], compute: Callable[[EncodedText], NDArray[np.float32]]
    ) -> list[NDArray[np.float32]]:
        """Return what `compute` gives for each text, in order, several of them at a time."""
        self._load()
        workers = min(self._threads, len(encodings))
        if workers <= 1:
            return [compute(encoding) for encoding in encodings]
        # The longest first, so that no thread is left alone with a long text at the end.
        order = sorted(range(len(encodings)), key=lambda row: -len(encodings[row]))
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            found = dict(zip(order, pool.map(lambda row: compute(encodings[row]), order), strict=True))
        return [found[row] for row in range(len(encodings))]

    def _pooled(self, encoding: EncodedText) -> NDArray[np.float32]:
        found = self._states(encoding)
        if output_of(self._load()).name == SENTENCE:
            return found
        return np.asarray(self._model.pool(found), dtype=np.float32)

    def _states(self, encoding: EncodedText) -> NDArray[np.float32]:
        """Run the model: shape (tokens, dimension), or (dimension,) where the pooling is inside it."""
        session = self._load()
        length = len(encoding)
        known = {"input_ids": encoding.ids, "attention_mask": [1] * length, "token_type_ids": [0] * length}
        feed = {name: np.asarray([known[name]], dtype) for name, dtype in input_types(session).items()}
        return np.asarray(session.run([output_of(session).name], feed)[0][0], dtype=np.float32)

    def _load(self) -> Any:  # noqa: ANN401  (onnxruntime has no types)
        with self._lock:
            if self._session is None:
                self._session = self._model.open(self._threads)
            return self._session


def _bundled_sentence_model() -> SentenceModel:
    file = bundled_model()
    return SentenceModel(MINILM_NAME, lambda _threads: open_bundled(file), MINILM_TOKENIZER, TOKENS, mean)


def output_of(session: Any) -> Any:  # noqa: ANN401  (onnxruntime has no types)
    """Return the pooled output where the model has one, else its first, which is last_hidden_state."""
    outputs = session.get_outputs()
    return next((each for each in outputs if each.name == SENTENCE), outputs[0])
