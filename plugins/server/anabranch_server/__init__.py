"""The server: questions, conversations and a page over HTTP, for people who say who they are."""
