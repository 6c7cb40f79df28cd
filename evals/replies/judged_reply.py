"""A reply sent through the whole graph, and whether what a reader is then shown is as it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from anabranch import answer
from anabranch.agent.prompts import JUDGE, JUDGE_ONE
from evals.replies.reply_set import KINDS, ScriptedQuestion
from evals.replies.shown_passages import corpus_of

TRUE_KINDS = ("right", "longer")
FALSE_KINDS = ("wrong", "invented")

Answering = Callable[[str, str], Mapping[str, Any]]
"""Answers a question, with a model that gives the reply; returns what `anabranch.answer` does."""


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """What came of a reply.

    Attributes:
        row: Its question.
        split: That of the question.
        kind: One of `KINDS`.
        status: What became of the question, as the state has it.
        claims: Statements that the check found in the reply.
        held: Those of them that it holds to be in the passages.
        unconfirmed: The others, which are marked.
        cited: What a reader is shown as evidence: claim and quote.
    """

    row: ScriptedQuestion
    split: str
    kind: str
    status: str
    claims: int
    held: int
    unconfirmed: tuple[str, ...]
    cited: tuple[tuple[str, str], ...]

    @property
    def is_shown(self) -> bool:
        """Whether the answer is what the model said."""
        return self.status in ("answered", "not_confirmed")

    @property
    def is_unmarked(self) -> bool:
        """Whether it is shown, and none of its claims, one at least, has a mark."""
        return self.is_shown and self.claims > 0 and not self.unconfirmed

    @property
    def as_wanted(self) -> bool:
        """Whether a true reply has no mark, a false one has one, and a refusal is none of the answers."""
        if self.kind in (*TRUE_KINDS, *FALSE_KINDS):
            return self.is_unmarked is (self.kind in TRUE_KINDS)
        return not self.is_shown


def judged(row: ScriptedQuestion, split: str, kind: str, result: Mapping[str, Any]) -> JudgedReply:
    """Return what a result of `anabranch.answer` says of the reply it was made with."""
    figures = result["verification"]  # empty where the graph abstained without reading a reply
    return JudgedReply(
        row=row,
        split=split,
        kind=kind,
        status=result["status"],
        claims=figures.get("claims", 0),
        held=figures.get("quoted", 0) + figures.get("found", 0),
        unconfirmed=tuple(each["text"] for each in result["unconfirmed"]),
        cited=tuple((each["claim"], each["quote"]) for each in result["citations"]),
    )


def judged_all(
    rows: Iterable[ScriptedQuestion], split: str, answering: Answering, kinds: Sequence[str] = KINDS
) -> list[JudgedReply]:
    """Send each reply to each question through the graph, in the order of `kinds`."""
    return [
        judged(row, split, kind, answering(row.question, row.replies[kind]))
        for row in rows
        for kind in kinds
        if kind in row.replies
    ]


class ReplyThenJudge(BaseChatModel):
    """Says a reply; when it is asked to judge statements, it asks another model."""

    reply: str
    judge: BaseChatModel

    @property
    def _llm_type(self) -> str:
        return "reply-then-judge"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002  # LangChain's signature
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> ChatResult:
        is_judging = any(each in message.text for message in messages for each in (JUDGE, JUDGE_ONE))
        said = self.judge.invoke(messages, stop=stop) if is_judging else AIMessage(self.reply)
        return ChatResult(generations=[ChatGeneration(message=said)])


def through_the_graph(
    rows: Iterable[ScriptedQuestion], split: str, judge: BaseChatModel | None = None
) -> list[JudgedReply]:
    """Take in the documents of a split, and judge every reply.

    Args:
        rows: Its questions.
        split: One of `SPLITS`.
        judge: A model that is asked about each claim, as `verify: llm` does; the true and false replies alone are sent
            then.

    Raises:
        SettingsError: A document could not be read.
    """
    with corpus_of(split) as corpus:

        def answering(question: str, reply: str) -> Mapping[str, Any]:
            if judge is None:
                return answer(question, corpus=corpus, model=FakeListChatModel(responses=[reply]), strategy="none")
            model = ReplyThenJudge(reply=reply, judge=judge)
            return answer(question, corpus=corpus, model=model, strategy="none", verify="llm", model_timeout=3600.0)

        return judged_all(rows, split, answering, KINDS if judge is None else (*TRUE_KINDS, *FALSE_KINDS))
