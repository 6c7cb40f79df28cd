"""Make further search queries, by strategy."""

_FORM = """
Write one per line, without numbering, quotes or comments, in the language of the question. Keep names and numbers as
they are."""
_RULES = f"{_FORM} Do not answer the question.\n"

QUERY_FORM = _RULES.strip()
"""What a template of the user's is sent beside: how a reply is read, and not what kind of queries it holds."""

REWRITE = {
    "multi": "You write search queries for a document search engine. Given a question, write different queries that "
    "together find every passage needed to answer it: other words for the same thing, and other sides of it." + _RULES,
    "decompose": "You split a question into the simpler questions whose answers together answer it. If it asks for "
    "only one thing, repeat it." + _RULES,
    "hyde": "You write short passages, one sentence each, as they could stand in a document that answers the question. "
    f"Invent no names and no numbers.{_FORM}\n",
    "step_back": "You write more general questions whose answers give the background needed for the question." + _RULES,
}

CHAIN_FORM = """
Most questions need no more than these lines. Only a question that describes something by another thing, as in "In which
town was the founder of Acme born?", needs a name, number or date found first. For such a question, write two more lines
after the search queries, as here:
FIRST: Who founded Acme?
THEN: In which town was {found} born?
"""

REACH_FORM = """
Only if the question asks for all of one document, such as a summary of it, add the line:
READ: document
Only if it asks to compare or sum up all documents, add the line:
READ: corpus
Only if it asks how many there are, or for a list of all, add the line:
READ: rows
"""

ONLY_FORM = """
Only if the question restricts itself to some documents, by a field and a value of their metadata, add a line such as:
ONLY: kind = contract; year >= 2024
"""
