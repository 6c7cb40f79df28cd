"""`anabranch chat`: a conversation."""

from __future__ import annotations

from typing import Annotated

import typer

from anabranch.cli.document_folder import choose_corpus, take_in
from anabranch.cli.shared_options import (
    AllDocumentsOption,
    BaseUrlOption,
    CorpusOption,
    DocsOption,
    EffortOption,
    FilterOption,
    ModelOption,
    SetOption,
)


def chat(
    *,
    docs: DocsOption = None,
    corpus: CorpusOption = None,
    thread: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue the conversation ID; without it, start a new one.")
    ] = None,
    sets: SetOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    effort: EffortOption = None,
    filters: FilterOption = None,
    all_documents: AllDocumentsOption = False,
) -> None:
    """Talk with your documents: follow-up questions, and the sources when you ask for them.

    Ctrl-C stops an answer, Ctrl-D leaves. Without a terminal, each line of standard input is a question.

    [bold]Examples:[/]

    anabranch chat --corpus papers.corpus

    anabranch chat --model qwen2.5:7b --base-url http://127.0.0.1:11434/v1

    anabranch chat --thread papers < questions.txt
    """
    # Imported here, because `anabranch --help` must not wait for LangGraph.
    from anabranch.cli.settings_options import asking_context, context_of, filters_of

    given, no_filter = choose_corpus(docs, corpus), False if all_documents else None
    context = asking_context(sets, corpus=given, model=model, base_url=base_url, effort=effort, infer_filter=no_filter)
    narrowed = filters_of(filters)
    if docs is not None:
        take_in(docs, context.corpus)
    from anabranch.cli.chat_session import ChatSession

    # Only if it is not the default: it becomes part of the commands that a person copies.
    named = context.corpus if context.corpus != context_of().corpus else None
    ChatSession(context, narrowed, thread=thread, corpus=named).run()
