"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CorpusOption = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        "-c",
        metavar="CORPUS",
        help="Folder or address of the corpus [dim](ANABRANCH_CORPUS, else .anabranch/corpus)[/].",
    ),
]
DocsOption = Annotated[
    Path | None,
    typer.Option(
        "--docs",
        "-d",
        metavar="FOLDER",
        help="Take in the documents of a folder first, as far as they changed; its corpus is kept beside it.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        help="Any setting, its value as JSON or plain text; may be repeated: "
        "--set retrievers=bm25,dense --set fusion=rrf. A prompt may be a file: --set create_prompt=@FILE.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="PROVIDER:NAME",
        help="Chat model, such as openai:gpt-5-mini; the same as --set model=.",
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--base-url", metavar="URL", help="OpenAI-compatible server (vLLM, Ollama, llama.cpp) that serves --model."
    ),
]
EmbedderUrlOption = Annotated[
    str | None, typer.Option("--embedder-url", metavar="URL", help="OpenAI-compatible server of an openai: embedder.")
]
EffortOption = Annotated[
    str | None,
    typer.Option("--effort", "-e", metavar="EFFORT", help="How much the model is asked: quick, normal or deep."),
]
PassagesOption = Annotated[
    int | None, typer.Option("-k", min=1, max=1000, help="Passages to find [dim](the setting top_k)[/].")
]
FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter", metavar="JSON", help='Search only documents that match: \'{"source": {"glob": "notes/*"}}\'.'
    ),
]
AllDocumentsOption = Annotated[
    bool,
    typer.Option(
        "--no-inferred-filter",
        help="Search all documents, whatever the question says; the same as --set infer_filter=false.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]
WaitOption = Annotated[
    float,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0.0,
        show_default=False,
        help="How long to wait for another writer [dim](0)[/].",
    ),
]
