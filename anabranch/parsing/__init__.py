"""Total parsers for what models write: each returns something usable for any text, and never raises."""

from anabranch.parsing.answer_reply import AnswerReply, split_answer
from anabranch.parsing.answer_stream import AnswerStream
from anabranch.parsing.evidence_verdict import VERDICT_SCHEMA, EvidenceVerdict, parse_verdict
from anabranch.parsing.revision_reply import REVISION_SCHEMA, Action, Revision, parse_revision

__all__ = [
    "REVISION_SCHEMA",
    "VERDICT_SCHEMA",
    "Action",
    "AnswerReply",
    "AnswerStream",
    "EvidenceVerdict",
    "Revision",
    "parse_revision",
    "parse_verdict",
    "split_answer",
]
