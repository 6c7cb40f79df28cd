"""Write an answer from one window of passages."""

CREATE = """\
Answer in full sentences, as briefly as the question allows, from the passages alone and in its language."""

UNTOLD = "Only if none of them has anything to do with the question, say that they do not tell."
"""Follows on the first asking. No fixed word is offered for it: small models take one as the easy way out."""

CITE = "End each sentence with the number of its passage in square brackets."
"""Follows for models that use markers well. It names no number: small models would copy it."""
