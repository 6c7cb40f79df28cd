"""The embedder `multilingual`: multilingual-e5-small (Wang et al. 2024), trained on texts in 94 languages."""

from __future__ import annotations

from typing import Self

from anabranch.errors import SettingsError
from anabranch.models.embedder import EmbedderSettings
from anabranch.models.minilm.bundled import open_encoder
from anabranch.models.onnx_embedder import OnnxEmbedder, SentenceModel, mean
from anabranch_onnx.multilingual.built_model import MODEL, MODEL_NAME, check_weights, read_vocabulary, ready_model
from anabranch_onnx.multilingual.unigram_pieces import UnigramPieces

# What the model sees of a text, special tokens included; it was trained with no more.
TOKENS = 512
# What it was trained to find in front of a question and of a passage.
QUERY, PASSAGE = "query: ", "passage: "


class MultilingualEmbedder(OnnxEmbedder):
    """Embeds in any of many languages, on the CPU."""

    @staticmethod
    def check_package() -> None:
        """Return if the model is made, or can be.

        Raises:
            MissingExtraError: The package with its weights is not installed.
        """
        check_weights()

    @classmethod
    def from_settings(cls, settings: EmbedderSettings) -> Self:
        """Open the model in the user's cache, and make it first where it is missing.

        Raises:
            SettingsError: A model was named: it has but one. Or the package with its weights holds another file.
            MissingExtraError: The model has to be made, and that package is not installed.
            OperationError: The cache cannot be written to.
        """
        if settings.model:
            msg = (
                f"The embedder 'multilingual' has no models to choose from, so 'multilingual:{settings.model}' is none."
            )
            raise SettingsError(msg, hint="Use 'multilingual' alone, or the path of a folder with a model of your own.")
        folder = ready_model(settings.progress)
        pieces = UnigramPieces(read_vocabulary(folder), limit=TOKENS)
        file = str(folder / MODEL)
        return cls(SentenceModel(MODEL_NAME, lambda _threads: open_encoder(file), pieces, TOKENS, mean, QUERY, PASSAGE))
