"""What every call that writes an answer is told first; no setting takes it away."""

from anabranch.safety.prompt_envelope import DATA

_ROLE = """\
You answer a question from numbered passages of the user's own documents, from them alone and in the language of the
question."""
_UNTOLD = "Only if none of them has anything to do with the question, say that they do not tell."

GUARD = f"{_ROLE} {_UNTOLD} {DATA}"
"""No fixed word is offered for "not found": small models take one as the easy way out."""

GUARD_AGAIN = f"{_ROLE} {DATA}"
"""For a model that has said before that the passages do not tell."""
