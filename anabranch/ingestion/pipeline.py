"""From files to a corpus: add, update and remove exactly what changed.

Each document is committed whole; the indexes are made afterwards from what is committed. Whatever stops the run (a bad
file, Ctrl-C, a kill), what was committed stays and the corpus opens.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from anabranch.chunking.hierarchical_chunker import DEFAULT_SIZES, Sizes, check_sizes
from anabranch.chunking.leaf_unit import LEAF_UNIT, choose_unit
from anabranch.errors import SettingsError, UserError
from anabranch.ingestion.access_rights import OPERATOR, AccessRights
from anabranch.ingestion.document_intake import given_documents
from anabranch.ingestion.ingest_report import FileRow, IngestReport, Status
from anabranch.ingestion.ingest_root import IngestRoot
from anabranch.ingestion.intake import Intake
from anabranch.ingestion.isolation.process_limits import Limits
from anabranch.ingestion.sources import gather
from anabranch.models.embedder import Embedder, KnowsLimit
from anabranch.models.embedders import load_embedder
from anabranch.readers import PLAIN, ReadOptions
from anabranch.store.corpus_address import DEFAULT_CORPUS, StrPath, folder_of, list_paths, scheme_of
from anabranch.store.corpus_embedder import CorpusEmbedder, embedder_of
from anabranch.store.stores import open_writer
from anabranch.store.writer_protocol import CorpusWriter, Progress, silent
from anabranch.text.stemmer import checked_language

if TYPE_CHECKING:
    # Imported lazily: it takes a second, and ingesting files does not need it.
    from langchain_core.documents import Document as LangChainDocument
    from langchain_core.embeddings import Embeddings

    from anabranch.ingestion.crawl_limits import CrawlLimits

__all__ = ["FileRow", "IngestReport", "Progress", "Status", "ingest"]


def ingest(
    paths: StrPath | Iterable[StrPath] = (),
    corpus: StrPath = DEFAULT_CORPUS,
    *,
    documents: Iterable[str | LangChainDocument] = (),
    embedder: str | Embeddings | Embedder = "",
    base_url: str | None = None,
    sizes: Sizes | None = None,
    language: str = "",
    access: Sequence[str] = (),
    rights: AccessRights = OPERATOR,
    prune: bool = True,
    remove_missing: bool = False,
    archives: bool = False,
    follow_links: bool = False,
    private_urls: bool = False,
    crawl: CrawlLimits | None = None,
    root: IngestRoot | None = None,
    options: ReadOptions = PLAIN,
    limits: Limits | None = None,
    wait: float = 0.0,
    progress: Progress = silent,
) -> IngestReport:
    """Add files, folders, web pages and documents in memory to a corpus; create it if it is missing.

    Args:
        paths: Files, folders to walk, and addresses of web pages, one or several. An address is text that begins with
            http:// or https://; a `Path` never is one.
        corpus: Folder of the corpus, or its address in another store (`anabranch.store.stores`).
        documents: Texts, and Documents of LangChain (`read_given`). One with the id of an earlier one takes its place;
            none is removed for not being given again (`remove`).
        embedder: How to embed (see `load_embedder`), or an object that does; empty for what the corpus was made with,
            'minilm' for a new one.
        base_url: OpenAI-compatible server of an 'openai:' embedder.
        sizes: Tokens of root, middle and leaf; None for what the corpus was made with, 2048/512/128 for a new one.
        language: Of the Snowball stemmers, or 'none'; the keyword index is made anew where the corpus had another one.
            Empty for the corpus's own; that of a new corpus is detected.
        access: Access tags of the documents taken in. Empty leaves files that are in the corpus the tags they were
            taken in with. A new file then takes those of a file with the same content that is gone, which was renamed,
            and a new archive member all those of the other members; everybody may read any other new file, and the
            report says so where files beside it have tags. A JSONL line with tags of its own keeps to those.
        rights: The rights of the user, if that is not the operator.
        prune: Remove documents whose file is gone from the folders given, or from an archive that was opened.
        remove_missing: Remove them even if they are more than half of a corpus of over 20; else those are kept and
            `IngestReport.missing` counts them, for a disk may not be mounted.
        archives: Ingest the files in archives (ZIP, tar, tar.gz, tar.bz2, tar.xz).
        follow_links: Follow symbolic links to places outside the folders given.
        private_urls: Also fetch pages from the local network.
        crawl: How far to follow the links of web pages within their sites; None for not at all.
        root: The folder to which `paths` are relative, for users who must not read other files of this machine; no page
            is fetched then.
        options: How files are read: passwords, OCR.
        limits: What one file may cost before it is given up; None for two minutes of silence and 2 GiB of memory.
        wait: Seconds to wait for another process that writes.
        progress: Called with the progress; the stages are 'files', 'passages' and 'index', and 'embedder' where that is
            made first.

    Raises:
        UserError: A path does not exist, is a corpus or may not be read, an address is not one of the web, or the
            embedder or the sizes are not those of the corpus; the corpus is a folder of other files; or there is no
            stemmer for the language.
        CorpusLockedError: Another process is writing.
        ModelError: A hosted embedder failed; what was committed before is kept and indexed.
        OperationError: The disk is full, or fails.
    """
    began = time.perf_counter()
    if sizes is not None:
        sizes = check_sizes(sizes)
    # All arguments are checked before a folder is created or a file is opened.
    # The reference keeps a given object alive: the corpus finds it by its spelling.
    _held, spec = _load_embedder(embedder, base_url, progress)
    if language:
        checked_language(language)
    many_paths = list_paths(paths)
    if not many_paths and documents == ():
        msg = "There is nothing to ingest."
        raise UserError(msg, hint="Give `paths`, or `documents` that are in memory.")
    report = IngestReport()
    opening = open_writer(corpus, wait=wait)  # refuses an unknown address before any file is searched
    gathering = gather(
        many_paths,
        skip=(folder_of(corpus),) if scheme_of(corpus) == "file" else (),
        archives=archives,
        follow_links=follow_links,
        private_urls=private_urls,
        crawl=crawl,
        root=root,
    )
    with gathering as found, opening as writer:
        model, chunk_sizes = fix_settings(writer, spec, base_url, sizes, language, progress)
        report.warnings += warn_of_long_leaves(model, chunk_sizes)
        intake = Intake(writer, model, chunk_sizes, access, report, progress, options, limits=limits, rights=rights)
        # After an error or a Ctrl-C, what was committed is still published, so that searches find it.
        is_done = False
        try:
            intake.take(found)
            if documents:
                # A single text would otherwise be iterated letter by letter.
                many = [documents] if isinstance(documents, str) else documents
                intake.take_given(given_documents(many, writer, access))
            intake.remove_gone(found, prune=prune, remove_missing=remove_missing)
            is_done = True
        except KeyboardInterrupt:
            report.interrupted = True
            # Embeddings cost time or money, so they are committed; nothing new is started.
            intake.commit_embedded()
        finally:
            intake.fill_report(found)
            _publish(writer, report, progress, quick=not is_done)
    report.seconds = time.perf_counter() - began
    return report


def _load_embedder(
    given: str | Embeddings | Embedder, base_url: str | None, progress: Progress
) -> tuple[Embedder | None, str]:
    """Return the given embedder and its spelling; None and "" if the corpus decides."""
    if isinstance(given, str):
        return load_embedder(given, base_url, progress) if given else None, given
    from anabranch.models.given_embedder import wrap_embedder

    return wrap_embedder(given)


def _publish(writer: CorpusWriter, report: IngestReport, progress: Progress, *, quick: bool) -> None:
    """Index what is committed; a Ctrl-C during this shortens it, a second one stops it."""
    try:
        writer.publish(quick=quick, progress=partial(progress, "index"))
    except KeyboardInterrupt:
        report.interrupted = True
        writer.publish(quick=True)


def fix_settings(
    writer: CorpusWriter,
    spec: str,
    base_url: str | None,
    sizes: Sizes | None,
    language: str,
    progress: Progress = silent,
) -> tuple[Embedder, Sizes]:
    """Return the embedder and the chunk sizes of this corpus, and store them; the first run decides them.

    Raises:
        EmbedderMismatchError: Another embedder was asked for than the corpus was made with.
        SettingsError: Other sizes were asked for.
    """
    embedder, chosen = settings_of(writer, spec, base_url, sizes, progress)
    unit = choose_unit(writer.meta(LEAF_UNIT), embedder.model, is_empty=writer.is_empty())
    facts = {**embedder.facts, "sizes": json.dumps(chosen), LEAF_UNIT: unit}
    writer.keep_meta({**facts, "language": language} if language else facts)
    return embedder.model, chosen


def warn_of_long_leaves(embedder: Embedder, sizes: Sizes) -> list[str]:
    """Return a warning if leaves may be longer than what the embedder reads of a text."""
    if not isinstance(embedder, KnowsLimit) or sizes[2] <= embedder.limit:
        return []
    problem = f"Leaves may have {sizes[2]} tokens, but {embedder.name} reads only the first {embedder.limit} of a text"
    return [f"{problem}: the rest is found by keywords only. Ingest into a new corpus with smaller chunks."]


def settings_of(
    writer: CorpusWriter, spec: str, base_url: str | None, sizes: Sizes | None = None, progress: Progress = silent
) -> tuple[CorpusEmbedder, Sizes]:
    """Return the embedder and the chunk sizes as `fix_settings` does, but store nothing.

    Raises:
        EmbedderMismatchError: See `fix_settings`.
        SettingsError: See `fix_settings`.
    """
    # Scores and windows of chunks of two sizes would not be comparable.
    known = writer.meta("sizes")
    chosen = sizes or (check_sizes(json.loads(known)) if known else DEFAULT_SIZES)
    embedder = embedder_of(writer, spec, base_url, progress)
    if not writer.is_empty() and known and list(chosen) != json.loads(known):
        msg = f"The corpus was cut into chunks of {known}, not {list(chosen)}."
        raise SettingsError(msg, hint="Leave the sizes out, or ingest into a new corpus.")
    return embedder, chosen
