"""`anabranch corpus publish`, `export`, `import` and `copy`."""

from __future__ import annotations

from typing import Annotated

import typer

from anabranch.cli.shared_options import CorpusOption, EmbedderUrlOption, JsonOption, WaitOption


def publish(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="s3://BUCKET/PREFIX, or a folder.")],
    *,
    corpus: CorpusOption = None,
    anew: Annotated[bool, typer.Option("--anew", help="Send every file again, to replace damaged ones.")] = False,
    wait: WaitOption = 0.0,
) -> None:
    """Publish a corpus, which other machines read with --corpus TARGET; only changes are sent.

    [bold]Example:[/]  anabranch corpus publish s3://our-bucket/notes --corpus ~/corpora/notes
    """
    from anabranch.cli.output import results, say
    from anabranch.store.corpus_address import folder_of
    from anabranch.text.plural import counted
    from anabranch_copies.replica.replica_publisher import publish_replica

    made = publish_replica(folder_of(_address(corpus)), target, anew=anew, wait=wait)
    sent = f"{counted(made.files, 'file')} sent, {made.bytes / 1e6:.1f} MB" if made.files else "nothing to send"
    say(results(), f"{made.target} has generation {made.generation}: {sent}.")


def export(
    *,
    corpus: CorpusOption = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for the screen.")
    ] = "-",
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Also write the vectors, so that an import embeds nothing.")
    ] = False,
) -> None:
    """Write a corpus as lines of JSON. From a damaged corpus, write every intact document; exit code 1.

    [bold]Examples:[/]

    anabranch corpus export --output work.jsonl

    anabranch corpus export | gzip > work.jsonl.gz
    """
    from anabranch_copies.export.export_view import run_export

    raise typer.Exit(run_export(_address(corpus), output, vectors=vectors))


def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What export wrote; - for standard input.")],
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="minilm, multilingual, openai:MODEL or a folder; for a new corpus."),
    ] = None,
    embedder_url: EmbedderUrlOption = None,
    wait: WaitOption = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Import an exported corpus into a new or existing one; exit code 1 if a line could not be imported.

    A document that the corpus has under the same name is replaced.

    [bold]Examples:[/]

    anabranch corpus import work.jsonl --corpus ~/corpora/work

    gunzip -c work.jsonl.gz | anabranch corpus import -
    """
    from anabranch_copies.export.export_view import run_import

    raise typer.Exit(
        run_import(file, _address(corpus), embedder=embedder, base_url=embedder_url, wait=wait, as_json=as_json)
    )


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Folder or address of the corpus to copy.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A place without a corpus, or with an unfinished copy.")],
    *,
    wait: WaitOption = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Copy a corpus to another store and compare every passage; exit code 1 if something differs.

    Nothing is embedded. Run the command again to continue an interrupted copy.

    [bold]Example:[/]  anabranch corpus copy ~/corpora/notes 'postgresql://anna@db.example.org/documents#notes'
    """
    from anabranch_copies.export.copy_view import run_copy

    raise typer.Exit(run_copy(source, target, wait=wait, as_json=as_json))


def _address(given: str | None) -> str:
    from anabranch.cli.settings_options import context_of

    return context_of(corpus=given).corpus
