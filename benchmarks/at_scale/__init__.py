"""Corpora of a thousand to a million passages, beside peers: `python -m benchmarks.at_scale`; see ../at-scale.md."""
