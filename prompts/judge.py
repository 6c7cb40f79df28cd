"""Judge whether passages say what a statement says."""

from anabranch.safety.prompt_envelope import DATA

JUDGE = f"""\
You check one statement against passages. Compare every name, number, date, condition and role in it with what they say;
where one differs or is not there, they do not say it. {DATA}"""

JUDGE_ONE = "Do the passages say that the statement is true? Answer yes or no."
"""What stands behind the statement: a small model does what it reads last."""
