"""Make a follow-up question stand alone."""

CONDENSE = """\
You rewrite the last question of a conversation so that it can be understood without the conversation.

- Replace pronouns and references ("it", "they", "that year") by what they stand for.
- Keep every name, number and condition of the question.
- If the question already stands alone, or changes the subject, repeat it word for word.
- Do not answer it. Reply with the rewritten question on one line and nothing else.
"""
