"""Renews the leases of a worker's jobs while it lives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from psycopg import Error

from anabranch.errors import AnabranchError
from anabranch_postgres.connection_pool import connect


@contextmanager
def keep_lease(database: str, corpus: int, worker: str, lease: float) -> Iterator[None]:
    """Renew the leases of a worker's jobs until the end of the block, on a separate connection and thread.

    Args:
        database: The address for psycopg.
        corpus: The number of the corpus.
        worker: The name of the worker.
        lease: Seconds that its jobs stay leased, by the database's clock.
    """
    ending = threading.Event()

    def renew() -> None:
        while not ending.is_set():
            # The database may be away for a while; the worker notices by itself.
            with suppress(Error, AnabranchError), closing(connect(database)) as connection:
                while not ending.wait(lease / 4):
                    connection.execute(_RENEW, (lease, corpus, corpus, worker))
            ending.wait(lease / 4)

    thread = threading.Thread(target=renew, name="anabranch-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join(lease)


# Skip locked jobs: the worker is writing them, and each would wait for the other.
_RENEW = (
    "UPDATE anabranch.jobs SET lease = now() + make_interval(secs => %s) WHERE corpus = %s AND id IN (SELECT id FROM "
    "anabranch.jobs WHERE corpus = %s AND worker = %s AND state = 'running' FOR UPDATE SKIP LOCKED)"
)
