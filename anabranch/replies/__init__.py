"""Total parsers for what models write: each returns something usable for any text, and never raises."""

from anabranch.replies.answer import Draft, split_answer
from anabranch.replies.revision import REVISION_SCHEMA, Action, Revision, parse_revision
from anabranch.replies.stream import AnswerStream
from anabranch.replies.verdict import VERDICT_SCHEMA, Verdict, parse_verdict

__all__ = [
    "REVISION_SCHEMA",
    "VERDICT_SCHEMA",
    "Action",
    "AnswerStream",
    "Draft",
    "Revision",
    "Verdict",
    "parse_revision",
    "parse_verdict",
    "split_answer",
]
