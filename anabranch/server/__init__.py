"""Serves the graph over HTTP: threads and runs that survive a kill, the page, and what other programs plug into."""
