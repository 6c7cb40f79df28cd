"""What a chat model says about the relevance of passages: read in whatever form it comes, put on one scale, ordered.

No passage is ever lost to a bad reply.
"""

from __future__ import annotations

from anabranch.parsing.relevance.relevance_scores import BEST, Judgements, read_judgements, says_none
from anabranch.parsing.relevance.scale_alignment import aligned, on_ten

__all__ = [
    "BEST",
    "Judgements",
    "aligned",
    "on_ten",
    "read_judgements",
    "says_none",
]
