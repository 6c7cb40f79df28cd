"""Replies that are right or wrong on purpose, and what the whole graph makes of them."""
