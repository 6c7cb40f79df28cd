"""Write an answer from one window of passages."""

CREATE = "Answer, first in one full sentence:"
"""The last words of the prompt. After "Answer:" a 1.5 B model may name whom a question speaks of, not what it asks of
them; a sentence has to say both. "First" leaves room for answers that take more than one."""

CITE = "End each sentence with the number of its passage in square brackets."
"""Comes before it for models that use markers well. It names no number: small models would copy it."""
