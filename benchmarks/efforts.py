"""Count what each effort asks a chat model for: calls and prompt tokens, over questions about this guide.

    python -m benchmarks.efforts [--write]

The questions are 25 headings of `docs/`, which is the corpus, too. The model is scripted: it writes three further
queries, finds the evidence enough, answers in three sentences of the passages, and says yes to each of them. Tokens are
those of the corpus's tokenizer. With `--write` the figures go into `benchmarks/efforts.json`, of which
`python scripts/docs.py` makes a part of the guide's table. No time is measured: seconds follow from a reading speed.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean

from langchain_core.messages import AIMessage, BaseMessage

from anabranch import answer, ingest
from anabranch.agent.nodes.efforts import EFFORTS
from anabranch.agent.prompts import GRADE, GUARD, JUDGE
from benchmarks.answering.model import reply
from evals.scripted_chat import ScriptedChat

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "benchmarks" / "efforts.json"
QUESTIONS = 25
_HEADING = re.compile(r"^## (How .+)$", re.MULTILINE)


def _count_prompts(sent: list[list[str]]) -> ScriptedChat:
    """Return a scripted model that adds the texts of each of its prompts to a list."""

    def write(messages: Sequence[BaseMessage]) -> AIMessage:
        texts = [str(message.text) for message in messages]
        sent.append(texts)
        if texts[0] == JUDGE:
            return AIMessage("Yes.")
        if texts[0].startswith(GRADE.strip()):
            return AIMessage('{"sufficient": true, "missing": ""}')
        return AIMessage(reply([{"role": {"human": "user"}.get(m.type, m.type), "content": m.text} for m in messages]))

    return ScriptedChat(script=write)


def list_questions(docs: Path, most: int = QUESTIONS) -> list[str]:
    """Return headings of a guide as questions, evenly spread over its pages."""
    found = [
        f"{heading}?" for page in sorted(docs.glob("*.md")) for heading in _HEADING.findall(page.read_text("utf-8"))
    ]
    return [found[len(found) * place // most] for place in range(min(most, len(found)))]


def measure(corpus: str, questions: Sequence[str], count: Callable[[str], int]) -> dict[str, dict[str, float]]:
    """Return the figures of each effort.

    Returns:
        By effort: `calls` and `prompt_tokens` of a question, `first_tokens` (those of the calls up to the answer's),
        all means, and `most_calls`.
    """
    figures: dict[str, dict[str, float]] = {}
    for effort in EFFORTS:
        calls: list[int] = []
        tokens: list[int] = []
        first: list[int] = []
        for question in questions:
            sent: list[list[str]] = []
            answer(question, corpus=corpus, model=_count_prompts(sent), effort=effort)
            sizes = [sum(map(count, texts)) for texts in sent]
            writes = [texts[0].startswith(GUARD) for texts in sent]
            calls.append(len(sizes))
            tokens.append(sum(sizes))
            first.append(sum(sizes[: writes.index(True) + 1]))
        figures[effort] = {
            "calls": round(mean(calls), 1),
            "most_calls": max(calls),
            "prompt_tokens": round(mean(tokens)),
            "first_tokens": round(mean(first)),
        }
    return figures


def main() -> None:
    """Measure and print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    from anabranch.models.embedders import load_embedder

    embedder = load_embedder("minilm")
    with tempfile.TemporaryDirectory() as folder:
        corpus = f"{folder}/corpus"
        ingest(ROOT / "docs", corpus)
        questions = list_questions(ROOT / "docs")
        figures = measure(corpus, questions, lambda text: embedder.count([text])[0])
    text = json.dumps({"questions": len(questions), **figures}, indent=2) + "\n"
    print(text)
    if write:
        REPORT.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
