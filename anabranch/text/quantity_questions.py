"""Words that ask for a quantity, which say nothing of what the passage says: "how many" is answered by "4,453"."""

from __future__ import annotations

import re

_BY_LANGUAGE = {
    "danish": r"hvor (?:mange|meget)",
    "dutch": r"hoeveel",
    "english": r"how (?:many|much)",
    "finnish": r"(?:kuinka|miten) (?:monta|paljon)",
    "french": r"combien",
    "german": r"wie ?viele?[mnrs]?",
    "italian": r"quant[aeio]",
    "norwegian": r"hvor (?:mange|mye)",
    "portuguese": r"quant[ao]s?",
    "romanian": r"c[âa][tț][iăe]?",
    "russian": r"сколько",
    "spanish": r"cu[áa]nt[ao]s?",
    "swedish": r"hur (?:många|mycket)",
    "turkish": r"kaç",
}
# At the beginning of a question or behind a short word: elsewhere "much" may be what is asked about.
_ASKED = re.compile(rf"^(\W*(?:\w{{1,5}}\s+)?)(?:{'|'.join(_BY_LANGUAGE.values())})(?!\w)", re.IGNORECASE)

# "How long" may be answered by "40 minutes". For a search these words are kept: "3 m high" has them.
_DEGREES = {
    "danish": r"hvad koster|hvor (?:gammelt?|højt?|langt?|længe|ofte|stort?)",
    "dutch": r"wat kost(?:en)?|hoe (?:groot|hoog|laat|lang|oud|vaak|ver|zwaar)",
    "english": r"how (?:big|deep|far|fast|heavy|high|large|late|long|often|old|soon|tall|wide)",
    "french": r"combien de temps",
    "german": r"was kosten?t?|wie (?:alt|breit|groß|hoch|lange?|oft|schnell|schwer|spät|tief|weit)",
    "italian": r"quant[ao] tempo",
    "norwegian": r"hva koster|hvor (?:gammelt?|høyt?|langt?|lenge|ofte|stort?)",
    "spanish": r"cu[áa]nto tiempo",
    "swedish": r"vad kostar|hur (?:gammalt?|högt?|långt?|länge|ofta|stort?)",
}
_MEASURED = re.compile(
    rf"^\W*(?:\w{{1,5}}\s+)?({'|'.join([*_DEGREES.values(), *_BY_LANGUAGE.values()])})(?!\w)", re.IGNORECASE
)


def measure_words(question: str) -> frozenset[str]:
    """Return the words that ask how much or how long, in lower case: a passage that answers may have none of them."""
    found = _MEASURED.match(question)
    return frozenset(found[1].lower().split()) if found else frozenset()


def without_quantity_words(question: str) -> str:
    """Return a question for a search by words, without those that only ask for a quantity."""
    rest = _ASKED.sub(r"\1", question)
    return rest if any(map(str.isalnum, rest)) else question
