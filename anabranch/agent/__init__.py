"""The agent: its `graph`, the graph's `nodes` and their `prompts`.

The three are folders at the top of the repository, linked here, so that they are imported by names that nobody else
has: `anabranch.agent.nodes.fuse`. An installed Anabranch has them in this folder (ADR 17).
"""
