"""Many readers at once: `anabranch serve`, `langgraph dev` and the graph alone."""
