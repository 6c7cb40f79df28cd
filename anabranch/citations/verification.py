"""Attributes an answer: aligns each claim with the passages that its writer was shown, grades it, and sets the markers.

ALCE (Gao et al. 2023) asks that what each sentence cites supports it. Here the program chooses what is cited: the
writer's own markers only say where to look first.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from anabranch.citations.alignment import CHECK_SECONDS, NO_TIME, TOO_LONG, Aligned, Alignment
from anabranch.citations.citation_record import CitationRecord
from anabranch.citations.claims import Claim, claims
from anabranch.citations.markers import mark
from anabranch.citations.passage_text import PassageText
from anabranch.citations.rules import RULES, Rule
from anabranch.citations.time_limit import TimeIsUp, TimeLimit
from anabranch.parsing.refusal import is_refusal
from anabranch.safety.link_removal import strip_links
from anabranch.types import Grade

# Claims that are aligned; those of an answer that is longer than any reader wants are not checked after these.
MAX_CLAIMS = 256

# What the program knows of a claim, for people: no more than this may be shown.
CHECKED = (
    "quoted: its words stand in the passage; found: its words are there in another form, or a sentence there is alike, "
    "and no number, unit, date, name, code or denial was seen to differ; not confirmed: it could not be matched to a "
    "passage, and may be right or wrong. Whether it follows from what is said there was not checked"
)


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim and how well it was matched to the passages.

    Attributes:
        text: What it says, without markers.
        grade: Quoted, found or not confirmed.
        score: How well it is placed, 0 to 1.
        reason: Why it is not confirmed, where one fact is known: "£24.90 is in no passage"; empty otherwise.
        nearest: Of one that is not confirmed, the words of the passages that share most with it.
        marker: Its number in the answer; 0 for none.
    """

    text: str
    grade: Grade
    score: float
    reason: str = ""
    nearest: str = ""
    marker: int = 0


@dataclass(frozen=True, slots=True)
class Verified:
    """An answer whose markers all stand for evidence.

    Attributes:
        answer: The answer with markers 1 to m by first use, and [?] after each claim that is not confirmed.
        citations: One for each claim that has evidence, in the order of the answer.
        claims: All claims, in the order of the answer.
        unchecked: How many were compared with nothing, for their length or for want of time.
    """

    answer: str
    citations: tuple[CitationRecord, ...]
    claims: tuple[CheckedClaim, ...]
    unchecked: int = 0

    @property
    def not_confirmed(self) -> tuple[str, ...]:
        """The claims that could not be matched to a passage."""
        return tuple(claim.text for claim in self.claims if claim.grade == "not_confirmed")

    @property
    def found(self) -> int:
        """How many claims have evidence."""
        return len(self.claims) - len(self.not_confirmed)

    @property
    def score(self) -> float:
        """How well the answer is placed: the mean over its claims, 0 without any."""
        return sum(claim.score for claim in self.claims) / len(self.claims) if self.claims else 0.0


