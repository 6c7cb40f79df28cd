"""`anabranch ingest`: take files and folders into a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.options import CorpusOption, JsonOption
from anabranch.errors import SettingsError


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files and folders: PDF, Markdown, text, HTML, DOCX, JSONL.")
    ],
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="minilm [dim](the default)[/], openai:MODEL, or a folder with an ONNX model."
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="OpenAI-compatible server of an openai: embedder.")
    ] = None,
    chunk_sizes: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Tokens of a root, a middle and a leaf [dim](2048,512,128)[/].")
    ] = None,
    access: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG", help="Only callers with one of these tags may read the documents; may be repeated."
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune/--no-prune", help="Remove documents whose file is gone from the folders given.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    r"""Add, update and remove exactly what changed; run it again at any time.

    A file that cannot be read is reported and left out. Ctrl-C keeps what is done.

    [bold]Examples:[/]

    anabranch ingest docs/

    anabranch ingest report.pdf notes/ --corpus ~/corpora/work

    anabranch ingest board/ --access board --access audit

    anabranch ingest docs/ --json | jq '.\[] | select(.status == "failed")'
    """
    from anabranch.cli.ingesting import Wanted, take_in
    from anabranch.cli.settings import context_of

    wanted = Wanted(
        paths=tuple(paths),
        corpus=Path(context_of(corpus=corpus).corpus),
        embedder=embedder or "",
        base_url=base_url,
        sizes=_sizes(chunk_sizes),
        access=tuple(access or ()),
        prune=prune,
    )
    raise typer.Exit(take_in(wanted, as_json=as_json))


def _sizes(text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    try:
        root, middle, leaf = (int(part) for part in text.split(","))
    except ValueError as error:
        msg = f"--chunk-sizes {text!r} is not three whole numbers."
        raise SettingsError(
            msg, hint="Write them from the largest to the smallest: --chunk-sizes 2048,512,128."
        ) from error
    return root, middle, leaf
