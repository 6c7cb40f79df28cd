"""Replies of two real models, labelled by a reader, and what the whole graph shows of them."""
