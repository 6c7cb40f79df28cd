"""The same passages, three ways to write: all in one call, create and refine, and a tree whose levels run at once.

The prompts are templates, as in LlamaIndex's tutorial on response synthesis. Without a model the three are the same.
"""

from anabranch.agent.nodes.settings import Context
from examples.running import SIZES, answered, changed, experiment, show, show_answer, start

ASK = "Context:\n{context_str}\nGiven the context alone, answer the query.\nQuery: {query_str}\nAnswer: "
REFINE = "Query: {query_str}\nAnswer: {existing_answer}\nMore context:\n{context_str}\nWrite what is new, or KEEP: "


def run(question: str, context: Context) -> None:
    """Answer by each way in turn."""
    shared = changed(
        context, top_k=5, merge_threshold=1.0, create_prompt=ASK, refine_prompt=REFINE, answer_form="cited"
    )
    # A window of one passage, so that refining and the tree have something to do.
    small = changed(shared, window_tokens=SIZES[-1], fan_in=5)
    for way, settings in (("stuff", shared), ("refine", small), ("map_reduce", small)):
        show(f"synthesis: {way}", [])
        show_answer(answered(question, changed(settings, synthesis=way)))


main = experiment(run, "writing", "What are the results of RLHF, by models and by people?")

if __name__ == "__main__":
    start(main)
