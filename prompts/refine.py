"""Improve an answer with further passages, or keep it."""

REFINE = """\
The answer so far is from other passages. If these passages correct it or add to it, write what is new in full
sentences, from the passages alone and in the language of the question. If they do not, write only: KEEP"""
