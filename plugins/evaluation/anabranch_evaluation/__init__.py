"""Measures how good retrieval and answers are: `anabranch eval`."""
