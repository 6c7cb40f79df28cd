"""Every error Anabranch raises on purpose.

::

    AnabranchError(Exception)              code, hint, retryable
    ├── UserError(ValueError)              what the user gave or configured is wrong: exit code 2
    │   ├── QuestionError                  empty, too long, not text
    │   ├── SettingsError                  unknown key, value out of bounds, unusable prompt
    │   ├── ThreadStateError               what a thread holds is not what a step can use
    │   ├── NotAuthenticatedError          no key or token, or an invalid one
    │   ├── NotAllowedError                the caller lacks a role or an access tag
    │   ├── LimitReachedError              the caller has reached a limit
    │   ├── MissingExtraError              an optional dependency is not installed
    │   ├── MissingKeyError                a hosted provider needs a key, or refused the one given
    │   ├── CorpusNotFoundError            no corpus at that path
    │   ├── DocumentNotFoundError          no such document, or none that the caller may read
    │   ├── CorpusEmptyError               a corpus without passages
    │   ├── CollectionError                a test collection or a table of scores cannot be used
    │   ├── EmbedderMismatchError          the corpus was made with another embedder
    │   └── ReadingError                   a file that cannot become text (ingest reports it and continues)
    └── OperationError(RuntimeError)       something outside failed: exit code 1
        ├── CorpusLockedError              another process is writing
        ├── CorpusUnreachableError         the store of a corpus does not answer, or a copy is out of date
        ├── CorpusDamagedError             a file of the corpus is not what was written
        │   └── IndexDamagedError          a file that can be rebuilt from the database
        └── ModelError                     a model server is down, slow, overloaded or talks nonsense
            ├── RequestRefusedError        it refuses one request: filtered, too long
            └── ClientFaultError           the provider's package failed: a bug in it, or in how it is used

They derive from ValueError and RuntimeError because a LangGraph server masks the text of any other exception.
"""

from __future__ import annotations


class AnabranchError(Exception):
    """Base of the tree: a message for people, a stable code for programs, and what to do next."""

    code = "anabranch"
    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message and the hint apart, so that each interface can show them in its own way."""
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint


class UserError(AnabranchError, ValueError):
    """What the user gave or configured cannot be used as it is."""

    code = "user"


class QuestionError(UserError):
    """The question is empty, too long, or not text."""

    code = "question"


class SettingsError(UserError):
    """A setting is unknown, out of bounds, or contradicts another."""

    code = "settings"


class ThreadStateError(UserError):
    """What a thread holds was edited, or comes from another version, and a step cannot use it."""

    code = "thread_state"


class NotAuthenticatedError(UserError):
    """A request, or a run of the graph, has no valid key, token or user (401)."""

    code = "not_authenticated"


class NotAllowedError(UserError):
    """The caller lacks the role or the access tag for this (403)."""

    code = "not_allowed"


class LimitReachedError(UserError):
    """The caller has reached a limit (429); `retry_after` has the seconds to wait, if known."""

    code = "limit_reached"
    retryable = True

    def __init__(self, message: str, *, hint: str = "", retry_after: int | None = None) -> None:
        """Keep the seconds apart, for the header of that name."""
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class MissingExtraError(UserError):
    """A feature was asked for whose optional dependency is not installed."""

    code = "missing_extra"

    def __init__(self, feature: str, extra: str) -> None:
        """Name the feature and the extra that brings it."""
        super().__init__(
            f"{feature} needs an optional dependency.", hint=f"Install it: pip install 'anabranch[{extra}]'"
        )


class MissingKeyError(UserError):
    """A hosted provider needs a key, or refused the one it was given."""

    code = "missing_key"


class CorpusNotFoundError(UserError):
    """There is no corpus at that path."""

    code = "corpus_not_found"


class DocumentNotFoundError(UserError):
    """The corpus has no such document, or the caller may not read it: nobody is told which (404)."""

    code = "document_not_found"

    def __init__(self, name: str) -> None:
        """Take the name that was given."""
        super().__init__(f"There is no document {name!r}.", hint="`list_documents` lists those that there are.")


class CorpusEmptyError(UserError):
    """The corpus exists and holds no passage."""

    code = "corpus_empty"


class CollectionError(UserError):
    """A test collection, or a table of expected scores, cannot be used."""

    code = "collection"


class EmbedderMismatchError(UserError):
    """The corpus was made with another embedder, so its vectors mean something else."""

    code = "embedder_mismatch"


class ReadingError(UserError):
    """A file cannot become text; `reason` is one word for tables and scripts."""

    code = "reading"

    def __init__(self, message: str, *, reason: str, hint: str = "") -> None:
        """Keep the one-word reason (`encrypted`, `scanned`, `empty`, `broken`, `unsupported`, ...)."""
        super().__init__(message, hint=hint)
        self.reason = reason


class OperationError(AnabranchError, RuntimeError):
    """Something outside the user's request failed."""

    code = "operation"


class CorpusLockedError(OperationError):
    """Another process is writing to the corpus."""

    code = "corpus_locked"
    retryable = True


class CorpusUnreachableError(OperationError):
    """The store of the corpus does not answer in time, or the copy of a published corpus is out of date."""

    code = "corpus_unreachable"
    retryable = True


class CorpusDamagedError(OperationError):
    """A file of the corpus is missing or is not what was written."""

    code = "corpus_damaged"


class IndexDamagedError(CorpusDamagedError):
    """A file of the index is missing or is not what was written; it can be rebuilt from the database."""


class ModelError(OperationError):
    """A model server is down, too slow, overloaded, or answered nonsense."""

    code = "model"
    retryable = True


class RequestRefusedError(ModelError):
    """A model server refuses this request (400, 413, 422): its content is filtered, or it is too long.

    Other requests may succeed, so the step continues without this one.
    """

    code = "request_refused"
    retryable = False


class ClientFaultError(ModelError):
    """The provider's package raised an error of programming (TypeError, AttributeError, IndexError).

    Either the server's reply breaks the protocol, or the package and this program are incompatible; a retry helps with
    neither.
    """

    code = "client_fault"
    retryable = False
