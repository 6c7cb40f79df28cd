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
        Path | None, typer.Option(metavar="DIR", help="With a table: folder that holds its collections by name.")
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
        str | None, typer.Option(metavar="NAME", help="minilm, openai:MODEL, or a folder with an ONNX model.")
    ] = None,
    base_url: EmbedderUrlOption = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            "-c",
            metavar="DIR",
            help="With a folder: search this corpus, not its corpus.jsonl [dim](without one: ANABRANCH_CORPUS)[/].",
        ),
    ] = None,
    split: Annotated[str, typer.Option(metavar="NAME", help="Which of qrels/*.tsv, where there is no qrels.tsv.")] = (
        "test"
    ),
    cache: Annotated[
        Path, typer.Option(metavar="DIR", help="Keeps a corpus per collection, so that it is embedded once.")
    ] = CACHE,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make the corpora anew.")] = False,
    report: Annotated[Path | None, typer.Option(metavar="FILE.md", help="Write the report there, as Markdown.")] = None,
    per_query: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Write the scores of every query there.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="With a table: --report beside it.")] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="With a table: make what was measured what is expected.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With a table: fail where a collection is not here, too.")
    ] = False,
    judge_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Have this chat model judge answers; with a folder, or `kind: judged`."),
    ] = None,
    generate: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Write questions.jsonl into the folder: N questions about --corpus, by a chat model.",
        ),
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    r"""Measure retrieval and answers: by a table of expected scores, or on a collection of your own.

    A collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, as BEIR has them, or with documents and
    questions.jsonl, which says by regular expressions what their evidence is.
    The exit code is 1 where a score is not what the table expects.

    [bold]Examples:[/]

    anabranch eval my-collection/

    anabranch eval my-collection/ --set rerank=cohere --report report.md

    anabranch eval questions/ --corpus .anabranch/corpus

    anabranch eval questions/ --corpus .anabranch/corpus --generate 30 --set model=openai:gpt-5-mini

    anabranch eval my-collection/ --set model=openai:gpt-5-mini --judge-model openai:gpt-5

    anabranch eval evals/retrieval.yaml --data ~/collections --only scifact
    """
    # Before a corpus is embedded, only to be told at the end that SciPy is missing.
    require_libraries()
    from anabranch_evaluation.eval_output import EvalOptions
    from anabranch_evaluation.eval_run import evaluated

    # By the ending, not by what is there: a folder whose name is mistyped is to be told of as a folder.
    is_table = what.suffix.lower() in TABLES
    _refuse_misplaced(
        is_table,
        for_tables={"data": data, "collection": collection, "write": write, "accept": accept, "strict": strict},
        for_folders={"corpus": corpus, "generate": generate},
    )
    # What is kept in the repository has to be what the table says, or nobody can make it again.
    if (write or accept) and (sets or embedder or baseline or judge_model):
        msg = "--write and --accept record what the table says, not what --set, --embedder and other options say."
        raise SettingsError(msg, hint="Change the table, or use --report.")
    if write and only:
        msg = "--write writes the report of the whole table, not of a part."
        raise SettingsError(msg, hint="Leave --only out, or use --report.")
    asked = EvalOptions(
        what=what,
        is_table=is_table,
        data=data,
        collections=tuple(collection or ()),
        only=tuple(only or ()),
        baseline=baseline,
        sets=tuple(sets or ()),
        embedder=embedder or "",
        base_url=base_url,
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
        from anabranch_evaluation.eval_generate import generated

        generated(asked)
        return
    raise typer.Exit(evaluated(asked))


def _refuse_misplaced(is_table: bool, *, for_tables: dict[str, object], for_folders: dict[str, object]) -> None:
    misplaced = [name for name, value in (for_folders if is_table else for_tables).items() if value]
    if misplaced:
        kind, other = ("a folder", "table") if is_table else ("a table", "folder")
        msg = f"--{misplaced[0]} goes with {kind}, and a {other} was given."
        raise SettingsError(msg, hint="See anabranch eval --help.")


def require_libraries() -> None:
    """Import what an evaluation needs, before any work is done: SciPy alone is larger than what a search needs.

    Raises:
        MissingExtraError: One of them is not installed.
    """
    for name in LIBRARIES:
        try:
            import_module(name)
        except ImportError as error:
            raise MissingExtraError("anabranch eval", "eval") from error
