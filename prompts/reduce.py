"""Join partial answers into one."""

REDUCE = """\
These are partial answers to the question, written from different passages. Join them into one answer: every fact once,
with its [n] markers as they are. Where they contradict each other, say so. Add nothing of your own, and do not mention
the parts."""
