"""Whole corpora: how many of a known number of hits a list finds, and how much of a document a summary reads."""
