"""Tables of quality, and the commands that measure what no table of retrieval can."""
