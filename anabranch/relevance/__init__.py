"""What a chat model says about the relevance of passages: read in whatever form it comes, put on one scale, ordered.

No passage is ever lost to a bad reply.
"""

from __future__ import annotations

from anabranch.relevance.judgements import Judgements, parse_relevance, read_judgements, says_none
from anabranch.relevance.listwise import read_listwise
from anabranch.relevance.ordering import rank_by_relevance
from anabranch.relevance.ranking import parse_ranking
from anabranch.relevance.scales import aligned, on_ten
from anabranch.relevance.words import BEST

__all__ = [
    "BEST",
    "Judgements",
    "aligned",
    "on_ten",
    "parse_ranking",
    "parse_relevance",
    "rank_by_relevance",
    "read_judgements",
    "read_listwise",
    "says_none",
]
