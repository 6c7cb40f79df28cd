"""A folder with a model as transformers, sentence-transformers, transformers.js and optimum leave it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from anabranch.errors import SettingsError
from anabranch.identity.user import UPLOADS
from anabranch.models.onnx_session import open_session

Role = Literal["embedder", "cross-encoder", "inference model"]

# Where a model may lie, the first that is there counts: full precision before 8 bits. Without any of them, the only
# .onnx file there is: downloads of one variant have it under a name of its own (onnx/model_qint8_avx512.onnx).
MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")

HINTS: dict[Role, str] = {
    "embedder": "It needs model.onnx (or onnx/model.onnx) and tokenizer.json; or use embedder='minilm'.",
    "cross-encoder": "Set rerank_model to a folder with model.onnx (or onnx/model.onnx) and tokenizer.json; nothing is "
    "downloaded.",
    "inference model": "Set verify_model to the folder of an ONNX model trained for inference (MNLI): model.onnx, "
    "tokenizer.json and config.json.",
}

_TORCH = ("model.safetensors", "pytorch_model.bin")
# fairseq's way: the positions of these begin behind the number of the padding token, so that many fewer are left.
_SHIFTED = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"})


def model_file(folder: Path, role: Role) -> Path:
    """Return the .onnx file of a folder.

    Raises:
        SettingsError: There is none; the message names what is missing. Or people send files there: a model is run by
            this very process, and not by one that is kept apart as readers of documents are.
    """
    if f"/{UPLOADS}/" in f"{folder.resolve().as_posix()}/":
        msg = f"The folder of the {role}, {str(folder)!r}, holds files that people send to the server."
        raise SettingsError(msg, hint="Keep models of your own in another folder.")
    if not folder.is_dir():
        msg = f"The folder of the {role}, {str(folder)!r}, is not there, or is no folder."
        raise SettingsError(msg, hint=HINTS[role])
    usual = [folder / name for name in MODEL_FILES if (folder / name).is_file()]
    found = usual or [file for place in (folder, folder / "onnx") for file in sorted(place.glob("*.onnx"))]
    if not usual and len(found) > 1:
        names = ", ".join(file.relative_to(folder).as_posix() for file in found)
        msg = f"The {role} folder {str(folder)!r} has several models and no model.onnx: {names}."
        raise SettingsError(msg, hint="Copy the one that this processor can run to model.onnx.")
    if not found:
        msg = f"The {role} folder {str(folder)!r} has no model.onnx."
        is_torch = any((folder / name).is_file() for name in _TORCH)
        hint = "Its weights are for torch. Export them: optimum-cli export onnx --model FOLDER OUT" if is_torch else ""
        raise SettingsError(msg, hint=hint or HINTS[role])
    return found[0]


def tokenizer_file(folder: Path, model: Path, role: Role) -> Path:
    """Return the tokenizer.json of a folder; exports into `onnx/` keep it above the model, some beside it.

    Raises:
        SettingsError: There is none.
    """
    for place in (folder, model.parent):
        if (place / "tokenizer.json").is_file():
            return place / "tokenizer.json"
    msg = f"The {role} folder {str(folder)!r} has no tokenizer.json."
    hint = "Write it with transformers: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"
    raise SettingsError(msg, hint=hint)


def read_json(folder: Path, name: str, kind: type[Any] = dict) -> Any:  # noqa: ANN401  # JSON of the kind asked for
    """Return the content of a file, empty where there is no such file.

    Raises:
        SettingsError: It cannot be read, or holds another kind of JSON than `kind` (dict or list).
    """
    file = folder / name
    try:
        found = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return kind()
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{str(file)!r} cannot be read: {error}"
        raise SettingsError(msg, hint="Repair it, or remove it for the usual values.") from error
    if not isinstance(found, kind):
        msg = f"{str(file)!r} is not a JSON {'list' if kind is list else 'object'}."
        raise SettingsError(msg, hint="Repair it, or remove it for the usual values.")
    return found


def positions(config: Mapping[str, Any], padding: int) -> object:
    """Return how many tokens the positions of a model reach for, by its config.json; None where it does not say."""
    count = config.get("max_position_embeddings")
    return count - padding - 1 if isinstance(count, int) and config.get("model_type") in _SHIFTED else count


def token_limit(stated: Sequence[object], *, least: int, usual: int, most: int) -> int:
    """Return the least of the numbers of tokens stated, at most `most`; `usual` where none from `least` on is."""
    # transformers writes 1e30 for "no limit known". There is a bound whatever a model takes, because attention grows
    # with the square of the length.
    sensible = [int(number) for number in stated if isinstance(number, int | float) and least <= number <= 1_000_000]
    return min([*sensible, most]) if sensible else usual


def open_pairs(model: Path, words: Path) -> tuple[Any, Any]:
    """Return session and tokenizer of a model that reads two texts together; padding and truncation as their file has.

    Raises:
        SettingsError: One of the files cannot be used.
    """
    from tokenizers import Tokenizer

    try:
        return open_session(str(model), threads=0), Tokenizer.from_file(str(words))
    except Exception as error:  # onnxruntime has a type for each kind of fault, the tokenizer none
        msg = f"The model in {str(words.parent)!r} cannot be loaded: {' '.join(str(error).split())[:300]}"
        raise SettingsError(msg, hint="Check that model.onnx and tokenizer.json are whole.") from error