@dataclass(frozen=True, slots=True)
class Attribution:
    """The claims of an answer with where each is said; what comes of it can be judged further before it is shown.

    Attributes:
        answer: The answer, with the markers of its writer.
        found: Each claim with its alignment, in order.
        passages: By the number that the model saw.
        alignment: What they were aligned by.
    """

    answer: str
    found: tuple[tuple[Claim, Aligned], ...]
    passages: Mapping[int, PassageText]
    alignment: Alignment

    @property
    def evidence(self) -> list[tuple[int, str, str]]:
        """The place of each claim that has evidence, the claim, and the words of its evidence."""
        return [
            (at, claim.text, self.passages[one.number].text[slice(*one.span)])
            for at, (claim, one) in enumerate(self.found)
            if one.number
        ]

    @property
    def unplaced(self) -> list[tuple[int, str]]:
        """The place of each claim that was checked and has no evidence, and the claim; refusals are none."""
        return [
            (at, claim.text)
            for at, (claim, one) in enumerate(self.found)
            if one.is_checked and not one.number and not is_refusal(claim.text)
        ]

    def changed(self, alignments: Mapping[int, Aligned]) -> Attribution:
        """Return it with other alignments for some claims, by their places."""
        found = tuple((claim, alignments.get(at, one)) for at, (claim, one) in enumerate(self.found))
        return replace(self, found=found)

    def quoted(self, words: Mapping[int, str], limit: TimeLimit | None = None) -> Attribution:
        """Return it with the words that somebody says support some claims, as far as they stand in a passage.

        A number, date, name or denial of the claim that is not beside them refuses them all the same.
        """
        found = {}
        alignment = self.alignment.within(limit := limit or TimeLimit(CHECK_SECONDS))
        with suppress(TimeIsUp):
            for at, quote in words.items():
                limit.spend()
                claim, _ = self.found[at]
                aligned = alignment.beside(claim.text, quote)
                if aligned.number:
                    found[at] = aligned
        return self.changed(found)

    def verified(self) -> Verified:
        """Return the answer with its markers set anew, and what was found."""
        # "The passages do not say so" claims nothing of what they say.
        stated = [(claim, one) for claim, one in self.found if one.number or not is_refusal(claim.text)]
        text, order = mark(self.answer, [(claim, one.number) for claim, one in stated])
        return Verified(
            # Markers that went, or came, have other neighbours than the model gave them.
            answer=strip_links(text),
            citations=tuple(
                _record(claim, one, order[one.number], self.passages[one.number]) for claim, one in stated if one.number
            ),
            claims=tuple(
                CheckedClaim(claim.text, one.grade, one.score, one.reason, one.nearest, order.get(one.number, 0))
                for claim, one in stated
            ),
            unchecked=sum(not one.is_checked for _, one in stated),
        )


def attribute(
    answer: str,
    passages: Mapping[int, PassageText],
    question: str = "",
    limit: TimeLimit | None = None,
    rules: Mapping[str, Rule] = RULES,
) -> Attribution:
    """Find for every claim of an answer where the passages say it.

    Args:
        answer: What the model wrote; it may have [n] markers.
        passages: By the number that the model saw.
        question: What was asked: claims are read as answers to it.
        limit: Processor time for it, `CHECK_SECONDS` where none is given; the claims that it is too short for are not
            checked, and say so.
        rules: What may speak against a span; some of `RULES`, where these are measured.

    Returns:
        The claims and their alignments. Never raises.
    """
    # Before anything is cut from it, so that no claim holds what must not reach a reader.
    answer = strip_links(answer)
    stated = claims(answer, question)
    found: list[Aligned] = []
    alignment = Alignment({}, question, limit := limit or TimeLimit(CHECK_SECONDS))
    with suppress(TimeIsUp):
        alignment = Alignment(passages, question, limit, rules)
        # A model that has lost its way says the same over and over.
        of = cache(alignment.of)
        for claim in stated[:MAX_CLAIMS]:
            found.append(of(claim.text, claim.markers))  # noqa: PERF401  # what is found in time stays
    unread = NO_TIME if len(found) < MAX_CLAIMS else TOO_LONG
    found += [unread] * (len(stated) - len(found))
    return Attribution(answer, tuple(zip(stated, found, strict=True)), passages, alignment)


def verify(
    answer: str, passages: Mapping[int, PassageText], question: str = "", limit: TimeLimit | None = None
) -> Verified:
    """Check every claim of an answer by words alone; the arguments are those of `attribute`."""
    return attribute(answer, passages, question, limit).verified()


def _record(claim: Claim, aligned: Aligned, marker: int, passage: PassageText) -> CitationRecord:
    start, end = aligned.span
    return CitationRecord(
        marker=marker,
        number=aligned.number,
        chunk_id=passage.id,
        claim=claim.text,
        grade=aligned.grade,
        quote=passage.text[start:end],
        start=start,
        end=end,
    )
