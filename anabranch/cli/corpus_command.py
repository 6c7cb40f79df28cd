"""`anabranch corpus`: manage a corpus."""

from __future__ import annotations

from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from anabranch.cli.shared_options import CorpusOption, EmbedderUrlOption, JsonOption, WaitOption
from anabranch.cli.typer_command import PlainCommand, PlainGroup

corpus = typer.Typer(
    cls=PlainGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Manage a corpus: show and verify it, rebuild its indexes, move it, remove documents.",
)


@corpus.command(cls=PlainCommand)
@guarded
def stats(
    *,
    corpus: CorpusOption = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show the queue of a corpus in PostgreSQL until it is empty.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    r"""Show what a corpus holds, document by document.

    [bold]Example:[/]  anabranch corpus stats --json | jq -r '.sources\[].source'
    """
    if watch:
        from anabranch.cli.queue_actions import QUEUE_ACTIONS

        QUEUE_ACTIONS.get("watch")(_address(corpus), as_json=as_json)
        return
    # Imported in each command, because `anabranch --help` must not wait for NumPy and FAISS.
    from anabranch.cli.corpus_view import show_stats

    show_stats(_address(corpus), as_json=as_json)


@corpus.command(cls=PlainCommand)
@guarded
def verify(*, corpus: CorpusOption = None, as_json: JsonOption = False) -> None:
    """Check the database, the documents and the indexes, and say how to repair them; exit code 1 if a check fails."""
    from anabranch.cli.corpus_view import show_verdict

    raise typer.Exit(0 if show_verdict(_address(corpus), as_json=as_json) else 1)


@corpus.command(cls=PlainCommand)
@guarded
def rebuild(
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Embed every passage again: minilm, multilingual, openai:MODEL or a folder."),
    ] = None,
    embedder_url: EmbedderUrlOption = None,
    wait: WaitOption = 0.0,
) -> None:
    """Rebuild the indexes from the database, as small as possible; documents and settings stay unchanged.

    [bold]Example:[/]  anabranch corpus rebuild --embedder openai:text-embedding-3-small
    """
    from anabranch.cli.corpus_view import run_rebuild

    run_rebuild(_address(corpus), embedder, embedder_url, wait=wait)


@corpus.command(cls=PlainCommand)
@guarded
def remove(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="As stats lists them, or a shell pattern.")],
    *,
    corpus: CorpusOption = None,
    wait: WaitOption = 0.0,
) -> None:
    """Remove documents; their files stay where they are. `rebuild` removes their last traces from the indexes.

    [bold]Example:[/]  anabranch corpus remove 'old/*.md'
    """
    from anabranch.cli.output import results, say
    from anabranch.store.maintenance import remove as remove_documents
    from anabranch.text.plural import counted

    removed = remove_documents(_address(corpus), sources, wait=wait)
    say(results(), f"Removed {counted(removed, 'document')}.")


def _address(given: str | None) -> str:
    from anabranch.cli.settings_options import context_of

    return context_of(corpus=given).corpus
