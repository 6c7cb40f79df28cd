"""Read-only copies of a folder's corpus: published to object storage or a shared folder, followed from there."""
