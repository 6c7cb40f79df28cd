"""A corpus in PostgreSQL, with pgvector: documents, passages, vectors and postings in one database."""
