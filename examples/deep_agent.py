"""A deep agent that plans, takes notes in files, and retrieves with Anabranch: `pip install deepagents`.

Deep agents have tools of their own for files, `grep` among them, so those for the documents begin with `documents_`.
"""

from importlib import import_module

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage

from anabranch import as_tools
from anabranch.errors import UserError
from examples.agent import (
    INSTRUCTIONS,
    DocumentArgument,
    HomeOption,
    ModelOption,
    QuestionOption,
    ServerOption,
    failing_in_words,
    open_model,
    show_calls,
)
from examples.running import HOME, SIZES, corpus_of, start


def run(question: str, corpus: str, model: BaseChatModel) -> list[AnyMessage]:
    """Have a deep agent answer a question, and return its messages.

    Raises:
        UserError: deepagents is not installed.
    """
    try:
        create = import_module("deepagents").create_deep_agent
    except ImportError as error:
        raise UserError(f"{error.name} is not installed.", hint="Run pip install deepagents.") from error
    agent = create(model, tools=as_tools(corpus, prefix="documents_"), system_prompt=INSTRUCTIONS)
    messages: list[AnyMessage] = agent.invoke({"messages": [{"role": "user", "content": question}]})["messages"]
    return messages


def main(
    document: DocumentArgument,
    question: QuestionOption,
    model: ModelOption,
    base_url: ServerOption = None,
    home: HomeOption = HOME,
) -> None:
    """Have a deep agent answer a question over one document."""
    corpus = corpus_of(document, "agent", SIZES, home)
    with failing_in_words(model, base_url):
        show_calls(run(question, corpus, open_model(model, base_url)))


if __name__ == "__main__":
    start(main)
