"""all-MiniLM-L6-v2: its tokenizer, its weights, and the graph that runs them in 8-bit integers."""
