"""`anabranch eval`: how good retrieval is, on tables of expected scores or on a collection of one's own."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.shared_options import EmbedderUrlOption, JsonOption, SetOption
from anabranch.errors import MissingExtraError, SettingsError

CACHE = Path(".anabranch/eval")
LIBRARIES = ("ir_measures", "scipy.stats", "yaml")
TABLES = (".yaml", ".yml")


def evaluate(
    what: Annotated[
        Path, typer.Argument(metavar="FOLDER|TABLE.yaml", help="A collection in BEIR's form, or a table of scores.")
    ],
    *,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With a table: the folder that holds its collections.")
    ] = None,
    collection: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIR", help="With a table: where one collection is; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this collection, configuration or COLLECTION/CONFIGURATION, * as in a shell; may be repeated.",
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Configuration that the others are compared with.")
    ] = None,
    sets: SetOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="minilm, multilingual, openai:MODEL, or a folder with an ONNX model."),
    ] = None,
    embedder_url: EmbedderUrlOption = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            "-c",
            metavar="DIR",
            help="With a folder: search this corpus, not its corpus.jsonl [dim](without one: ANABRANCH_CORPUS)[/].",
        ),
    ] = None,
    split: Annotated[str, typer.Option(metavar="NAME", help="Which qrels/*.tsv to read if there is no qrels.tsv.")] = (
        "test"
    ),
    cache: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to keep the corpora, so that each is embedded once.")
    ] = CACHE,
    fresh: Annotated[bool, typer.Option("--fresh", help="Rebuild the corpora.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Write the report to this file, as Markdown.")
    ] = None,
    per_query: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Write the scores of every query to this file.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="With a table: write the report beside it.")] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="With a table: set the expected scores to the measured ones.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With a table: also fail if a collection is missing.")
    ] = False,
    judge_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Chat model that judges answers; with a folder, or `kind: judged`."),
    ] = None,
    generate: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Have a chat model write N questions about --corpus into questions.jsonl in the folder.",
        ),
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    r"""Measure retrieval and answers: by a table of expected scores, or on a collection of your own.

    A collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, as BEIR has them, or with documents and
    questions.jsonl, which describes the evidence by regular expressions.
    The exit code is 1 if a score differs from what the table expects.

    [bold]Examples:[/]

    anabranch eval my-collection/

    anabranch eval my-collection/ --set rerank=cohere --report report.md

    anabranch eval questions/ --corpus .anabranch/corpus

    anabranch eval questions/ --corpus .anabranch/corpus --generate 30 --set model=openai:gpt-5-mini

    anabranch eval my-collection/ --set model=openai:gpt-5-mini --judge-model openai:gpt-5

    anabranch eval evals/retrieval.yaml --data ~/collections --only scifact
    """
    # Checked first, so that a missing SciPy is not found only after a corpus was embedded.
    require_libraries()
    from anabranch_evaluation.eval_output import EvalOptions
    from anabranch_evaluation.eval_run import run_evaluation

    # Decided by the ending, so that a mistyped folder is reported as a folder.
    is_table = what.suffix.lower() in TABLES
    _refuse_misplaced(
        is_table,
        for_tables={"data": data, "collection": collection, "write": write, "accept": accept, "strict": strict},
        for_folders={"corpus": corpus, "generate": generate},
    )
    # Recorded scores have to be reproducible from the table alone.
    if (write or accept) and (sets or embedder or baseline or judge_model):
        msg = "--write and --accept record what the table says, not what --set, --embedder and other options say."
        raise SettingsError(msg, hint="Change the table, or use --report.")
    if write and only:
        msg = "--write writes the report of the whole table, not of a part."
        raise SettingsError(msg, hint="Leave --only out, or use --report.")
    options = EvalOptions(
        what=what,
        is_table=is_table,
        data=data,
        collections=tuple(collection or ()),
        only=tuple(only or ()),
        baseline=baseline,
        sets=tuple(sets or ()),
        embedder=embedder or "",
        base_url=embedder_url,
        corpus=corpus,
        split=split,
        cache=cache,
        fresh=fresh,
        report=report,
        write=write,
        per_query=per_query,
        accept=accept,
        strict=strict,
        as_json=as_json,
        judge_model=judge_model or "",
        generate=generate,
    )
    if generate:
        from anabranch_evaluation.eval_generate import generate_questions

        generate_questions(options)
        return
    raise typer.Exit(run_evaluation(options))


def _refuse_misplaced(is_table: bool, *, for_tables: dict[str, object], for_folders: dict[str, object]) -> None:
    misplaced = [name for name, value in (for_folders if is_table else for_tables).items() if value]
    if misplaced:
        kind, other = ("a folder", "table") if is_table else ("a table", "folder")
        msg = f"--{misplaced[0]} needs {kind}, but a {other} was given."
        raise SettingsError(msg, hint="See anabranch eval --help.")


def require_libraries() -> None:
    """Import the libraries of an evaluation before any work is done.

    Raises:
        MissingExtraError: A library is not installed.
    """
    for name in LIBRARIES:
        try:
            import_module(name)
        except ImportError as error:
            raise MissingExtraError("anabranch eval", "eval") from error
