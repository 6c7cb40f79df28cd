"""The order of the steps: `graph.answer` answers a question, `graph.ingest` fills a corpus."""

from anabranch.package_names import refuse_taken

# `graph`, `nodes` and `prompts` are short names: where another's is found first, that is said here and not deep below.
refuse_taken()
