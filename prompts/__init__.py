"""The words: one file per node that talks to a model, same stem as the node.

Each is the system message of its step and can be replaced through the Context field `<stem>_prompt`. Questions and
passages are never part of it: the program adds them in the user role, passages inside an envelope.
"""

from prompts.condense import CONDENSE
from prompts.create import CREATE
from prompts.grade import GRADE
from prompts.map import MAP
from prompts.reduce import REDUCE
from prompts.refine import REFINE
from prompts.rerank import RERANK, RERANK_LISTWISE
from prompts.retrieve import RETRIEVE
from prompts.rewrite import REWRITE

__all__ = ["CONDENSE", "CREATE", "GRADE", "MAP", "REDUCE", "REFINE", "RERANK", "RERANK_LISTWISE", "RETRIEVE", "REWRITE"]
