"""Speed and cost, measured: `python -m benchmarks` from a checkout; what is measured and how is in README.md here."""
