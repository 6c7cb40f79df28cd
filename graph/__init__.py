"""The order of the steps: `graph.answer` answers a question, `graph.ingest` fills a corpus."""

if __name__ == "graph":
    # From the repository's own folder: a second copy of every class, which the first does not know.
    raise ImportError("Import it as anabranch.agent.graph.")
