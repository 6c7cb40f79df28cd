"""`anabranch corpus`: look after a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from anabranch.cli.options import CorpusOption, JsonOption

corpus = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Look after a corpus: what is in it, whether it is sound, making its indexes anew, removing documents.",
)


@corpus.command()
@guarded
def stats(*, corpus: CorpusOption = None, as_json: JsonOption = False) -> None:
    r"""Show what a corpus holds, document by document.

    [bold]Example:[/]  anabranch corpus stats --json | jq -r '.sources\[].source'
    """
    from anabranch.cli.upkeep import show_stats

    show_stats(_folder(corpus), as_json=as_json)


@corpus.command()
@guarded
def verify(*, corpus: CorpusOption = None, as_json: JsonOption = False) -> None:
    """Check the database and the indexes, every checksum; exit code 1 if something is wrong."""
    from anabranch.cli.upkeep import show_verdict

    raise typer.Exit(0 if show_verdict(_folder(corpus), as_json=as_json) else 1)


@corpus.command()
@guarded
def rebuild(
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Embed every passage anew: minilm, openai:MODEL or a folder.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="OpenAI-compatible server of an openai: embedder.")
    ] = None,
) -> None:
    """Make the indexes anew from the database; documents and settings stay as they are.

    [bold]Example:[/]  anabranch corpus rebuild --embedder openai:text-embedding-3-small
    """
    from anabranch.cli.upkeep import rebuild_shown

    rebuild_shown(_folder(corpus), embedder, base_url)


@corpus.command()
@guarded
def remove(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="As stats lists them, or a shell pattern.")],
    *,
    corpus: CorpusOption = None,
) -> None:
    """Remove documents; their files stay where they are.

    [bold]Example:[/]  anabranch corpus remove 'old/*.md'
    """
    from anabranch.cli.output import results, say
    from anabranch.corpus.upkeep import remove as remove_documents

    removed = remove_documents(_folder(corpus), sources)
    say(results(), f"Removed {removed} document{'' if removed == 1 else 's'}.")


def _folder(given: str | None) -> Path:
    from anabranch.cli.settings import context_of

    return Path(context_of(corpus=given).corpus)
