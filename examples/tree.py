"""A summary as a tree over six passages: one answer per passage, then two at a time until one is left.

The partial answers of a level do not wait for each other: six passages are three rounds of calls after the first, not
six. Without a chat model there is no summary: the sentences that cover the question best stand side by side.
"""

from collections import Counter

from anabranch.agent.nodes.settings import Context
from examples.running import SIZES, answered, changed, experiment, found, passage_line, show, show_answer, start

NODES, FAN_IN = 6, 2


def run(question: str, context: Context) -> None:
    """Summarise six passages as a tree."""
    # A window holds one passage, so that each of them is a leaf of the tree.
    tree = changed(
        context, top_k=NODES, merge_threshold=1.0, window_tokens=SIZES[-1], synthesis="map_reduce", fan_in=FAN_IN,
        grade="none",
    )  # fmt: skip
    show(f"{NODES} passages", [passage_line(*hit) for hit in found(question, tree)])
    state = answered(question, tree)
    levels: Counter[tuple[str, str]] = Counter()
    for step in state["trace"]:
        if step["node"] in ("map", "reduce"):
            levels[step["round"], step["node"]] += step["calls"]
    show("The tree", [f"{node}: {calls} calls at the same time" for (_, node), calls in levels.items()])
    show_answer(state)


ASKED = "Can you tell me about results from RLHF using both model-based and human-based evaluation?"
main = experiment(run, "tree", ASKED)

if __name__ == "__main__":
    start(main)
