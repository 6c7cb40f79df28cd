"""The words: one file per step that talks to a model.

Those that can be replaced are Context fields, `<stem>_prompt`. Questions and passages are never part of them: the
program adds them in the user role, passages inside an envelope; a template of the user's says by placeholders where.
"""

from prompts.condense import CONDENSE
from prompts.create import CITE, CREATE
from prompts.grade import GRADE
from prompts.guard import GUARD, GUARD_AGAIN
from prompts.judge import JUDGE
from prompts.quote import QUOTE
from prompts.reduce import REDUCE
from prompts.refine import REFINE
from prompts.rerank import RERANK
from prompts.retrieve import RETRIEVE
from prompts.rewrite import QUERY_FORM, REWRITE

__all__ = [
    "CITE", "CONDENSE", "CREATE", "GRADE", "GUARD", "GUARD_AGAIN", "JUDGE", "QUERY_FORM", "QUOTE", "REDUCE", "REFINE",
    "RERANK", "RETRIEVE", "REWRITE",
]  # fmt: skip
