"""Experiments that tutorials made popular, on documents of your own: `python -m examples.novel NOVEL.txt`."""
