"""Whole answers by a real model, route by route: do they hold the answer, do their citations hold, do they abstain."""
