"""The file of 4-bit weights: what is read of it, and that a file which is none is refused."""

from __future__ import annotations

from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anabranch.errors import SettingsError
from anabranch.models.minilm.bundled import open_encoder
from anabranch.models.minilm.encoder import int8_encoder
from anabranch_onnx.multilingual.quantised_weights import QuantisedWeights
from plugins.onnx.tests.multilingual.tiny_weights import (
    BEGIN,
    END,
    LAYERS,
    PIECES,
    POSITIONS,
    SCORES,
    UNKNOWN,
    WIDENED,
    WIDTH,
    content,
    head,
    values,
    write,
)


def _normed(rows: NDArray[Any], name: str) -> NDArray[Any]:
    middle, spread = rows.mean(axis=1, keepdims=True), rows.var(axis=1, keepdims=True)
    return (rows - middle) / np.sqrt(spread + 1e-12) * values(f"{name}.w") + values(f"{name}.b")


def _product(rows: NDArray[Any], name: str, columns: int = WIDTH) -> NDArray[Any]:
    return rows @ values(f"{name}.w", columns).T + values(f"{name}.b")


def _by_head(rows: NDArray[Any]) -> NDArray[Any]:
    return rows.reshape(-1, 12, 32).transpose(1, 0, 2)


def expected_states(ids: list[int]) -> NDArray[Any]:
    """Compute the hidden states in floats, straight from the description of BERT."""
    positions = values("emb.pos").reshape(-1, WIDTH)[: len(ids)]
    hidden = _normed(values("emb.word", WIDTH)[ids] + positions + values("emb.type"), "emb.ln")
    for layer in (f"l{number}" for number in range(LAYERS)):
        query, key, value = (_by_head(_product(hidden, f"{layer}.{part}")) for part in "qkv")
        shares = np.exp(query @ key.transpose(0, 2, 1) / sqrt(32))
        shares /= shares.sum(axis=-1, keepdims=True)
        seen = (shares @ value).transpose(1, 0, 2).reshape(-1, WIDTH)
        hidden = _normed(_product(seen, f"{layer}.ao") + hidden, f"{layer}.aln")
        wide = _product(hidden, f"{layer}.fi")
        gelu = wide * (1 + np.vectorize(erf)(wide / sqrt(2))) / 2
        hidden = _normed(_product(gelu, f"{layer}.fo", WIDENED) + hidden, f"{layer}.oln")
    return hidden


def test_the_encoder_computes_what_the_floats_do(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    weights = QuantisedWeights(write(tmp_path)).weights(lambda done, total: seen.append((done, total)))
    session: Any = open_encoder(int8_encoder(weights))
    for ids in ([BEGIN, 22, END], list(range(len(PIECES)))):
        (found,) = session.run(None, {"input_ids": np.array([ids])})
        expected = expected_states(ids)
        assert found.shape == (1, len(ids), WIDTH)
        cosine = (found[0] * expected).sum() / np.linalg.norm(found) / np.linalg.norm(expected)
        assert cosine > 0.999
    assert seen == [(1, 1 + LAYERS), (2, 1 + LAYERS)]


def test_the_pieces_have_their_scores(tmp_path: Path) -> None:
    opened = QuantisedWeights(write(tmp_path))
    assert opened.shape.positions == POSITIONS
    assert opened.table.pieces == PIECES
    assert (opened.table.begin, opened.table.end, opened.table.unknown) == (BEGIN, END, UNKNOWN)
    np.testing.assert_array_equal(opened.table.scores, SCORES)


def _read(file: Path) -> None:
    QuantisedWeights(file).weights(lambda _done, _total: None)


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (content(head(magic=b"GGUF")), "begins with b'GGUF'"),
        (content(head(width=512)), "its shape is (512,"),
        (content(head(pieces=["a", "a", "b", "c"])), "not distinct words"),
        (content(head(pieces=["a", "b\n", "c", "d"])), "not distinct words"),
        (content(without="l0.ao.w"), "has no tensor 'l0.ao.w'"),
        (content(without="emb.word"), "has no tensor 'emb.word'"),
    ],
)
def test_another_file_is_refused_with_its_reason(stored: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(stored)
    with pytest.raises(SettingsError) as caught:
        _read(file)
    assert why in caught.value.message
    assert "pip install --force-reinstall" in str(caught.value.hint)


@pytest.mark.parametrize("share", [0.0, 0.00001, 0.0005, 0.001, 0.002, 0.3, 0.7, 0.999999])
def test_a_file_that_ends_early_is_refused(share: float, tmp_path: Path) -> None:
    whole, file = content(), tmp_path / "weights"
    file.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(SettingsError):
        _read(file)


def test_every_cut_of_the_beginning_is_refused(tmp_path: Path) -> None:
    start, file = head(), tmp_path / "weights"
    for length in range(1, len(start), 7):
        file.write_bytes(start[:length])
        with pytest.raises(SettingsError):
            QuantisedWeights(file)
