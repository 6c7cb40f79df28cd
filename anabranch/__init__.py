"""Anabranch answers questions over your own documents and shows its work."""

__version__ = "0.1.0"
