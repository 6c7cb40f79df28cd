"""Filters from questions: what they find, and what is found where they are wrong."""
