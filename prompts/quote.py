"""Ask for the words of the passages that say what some claims say, where the program did not find them."""

QUOTE = """\
For each numbered statement, copy the words of the passages that say it: one line with the number of the statement, a
colon, and the words exactly as they stand there, in quotation marks. Write nothing for a statement that none says."""
