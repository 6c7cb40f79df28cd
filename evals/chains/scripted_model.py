"""Models that are played: a script that is told what it is asked, and one that reads a made world."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from anabranch.agent.prompts import FOLLOW, REWRITE
from evals.chains.worlds import MadeQuestion, World
from evals.scripted_chat import ScriptedChat

NOTHING = "None"
Script = Callable[[str, str], str]
"""Returns a reply to a system message and a user message."""

_ENVELOPE = re.compile(r"<passages-[0-9a-f]+>\n(.*?)\n</passages-", re.DOTALL)
_HEAD = re.compile(r"(?:^|(?<=\n\n))\[\d+\][^\n]*\n")
_NAMED = re.compile(r"(?:designed by|was born in|have the number) ([^,.]+?)(?: and | since |[,.])")


def play(script: Script) -> ScriptedChat:
    """Return a chat model whose replies a script makes."""

    def reply(messages: Sequence[BaseMessage]) -> AIMessage:
        system = "\n".join(message.text for message in messages if isinstance(message, SystemMessage))
        user = next((message.text for message in reversed(messages) if message.type == "human"), "")
        return AIMessage(script(system, user))

    return ScriptedChat(script=reply)


def step_asked(system: str) -> str:
    """Return the step that asks: `rewrite`, `follow`, or `create` for one that writes."""
    if system.startswith(FOLLOW[:60]):
        return "follow"
    return "rewrite" if any(system.startswith(form[:60]) for form in REWRITE.values()) else "create"


def passages_shown(user: str) -> list[str]:
    """Return the passages of a prompt, without their labels."""
    # Not by `unwrap`, which knows the envelopes of its own process alone: a run may be played in another one.
    found = _ENVELOPE.search(user)
    return [text.strip() for text in _HEAD.split(found[1])[1:]] if found else []


def question_asked(user: str) -> str:
    """Return what follows the passages of a prompt."""
    return user.rpartition("</passages-")[2]


class WorldReader:
    """The script of a model that reads: what it says stands in a passage that it is shown.

    It plans a question of the world, copies at most two values of passages that name what is asked for, and writes the
    answer if it is shown the question's last passage and has been shown each one before it; else it says that it does
    not know. It is shown nothing else of the world.
    """

    def __init__(self, world: World) -> None:
        self._questions: Mapping[str, MadeQuestion] = {question.text: question for question in world.questions}

    def __call__(self, system: str, user: str) -> str:
        """Reply to one call."""
        step, asked = step_asked(system), question_asked(user) or user
        if step == "follow":
            return "\n".join(self._read_values(asked, passages_shown(user))[:2]) or NOTHING
        question = next((each for text, each in self._questions.items() if text in asked), None)
        if question is None:
            return NOTHING
        if step == "rewrite":
            return f"{question.thing}\n{question.plan}"
        shown = passages_shown(user)
        knows = all(any(gold in passage for passage in shown) for gold in question.gold)
        return question.answer if knows else "The passages do not tell."

    def _read_values(self, asked: str, shown: list[str]) -> list[str]:
        """Return what passages say in answer to the questions of a step, in the order of the passages."""
        values = []
        for passage in shown:
            subject = _subject_of(asked)
            found = _NAMED.search(passage) if any(each in passage for each in subject) else None
            if found:
                values.append(found[1])
        return list(dict.fromkeys(values))


def _subject_of(asked: str) -> list[str]:
    """Return what the questions of a step are about."""
    return re.findall(r"(?:designed the|file about the|was) ([A-Z][^?]*?)(?: have| born)?\?", asked)
