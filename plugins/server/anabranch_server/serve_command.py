"""`anabranch serve`: questions over HTTP, with conversations that survive a restart."""

from __future__ import annotations

import logging
import socket
from functools import partial
from typing import Annotated

import typer

from anabranch.cli.failures import guarded
from anabranch.cli.output import notes, say
from anabranch.cli.shared_options import BaseUrlOption, CorpusOption, ModelOption
from anabranch.errors import MissingExtraError, SettingsError

PORT = 8300


@partial(guarded, for_others=True)
def serve(
    *,
    corpus: CorpusOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Which port; 0 for any that is free.")] = PORT,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE", help="Where conversations are kept: a folder, or postgresql://... [dim](DIR.server)[/]."
        ),
    ] = None,
    concurrent: Annotated[int, typer.Option(min=1, max=1000, help="Questions that are answered at once.")] = 16,
    log_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORM", help="text: warnings; json: each request, run and step, without their words [dim](text)[/]."
        ),
    ] = None,
) -> None:
    """Serve questions, conversations and LangGraph's own API over HTTP.

    On 127.0.0.1 it is for whoever uses this machine. Before others can reach it, name the file that says who they are
    in ANABRANCH_AUTH.

    [bold]Examples:[/]

    anabranch serve

    anabranch serve --corpus handbook.corpus --model openai:gpt-5-mini --port 8080

    ANABRANCH_AUTH=auth.yaml anabranch serve --host 0.0.0.0 --data postgresql://anabranch@db/anabranch
    """
    from anabranch.cli.settings_options import context_of
    from anabranch.safety.operator import as_operator, environment, needs_identity, operator, set_variables
    from anabranch_server.identity import load_authenticators

    try:
        from anabranch_server.application import create_app
        from anabranch_server.database import is_postgres
        from anabranch_server.log_lines import set_log_format
        from anabranch_server.prometheus_metrics import gather_metrics
        from anabranch_server.requester import is_own_name
        from anabranch_server.uvicorn_server import GracefulServer
        from anabranch_server.warm_start import warm_start
    except ModuleNotFoundError as error:
        raise MissingExtraError("`anabranch serve`", "serve") from error
    given = {"corpus": corpus, "model": model, "base_url": base_url}
    set_variables({name: value for name, value in given.items() if value is not None})
    # The settings are looked at as the operator; what is asked later is asked by whoever asks.
    with as_operator():
        context = context_of([])
    if not needs_identity() and not is_own_name(host):
        msg = f"Whoever reaches {host} could read every document, because nobody is asked who they are."
        raise SettingsError(msg, hint="Name the file that says who may ask in ANABRANCH_AUTH, or listen on 127.0.0.1.")
    if needs_identity():
        load_authenticators()  # what is wrong with the file is said here in a line, and not from within the server
    form = log_format or environment().get("log_format") or "text"
    set_log_format(form)
    gather_metrics()
    place = data or operator().data or _beside(context.corpus)
    if not is_postgres(place):
        # The ingest graph has to know it, too: what people asked is no document.
        set_variables({"data": place})
    listener = _listening(host, port)
    address = f"http://{host}:{listener.getsockname()[1]}"
    if form == "json":
        logging.getLogger("anabranch.server").info("Serving %s at %s", context.corpus, address)
    else:
        say(notes(), f"Serving {context.corpus} at {address} (Ctrl-C stops).")
    app = create_app(place, concurrent=concurrent)
    GracefulServer(app, ahead=partial(warm_start, context)).run(sockets=[listener])


def _beside(corpus: str) -> str:
    """Return the place for the data of a server whose operator named none: beside the corpus, as threads are.

    Raises:
        SettingsError: There is a corpus for each tenant, or none on this machine.
    """
    from anabranch.identity.user import TENANT
    from anabranch.store.corpus_address import scheme_of

    if TENANT in corpus or scheme_of(corpus) == "s3":
        msg = f"Where conversations are kept cannot be told from {corpus}."
        raise SettingsError(msg, hint="Name a folder or a database: --data.")
    return f"{corpus.rstrip('/')}.server"


def _listening(host: str, port: int) -> socket.socket:
    """Listen before anything is loaded, so that a port that is taken is said at once.

    Raises:
        SettingsError: It is taken, or there is no such address here.
    """
    # Names and addresses of IPv4 have no colon.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    # Without it a port that a server has just left cannot be taken for a minute (TIME_WAIT).
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Whoever comes before everything is loaded waits, and is not turned away.
        listener.listen()
    except OSError as error:
        listener.close()
        msg = f"The server cannot listen on {host}, port {port}: {error.strerror}."
        raise SettingsError(msg, hint="Choose another one: --port 8301; --port 0 takes any that is free.") from error
    return listener
