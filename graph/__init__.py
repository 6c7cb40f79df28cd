"""The order of the steps: `graph.answer` answers a question, `graph.ingest` fills a corpus."""

if __name__ == "graph":
    # Imported from the repository's folder, it would make a second copy of every class.
    raise ImportError("Import it as anabranch.agent.graph.")
