"""Claims with labels, and what the checker of citations makes of them."""
