"""`anabranch ingest`: add files and folders to a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anabranch.cli.shared_options import BaseUrlOption, CorpusOption, EmbedderUrlOption, JsonOption, WaitOption
from anabranch.errors import SettingsError

if TYPE_CHECKING:
    from anabranch.ingestion.crawl_limits import CrawlLimits
    from anabranch.ingestion.isolation.process_limits import Limits


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, addresses of web pages, and s3://bucket/prefix."),
    ],
    *,
    corpus: CorpusOption = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="minilm [dim](the default)[/], multilingual, openai:MODEL, or a folder with an ONNX model.",
        ),
    ] = None,
    embedder_url: EmbedderUrlOption = None,
    chunk_sizes: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Tokens of a root, a middle and a leaf [dim](2048,512,128)[/].")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Language of the documents, such as german [dim](detected)[/]."),
    ] = None,
    access: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG", help="Only callers with one of these tags may read the documents; may be repeated."
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune/--no-prune", help="Remove documents whose file is gone from the given folders.")
    ] = True,
    remove_missing: Annotated[
        bool, typer.Option("--remove-missing", help="Remove them even if they are more than half of the corpus.")
    ] = False,
    archives: Annotated[bool, typer.Option("--archives", help="Ingest the files in ZIP and tar archives.")] = False,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Follow symbolic links that lead out of the given folders.")
    ] = False,
    private_urls: Annotated[
        bool,
        typer.Option("--allow-private-urls", help="Also fetch pages from your own network."),
    ] = False,
    crawl: Annotated[
        bool, typer.Option("--crawl", help="Also follow the links of web pages within their site and folder.")
    ] = False,
    crawl_pages: Annotated[
        int | None, typer.Option(metavar="N", help="Limit of pages of a crawl [dim](500)[/].")
    ] = None,
    crawl_depth: Annotated[
        int | None, typer.Option(metavar="N", help="Limit of links from the first page [dim](5)[/].")
    ] = None,
    password: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Password for protected files; may be repeated. Others can see it in `ps`."),
    ] = None,
    ocr: Annotated[
        bool,
        typer.Option(
            "--ocr/--no-ocr", help="Read scanned pages with Tesseract or the extra `ocr`, where one is installed."
        ),
    ] = True,
    ocr_language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Language of scanned pages, as Tesseract calls it [dim](eng)[/]; may be repeated."
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Skip a file that yields nothing for this long [dim](120)[/]."),
    ] = None,
    memory_limit: Annotated[
        int | None,
        typer.Option(metavar="MIB", help="Skip a file that needs more memory to read [dim](2048)[/]."),
    ] = None,
    summaries: Annotated[
        bool,
        typer.Option(
            "--summaries", help="Have the chat model write a summary of each document, for the retriever `llm`."
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="PROVIDER:NAME", help="Chat model of --summaries, as for `ask`."),
    ] = None,
    base_url: BaseUrlOption = None,
    queue: Annotated[
        bool, typer.Option("--queue", help="Only queue the files; `anabranch work` reads them, on many machines.")
    ] = False,
    wait: WaitOption = 0.0,
    as_json: JsonOption = False,
) -> None:
    r"""Add, update and remove exactly what changed; run it again at any time.

    A file that cannot be read is reported and skipped. After Ctrl-C, finished files stay in the corpus.

    [bold]Examples:[/]

    anabranch ingest docs/

    anabranch ingest report.pdf notes/ --corpus ~/corpora/work

    anabranch ingest board/ --access board --access audit

    anabranch ingest docs/ --summaries --model openai:gpt-5-mini

    anabranch ingest https://example.org/handbook.html mail.zip --archives

    anabranch ingest docs/ --json | jq '.\[] | select(.status == "failed")'
    """
    from anabranch.cli.ingest_view import run_ingest
    from anabranch.cli.queue_actions import QUEUE_ACTIONS
    from anabranch.cli.settings_options import asking_context
    from anabranch.readers import PLAIN, ReadOptions
    from anabranch.store.file_identity import is_url

    # Distinguished here, because `ingest` never takes a `Path` for an address.
    given = tuple(path if is_url(path) else Path(path) for path in paths)
    if (model is not None or base_url is not None) and not summaries:
        msg = "--model and --base-url name the chat model of --summaries."
        raise SettingsError(msg, hint="Add --summaries; --embedder and --embedder-url name the embedder.")
    context = asking_context(None, corpus=corpus, model=model, base_url=base_url)
    if summaries and queue:
        msg = "--summaries cannot be combined with --queue."
        raise SettingsError(msg, hint="Run `anabranch ingest --summaries` when the workers are done.")
    read_options = ReadOptions(tuple(password or ()), ocr=ocr, ocr_languages=tuple(ocr_language or PLAIN.ocr_languages))
    limits = _limits(time_limit, memory_limit)
    run = QUEUE_ACTIONS.get("enqueue") if queue else run_ingest
    code = run(
        given,
        context.corpus,
        as_json=as_json,
        embedder=embedder or "",
        base_url=embedder_url,
        sizes=_sizes(chunk_sizes),
        language=language or "",
        access=tuple(access or ()),
        prune=prune,
        remove_missing=remove_missing,
        archives=archives,
        follow_links=follow_links,
        private_urls=private_urls,
        crawl=_crawl(crawl, crawl_pages, crawl_depth),
        options=read_options,
        limits=limits,
        wait=wait,
        **({"summarised_by": context} if summaries else {}),
    )
    raise typer.Exit(code)


def _limits(seconds: float | None, mebibytes: int | None) -> Limits:
    from anabranch.ingestion.isolation.process_limits import Limits

    default = Limits()
    return Limits(
        default.seconds if seconds is None else seconds, default.bytes if mebibytes is None else mebibytes * (1 << 20)
    )


def _crawl(wanted: bool, pages: int | None, depth: int | None) -> CrawlLimits | None:
    from anabranch.ingestion.crawl_limits import CrawlLimits

    if not wanted:
        if pages is not None or depth is not None:
            raise SettingsError("--crawl-pages and --crawl-depth need --crawl.", hint="Add --crawl.")
        return None
    default = CrawlLimits()
    return CrawlLimits(default.pages if pages is None else pages, default.depth if depth is None else depth)


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
