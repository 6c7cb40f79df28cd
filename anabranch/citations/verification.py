"""Attributes an answer: aligns each claim with the passages that its writer saw, grades it, and sets the markers.

ALCE (Gao et al. 2023) requires that a sentence is supported by what it cites. Here the program chooses the citations:
the writer's own markers only say where to look first.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from anabranch.citations.citation_record import CitationRecord
from anabranch.citations.claims import Claim, claims
from anabranch.citations.markers import mark
from anabranch.citations.read_passages import PassageText
from anabranch.citations.shared_words import CHECK_SECONDS, NO_TIME, TOO_LONG, Aligned, SharedWords
from anabranch.citations.time_limit import TimeIsUp, TimeLimit
from anabranch.parsing.refusal import is_refusal
from anabranch.safety.link_removal import strip_links
from anabranch.types import Grade

# Most claims that are checked: no reader wants a longer answer.
MAX_CLAIMS = 256

# What the grades mean, for people: nothing shown may say more than this.
CHECKED = (
    "quoted: a passage contains these words; found: a passage, or two together, have most of the claim's words and its "
    "numbers; not confirmed: none has, and the claim may be right or wrong. Words were compared, not what they say: a "
    "number or name of the passage in another's place is not noticed"
)


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim and how well it was matched to the passages.

    Attributes:
        text: Its text, without markers.
        grade: Quoted, found or not confirmed.
        score: The share of its words that stand there, 0 to 1, whatever the grade.
        reason: Why it is not confirmed, if one fact is known: "£24.90 is in no passage"; empty otherwise.
        nearest: For an unconfirmed claim, the words of the passages that share most with it.
    """

    text: str
    grade: Grade
    score: float
    reason: str = ""
    nearest: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """A checked answer, in which every marker refers to evidence.

    Attributes:
        answer: The answer with markers 1 to m by first use, and [?] after each claim that is not confirmed.
        citations: One for each claim that has evidence, in the order of the answer.
        claims: All claims, in the order of the answer.
        unchecked: How many claims were not compared, because they are too long or no time was left.
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
    def share(self) -> float:
        """The share of its claims that have evidence; 0 without any claim."""
        return 1 - len(self.not_confirmed) / len(self.claims) if self.claims else 0.0


@dataclass(frozen=True, slots=True)
class Attribution:
    """The claims of an answer with their evidence, for further checks before the answer is shown.

    Attributes:
        answer: The answer, with the markers of its writer.
        found: Each claim with its alignment, in order.
        passages: The passages, by the number that the model saw.
        words: What found them, for further claims.
    """

    answer: str
    found: tuple[tuple[Claim, Aligned], ...]
    passages: Mapping[int, PassageText]
    words: SharedWords

    @property
    def unplaced(self) -> list[tuple[int, str]]:
        """The place and text of each checked claim without evidence, except refusals."""
        return [
            (at, claim.text)
            for at, (claim, one) in enumerate(self.found)
            if one.is_checked and not one.places and not is_refusal(claim.text)
        ]

    def replace_alignments(self, alignments: Mapping[int, Aligned]) -> Attribution:
        """Return a copy with other alignments for some claims, by place."""
        found = tuple((claim, alignments.get(at, one)) for at, (claim, one) in enumerate(self.found))
        return replace(self, found=found)

    def place_quotes(self, quotes: Mapping[int, str], limit: TimeLimit | None = None) -> Attribution:
        """Return a copy in which quotes are the evidence of some claims, if a passage contains them.

        A quote is refused if its passage lacks a number or code of the claim.
        """
        found = {}
        words = self.words.within(limit := limit or TimeLimit(CHECK_SECONDS))
        with suppress(TimeIsUp):
            for at, quote in quotes.items():
                limit.spend()
                if (aligned := words.place_quote(self.found[at][0].text, quote)).places:
                    found[at] = aligned
        return self.replace_alignments(found)

    def set_markers(self) -> Verified:
        """Return the answer with new markers, and its claims."""
        # A refusal, "The passages do not say so", is no claim.
        kept = [(claim, one) for claim, one in self.found if one.places or not is_refusal(claim.text)]
        marked, order = mark(self.answer, [(claim, [place.number for place in one.places]) for claim, one in kept])
        stated, passages = [(claim.text, one) for claim, one in kept], self.passages
        return Verified(
            # Again, because moved markers may make new links.
            answer=strip_links(marked),
            citations=tuple(
                CitationRecord(
                    order[at], at, passages[at].id, text, one.grade, passages[at].text[start:end], start, end
                )
                for text, one in stated
                for at, start, end in one.places
            ),
            claims=tuple(CheckedClaim(text, one.grade, one.score, one.reason, one.nearest) for text, one in stated),
            unchecked=sum(not one.is_checked for _, one in stated),
        )


def attribute(
    answer: str, passages: Mapping[int, PassageText], question: str = "", limit: TimeLimit | None = None
) -> Attribution:
    """Find the evidence for every claim of an answer.

    Args:
        answer: What the model wrote; it may have [n] markers.
        passages: The passages, by the number that the model saw.
        question: The question that the claims answer.
        limit: Processor time, `CHECK_SECONDS` by default; claims for which no time is left are marked as unchecked.

    Returns:
        The claims and their alignments. Never raises.
    """
    # First, so that no claim has a link.
    answer = strip_links(answer)
    stated = claims(answer, question)
    found: list[Aligned] = []
    words = SharedWords({}, question, limit := limit or TimeLimit(CHECK_SECONDS))
    with suppress(TimeIsUp):
        words = SharedWords(passages, question, limit)
        # Cached, because a model may repeat a claim many times.
        place_claim = cache(words.place_claim)
        for claim in stated[:MAX_CLAIMS]:
            aligned = place_claim(claim.text, claim.markers)
            # "The passages do not say who built it." has the words of a passage that says it.
            refuses = aligned.grade == "found" and is_refusal(claim.text)
            found.append(Aligned("not_confirmed") if refuses else aligned)
    unread = NO_TIME if len(found) < MAX_CLAIMS else TOO_LONG
    found += [unread] * (len(stated) - len(found))
    return Attribution(answer, tuple(zip(stated, found, strict=True)), passages, words)


def verify(
    answer: str, passages: Mapping[int, PassageText], question: str = "", limit: TimeLimit | None = None
) -> Verified:
    """Check every claim of an answer by comparing words; the arguments are those of `attribute`."""
    return attribute(answer, passages, question, limit).set_markers()
