"""The check of claims on public benchmarks of attribution, beside published scores and baselines."""
