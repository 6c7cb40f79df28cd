"""Readers of PDF, Office, mail and of rarer formats."""
