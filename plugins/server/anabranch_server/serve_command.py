"""`anabranch serve`: questions over HTTP, with conversations that survive a restart."""

from __future__ import annotations

import logging
import socket
import sys
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
    port: Annotated[int, typer.Option(min=0, max=65535, help="Which port; 0 for any free one.")] = PORT,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE", help="Where conversations are kept: a folder, or postgresql://... [dim](DIR.server)[/]."
        ),
    ] = None,
    thread_days: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Remove conversations N days after their last use [dim](ANABRANCH_THREAD_DAYS, else never)[/].",
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

    On 127.0.0.1 only this machine reaches it. Before others can, set ANABRANCH_AUTH to the file that says who may ask.

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
        from anabranch_server.thread_expiry import retention_message
        from anabranch_server.uvicorn_server import GracefulServer
        from anabranch_server.warm_start import warm_start
    except ModuleNotFoundError as error:
        raise MissingExtraError("`anabranch serve`", "serve") from error
    given = {"corpus": corpus, "model": model, "base_url": base_url, "thread_days": thread_days}
    set_variables({name: str(value) for name, value in given.items() if value is not None})
    days = operator().thread_days
    # The settings are checked as the operator; later requests run as their callers.
    with as_operator():
        context = context_of([])
    if not needs_identity() and not is_own_name(host):
        msg = f"Anybody who reaches {host} could read every document, because nobody has to authenticate."
        raise SettingsError(msg, hint="Set ANABRANCH_AUTH to the file that says who may ask, or listen on 127.0.0.1.")
    if needs_identity():
        load_authenticators()  # so that an error in the file is one line, and not a traceback of the server
    form = log_format or environment().get("log_format") or "text"
    set_log_format(form)
    gather_metrics()
    place = data or operator().data or _default_data(context.corpus)
    if not is_postgres(place):
        # The ingest graph needs it, too, so that it does not ingest conversations.
        set_variables({"data": place})
    listener = _listen(host, port)
    address = f"http://{host}:{listener.getsockname()[1]}"
    if form == "json":
        logging.getLogger("anabranch.server").info(
            "Serving %s at %s. %s", context.corpus, address, retention_message(days)
        )
    else:
        say(notes(), f"Serving {context.corpus} at {address} (Ctrl-C stops).")
        say(notes(), retention_message(days), style="dim")
    app = create_app(place, concurrent=concurrent)
    GracefulServer(app, on_start=partial(warm_start, context)).run(sockets=[listener])


def _default_data(corpus: str) -> str:
    """Return the default place for the server's data: beside the corpus.

    Raises:
        SettingsError: Each tenant has a corpus, or the corpus is not on this machine.
    """
    from anabranch.identity.user import TENANT
    from anabranch.store.corpus_address import scheme_of

    if TENANT in corpus or scheme_of(corpus) == "s3":
        msg = f"There is no default place for the conversations of {corpus}."
        raise SettingsError(msg, hint="Name a folder or a database with --data.")
    return f"{corpus.rstrip('/')}.server"


def _listen(host: str, port: int) -> socket.socket:
    """Listen before anything is loaded, so that a port in use is reported at once.

    Raises:
        SettingsError: The port is in use, or this machine has no such address.
    """
    # Only IPv6 addresses have a colon.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    # Without it the port stays unusable for a minute after a server has stopped (TIME_WAIT). On Windows two servers
    # could have the same port with it.
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Early connections wait until everything is loaded, and are not refused.
        listener.listen()
    except OSError as error:
        listener.close()
        msg = f"The server cannot listen on {host}, port {port}: {error.strerror}."
        raise SettingsError(msg, hint="Choose another port with --port 8301, or any free one with --port 0.") from error
    return listener
