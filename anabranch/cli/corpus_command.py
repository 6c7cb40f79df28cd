"""`anabranch corpus`: look after a corpus."""

from __future__ import annotations

from pathlib import Path
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
    help="Look after a corpus: what is in it, whether it is sound, its indexes, moving it, removing documents.",
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
        from anabranch.cli.queue_view import watch_queue
        from anabranch.cli.settings_options import context_of

        watch_queue(context_of(corpus=corpus).corpus, as_json=as_json)
        return
    # Here and in each command: `anabranch --help` must not wait for NumPy and FAISS.
    from anabranch.cli.corpus_view import show_stats

    show_stats(_address(corpus), as_json=as_json)


@corpus.command(cls=PlainCommand)
@guarded
def verify(*, corpus: CorpusOption = None, as_json: JsonOption = False) -> None:
    """Check the database, every document, and the indexes, and say what to do; exit code 1 if something is wrong."""
    from anabranch.cli.corpus_view import show_verdict

    raise typer.Exit(0 if show_verdict(_address(corpus), as_json=as_json) else 1)


@corpus.command(cls=PlainCommand)
@guarded
def rebuild(
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Embed every passage anew: minilm, openai:MODEL or a folder.")
    ] = None,
    base_url: EmbedderUrlOption = None,
    wait: WaitOption = 0.0,
) -> None:
    """Make the indexes anew from the database, as small as can be; documents and settings stay as they are.

    [bold]Example:[/]  anabranch corpus rebuild --embedder openai:text-embedding-3-small
    """
    from anabranch.cli.corpus_view import rebuild_shown

    rebuild_shown(_address(corpus), embedder, base_url, wait=wait)


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


@corpus.command(cls=PlainCommand)
@guarded
def publish(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="s3://BUCKET/PREFIX, or a folder.")],
    *,
    corpus: CorpusOption = None,
    anew: Annotated[bool, typer.Option("--anew", help="Send every file: some that are there are damaged.")] = False,
    wait: WaitOption = 0.0,
) -> None:
    """Publish a corpus for other machines to read, with --corpus TARGET; sends what has changed since the last time.

    [bold]Example:[/]  anabranch corpus publish s3://our-bucket/notes --corpus ~/corpora/notes
    """
    from anabranch.cli.output import results, say
    from anabranch.store.replica.replica_publisher import publish_replica
    from anabranch.text.plural import counted

    made = publish_replica(_folder(corpus), target, anew=anew, wait=wait)
    sent = f"{counted(made.files, 'file')} sent, {made.bytes / 1e6:.1f} MB" if made.files else "nothing to send"
    say(results(), f"{made.target} has generation {made.generation}: {sent}.")


@corpus.command(cls=PlainCommand)
@guarded
def export(
    *,
    corpus: CorpusOption = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for the screen.")
    ] = "-",
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Write the vectors, too, so that an import embeds nothing.")
    ] = False,
) -> None:
    """Write a corpus as lines of JSON; of a damaged one, every document that is whole, and exit code 1.

    [bold]Examples:[/]

    anabranch corpus export --output work.jsonl

    anabranch corpus export | gzip > work.jsonl.gz
    """
    from anabranch.cli.corpus_view import export_shown

    raise typer.Exit(export_shown(_address(corpus), output, vectors=vectors))


@corpus.command("import", cls=PlainCommand)
@guarded
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What export wrote; - for standard input.")],
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="minilm, openai:MODEL or a folder; for a new corpus.")
    ] = None,
    base_url: EmbedderUrlOption = None,
    wait: WaitOption = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Take an exported corpus into a corpus, new or not; exit code 1 if a line could not be taken in.

    A document that the corpus has under the same name is replaced.

    [bold]Examples:[/]

    anabranch corpus import work.jsonl --corpus ~/corpora/work

    gunzip -c work.jsonl.gz | anabranch corpus import -
    """
    from anabranch.cli.corpus_view import import_shown

    raise typer.Exit(
        import_shown(file, _address(corpus), embedder=embedder, base_url=base_url, wait=wait, as_json=as_json)
    )


@corpus.command(cls=PlainCommand)
@guarded
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Folder or address of the corpus to copy.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where there is none yet, or a copy that was begun.")],
    *,
    wait: WaitOption = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Copy a corpus to another store and check every passage of it; exit code 1 if something differs.

    Nothing is embedded. A copy that was interrupted goes on where it was, if you run it again.

    [bold]Example:[/]  anabranch corpus copy ~/corpora/notes 'postgresql://anna@db.example.org/documents#notes'
    """
    from anabranch.cli.copy_view import copy_shown

    raise typer.Exit(copy_shown(source, target, wait=wait, as_json=as_json))


def _address(given: str | None) -> str:
    from anabranch.cli.settings_options import context_of

    return context_of(corpus=given).corpus


def _folder(given: str | None) -> Path:
    from anabranch.store.corpus_address import folder_of

    return folder_of(_address(given))
