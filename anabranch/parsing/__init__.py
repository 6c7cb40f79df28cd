"""Parsers for what models write: each returns something usable for any text, and never raises."""

from anabranch.parsing.answer_reply import read_answer
from anabranch.parsing.answer_stream import AnswerStream
from anabranch.parsing.evidence_verdict import EvidenceVerdict, parse_verdict
from anabranch.parsing.revision import Action, append_text, read_revision

__all__ = [
    "Action",
    "AnswerStream",
    "EvidenceVerdict",
    "append_text",
    "parse_verdict",
    "read_answer",
    "read_revision",
]
