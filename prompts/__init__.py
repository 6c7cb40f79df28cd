"""The words: one file per step that talks to a model.

Those that can be replaced are Context fields, `<stem>_prompt`. Questions and passages are never part of them: the
program adds them in the user role, passages inside an envelope; a template of the user's says by placeholders where.
`summary.py` is for an ingest, so it is not imported here.
"""

if __name__ == "prompts":
    # From the repository's own folder: a second copy of every class, which the first does not know.
    raise ImportError("Import it as anabranch.agent.prompts.")

from anabranch.agent.prompts.condense import CONDENSE
from anabranch.agent.prompts.create import CITE, CREATE
from anabranch.agent.prompts.follow import FOLLOW
from anabranch.agent.prompts.grade import GRADE
from anabranch.agent.prompts.guard import GUARD, GUARD_AGAIN
from anabranch.agent.prompts.judge import JUDGE, JUDGE_ONE
from anabranch.agent.prompts.quote import QUOTE
from anabranch.agent.prompts.reduce import REDUCE
from anabranch.agent.prompts.refine import REFINE
from anabranch.agent.prompts.rerank import RERANK
from anabranch.agent.prompts.retrieve import RETRIEVE
from anabranch.agent.prompts.rewrite import CHAIN_FORM, ONLY_FORM, QUERY_FORM, REACH_FORM, REWRITE
from anabranch.agent.prompts.rows import ROWS

__all__ = [
    "CHAIN_FORM", "CITE", "CONDENSE", "CREATE", "FOLLOW", "GRADE", "GUARD", "GUARD_AGAIN", "JUDGE", "JUDGE_ONE",
    "ONLY_FORM", "QUERY_FORM", "QUOTE", "REACH_FORM", "REDUCE", "REFINE", "RERANK", "RETRIEVE", "REWRITE", "ROWS",
]  # fmt: skip
