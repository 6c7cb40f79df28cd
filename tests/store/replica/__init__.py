"""Tests of published corpora."""
