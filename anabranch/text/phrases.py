"""The program's own phrases for a reader, in the language of the question."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from anabranch.text.function_words import INTERROGATIVES, fold_word
from anabranch.text.language import language_of
from anabranch.text.stopwords import STOP_WORDS

_PHRASES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text("utf-8"))
_WORD = re.compile(r"[^\W\d_]+")
_KINDS = ("greetings", "partings", "thanks", "around_thanks")
_SMALL_TALK = {
    language: {kind: frozenset(map(fold_word, phrases[kind].split())) for kind in _KINDS}
    for language, phrases in _PHRASES.items()
}
_LONGEST = 12
# The end of a greeting; "Hi-Fi" and "Hi.fi" are none.
_PAUSE = re.compile(r"[,.!]\s|\n")
# Most characters before the end of a greeting, and after the start of a final "please".
_OPENING = 200
_PLEASES = [each for phrases in _PHRASES.values() for each in phrases["please"].split(" | ")]
_ANY_PLEASE = "|".join(map(re.escape, _PLEASES)).replace("'", "['’]")
_PLEASE = re.compile(
    rf"(?:(?<![^\W\d_])(?P<before>[^\W\d_]++)|(?<![\s,.!]))[\s,.!]++(?:{_ANY_PLEASE})(?P<end>[\s.!?]*+)\Z",
    re.IGNORECASE,
)
# After these words, "please" belongs to the question: "the word for please", "Please Please Please".
_SMALL = frozenset(map(str.casefold, _PLEASES)).union(*STOP_WORDS.values())
_ASKING = frozenset[str]().union(*INTERROGATIVES.values())


def phrases_for(question: str, language: str = "english", *, silence: str = "") -> dict[str, str]:
    """Return the phrases for a reader who asks this question; English where its language has none.

    Args:
        question: The question as it was asked.
        language: Used if the question is too short to recognise its language.
        silence: The phrase that says why a model that was asked wrote nothing; empty where there is no model.
    """
    phrases = _PHRASES.get(language_of(question, language), _PHRASES["english"])
    if not silence:
        return phrases
    absent = phrases["passages"].partition(":")[0].rstrip()
    return {name: text.replace(absent, phrases[silence]) for name, text in phrases.items()}


def greeting_reply(question: str) -> str:
    """Return the reply to a greeting, to thanks or to a farewell; empty for anything else."""
    found = _WORD.findall(question)
    if not 0 < len(found) <= _LONGEST or any(map(str.isdigit, question)) or "?" in question:
        return ""
    words = frozenset(map(fold_word, found))
    for language, known in _SMALL_TALK.items():
        ending = known["partings"] | known["thanks"]
        around = known["around_thanks"] if words & known["thanks"] else frozenset[str]()
        if words <= known["greetings"] | ending | around:
            # "Hello, and thanks" ends a conversation.
            return _PHRASES[language]["parting" if words & ending else "greeting"]
    return ""


def without_courtesy(question: str) -> str:
    """Return a question without greetings, thanks and a final "please", which would match letters in the documents."""
    pauses = [pause.end() for pause in _PAUSE.finditer(question[:_OPENING]) if not _is_in_a_name(question, pause)]
    begin = max((at for at in pauses if greeting_reply(question[:at])), default=0)
    asked = question[begin:].strip()
    please = _PLEASE.search(asked, max(len(asked) - _OPENING, 0))
    if please and not (please["before"] and please["before"].casefold() in _SMALL):
        end = please.end("before") if please["before"] else please.start()
        asked = asked[:end].rstrip(" ,\n") + please["end"]
    return asked if _WORD.search(asked) else question


def _is_in_a_name(question: str, pause: re.Match[str]) -> bool:
    """Tell whether a name continues after a comma, as in "Good Morning, Vietnam" and "Hello, Dolly"."""
    after = _WORD.match(question, pause.end())
    capital = after is not None and after[0][0].isupper()
    return pause[0][0] == "," and after is not None and capital and fold_word(after[0]) not in _ASKING
