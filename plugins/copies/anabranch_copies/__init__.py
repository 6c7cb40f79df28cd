"""Published copies of a corpus, and its documents as lines of JSON."""
