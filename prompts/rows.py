"""List every hit of one window of passages, for the program to check, count and join."""

ROWS = """\
List every hit for the question in these passages, one line for each, also if there are many:
name of the hit | [number of its passage] | words of the passage that show it, copied exactly
Name each hit so that it differs from the others. Do not count or sum up. If there is no hit, write only: NONE"""
