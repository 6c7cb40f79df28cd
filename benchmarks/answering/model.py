"""A model that answers as it is asked to, whoever asks: it reads the form of its reply off the instructions.

Nothing here depends on who sent a prompt, only on what the prompt asks for: search queries (lines or JSON), relevances
(`Doc: 9, Relevance: 7` or JSON), what is new to an answer so far, an answer with markers, or plain prose. An answer is
always three sentences of 20 words that stand in the prompt, however long the prompt is, and what is added to one is a
sentence. So the length of a reply follows from its form, never from who asks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

INSTRUCTIONS = 900
"""Characters in which the form of the reply is looked for: of the system message, or else of the whole prompt, and of
the last paragraph, where some put what they ask for."""

SENTENCES = 3
WORDS = 20

_TOKEN = re.compile(r"\s*(?:\w+|[^\w\s])")
_RULER = re.compile(r"^\s*[-_=]{5,}\s*$", re.MULTILINE)
_ENVELOPE = re.compile(r"<passages-[0-9a-f]+>\n(.*?)\n</passages-", re.DOTALL)
_HEAD = re.compile(r"(?:^|(?<=\n\n))\[(\d+)\][^\n]*\n")
_DOCUMENT = re.compile(r"^Document (\d+):", re.MULTILINE)
_BEGINNING = re.compile(r"(?:^|(?<=[.!?]\s))[A-Z]", re.MULTILINE)
_MARKER = re.compile(r" \[\d+\]")
_MARKED = re.compile(r"[^.!?\n]+(?:\[\d+\])+\.")
_ASKED = re.compile(r'(?:question|query):[ \t]*"?([^\n"]+)', re.IGNORECASE)


def pieces(text: str) -> list[str]:
    """Split a text into tokens that together are the text: words and punctuation marks, each with the space before."""
    found = _TOKEN.findall(text)
    return [*found[:-1], found[-1] + text[sum(map(len, found)) :]] if found else []


def tokens(text: str) -> int:
    """Count tokens as `pieces` does: the same way for every system, and rather fewer than a real tokenizer."""
    return len(_TOKEN.findall(text))


def texts(messages: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, str]]:
    """Yield role and text of each chat message, whether its content is a string or a list of parts."""
    for message in messages:
        content = message.get("content") or ""
        parts = content if isinstance(content, list) else [{"text": content}]
        yield str(message.get("role")), "".join(str(part.get("text", "")) for part in parts)


def variants(question: str) -> list[str]:
    """Return three further search queries for a question: known before anyone asks, so that each has its vector."""
    words = question.strip(" ?.").split()
    longest = sorted(words, key=len, reverse=True)[:6]
    return [
        " ".join(words[: max(3, len(words) * 2 // 3)]),
        " ".join(word for word in words if word in longest),
        f"explanation of {' '.join(words)}",
    ]


def reply(messages: Iterable[Mapping[str, object]]) -> str:
    """Return the reply to chat messages."""
    said = list(texts(messages))
    system = "\n".join(text for role, text in said if role in {"system", "developer"})
    whole = "\n\n".join(text for _, text in said)
    # Passages often stand below a ruler, some systems put them into the system message: they are no instructions.
    last = whole.rpartition("\n\n")[2]
    instructions = "\n\n".join(
        part[:INSTRUCTIONS] for part in (_RULER.split(system or whole)[0], _RULER.split(last)[-1])
    )
    return next(write for wanted, write in FORMS if re.search(wanted, instructions, re.DOTALL))(whole)


def _question(prompt: str) -> str:
    found = _ASKED.findall(prompt)
    return found[-1].strip() if found else prompt.strip().splitlines()[-1]


def _lines(prompt: str) -> str:
    return "\n".join(variants(_question(prompt)))


def _expansions(prompt: str) -> str:
    return json.dumps({"queries": variants(_question(prompt))})


def _numbers(prompt: str) -> list[int]:
    """Return the numbers of the documents to be judged, past those of an example."""
    marked = [number for number, _ in _passages(prompt)]
    return marked or [int(number) for number in _DOCUMENT.findall(prompt.rpartition("try this now")[2])]


def _judged(prompt: str) -> list[tuple[int, int]]:
    """Judge every document relevant, more or less: (relevance, number), the best first."""
    return sorted(((10 - _chance(f"{prompt}{number}", 8), number) for number in _numbers(prompt)), reverse=True)


def _relevances(prompt: str) -> str:
    return "\n".join(f"Doc: {number}, Relevance: {relevance}" for relevance, number in _judged(prompt))


def _ranking(prompt: str) -> str:
    order = sorted(_numbers(prompt), key=lambda number: _chance(f"{prompt}{number}", 256))
    return json.dumps({"documents": [{"index": number} for number in order]})


def _prose(prompt: str) -> str:
    """Answer in three sentences that stand in the last part of the prompt."""
    starts = [found.start() for found in _BEGINNING.finditer(prompt, len(prompt) // 4)] or [0]
    chosen = [starts[len(starts) * place // SENTENCES] for place in range(SENTENCES)]
    return " ".join(f"{_said(prompt[start:])}." for start in chosen)


def _passages(prompt: str) -> list[tuple[int, str]]:
    """Return the number of each passage and its text, without its label."""
    found = _ENVELOPE.search(prompt)
    _, *parts = _HEAD.split(found[1] if found else "")
    return [(int(number), text) for number, text in zip(parts[::2], parts[1::2], strict=True)]


def _cited(prompt: str) -> list[tuple[int, str]]:
    """Return the number of each passage and its text from the first sentence on."""
    found = []
    for number, text in _passages(prompt):
        beginning = _BEGINNING.search(text)
        found.append((number, text[beginning.start() if beginning else 0 :]))
    return found


def _answer(prompt: str) -> str:
    """Answer with markers, from as many passages as there are sentences."""
    passages = _cited(prompt)
    return _marked(passages[place % len(passages)] for place in range(SENTENCES)) if passages else _prose(prompt)


def _plain(prompt: str) -> str:
    """Answer without markers: whoever numbers passages gets what stands in them, and nothing of a label."""
    return _MARKER.sub("", _answer(prompt))


def _joined(prompt: str) -> str:
    """Keep the first sentence of each part, then the second of each, as far as three sentences go."""
    parts = [_MARKED.findall(text) for _, text in _passages(prompt)]
    rows = [part[place].strip() for place in range(SENTENCES) for part in parts if place < len(part)]
    return " ".join(rows[:SENTENCES]) or _prose(prompt)


def _new(prompt: str) -> str:
    """Say what a window has that is new, which one in two does; the more it holds, the more often."""
    new = [text for _, text in _cited(prompt) if _chance(text, 2)][:1]
    return f"{_said(new[0])}." if new else "KEEP"


def _marked(cited: Iterable[tuple[int, str]]) -> str:
    return " ".join(f"{_said(text)} [{number}]." for number, text in cited)


def _said(text: str) -> str:
    """Return the first 20 words as one sentence."""
    return " ".join(re.sub(r"[.!?\[\]]", "", text).split()[:WORDS]).rstrip(",;: ")


def _chance(text: str, sides: int) -> int:
    return hashlib.sha256(text.encode()).digest()[0] % sides


FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (r'\{"queries":', _expansions),
    (r'"documents":.*"index"', _ranking),
    (r"as well as the relevance score", _relevances),
    (r"Doc: \d+, Relevance: \d+", _relevances),
    (r"write only: KEEP", _new),
    (r"\[n\] markers", _joined),
    (r"number of its passage in square brackets", _answer),
    (r"numbered passages of the user's own documents", _plain),
    (r"^You[^\n]{0,60} search queries", _lines),
    (r"different versions of the given", _lines),
    (r"", _prose),
)
"""What instructions ask for, and who writes it; the first that is found."""
