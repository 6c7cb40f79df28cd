"""The check `nli`: does a claim follow from the words that are shown for it?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from anabranch.registry import Registry
from anabranch.types import Judgement


class Entailment(Protocol):
    """A loaded model of natural language inference; safe to share between threads."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Judge (claim, evidence) pairs; blocks.

        Raises:
            ModelError: The model gives no numbers.
        """
        ...


ENTAILMENT_CHECKS: Registry[Callable[[str], Entailment]] = Registry("entailment check", {})
"""Functions that load a model from the setting `verify_model`, by values of the setting `verify`."""


def load_entailment(folder: str) -> Entailment:
    """Return the model of a folder, loaded once; blocks.

    Raises:
        SettingsError: No folder was given, or its model is none of inference.
        MissingExtraError: The plugin that runs such models is not installed.
    """
    return ENTAILMENT_CHECKS.get("nli")(folder)
