"""Small chunks find, larger ones are read: leaves give way to their parent where enough of its children were found.

Twelve leaves of 128 tokens, merged at four thresholds; 1 merges nothing.
"""

from anabranch.agent.nodes.settings import Context
from examples.running import answered, changed, experiment, show, show_answer, start


def run(question: str, context: Context) -> None:
    """Merge neighbouring passages at several thresholds, and answer."""
    for threshold in (1.0, 0.75, 0.5, 0.25):
        state = answered(question, changed(context, top_k=12, merge_threshold=threshold))
        merged = [
            f"{len(each['leaves'])} in 1: {each['preview']}" for each in state["passages"] if len(each["leaves"]) > 1
        ]
        show(f"threshold {threshold:g}: {len(state['passages'])} passages", merged)
        show_answer(state)


ASKED = "What could be the potential outcomes of adjusting the amount of safety data used in the RLHF stage?"
main = experiment(run, "parents", ASKED)

if __name__ == "__main__":
    start(main)
