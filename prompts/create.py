"""Write an answer from one window of passages."""

CREATE = "Answer:"
"""The last words of the prompt: of five that were tried on a 1.5 B model the shortest lost the fewest answers."""

CITE = "End each sentence with the number of its passage in square brackets."
"""Comes before it for models that use markers well. It names no number: small models would copy it."""
