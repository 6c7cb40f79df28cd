"""Every error Anabranch raises on purpose.

::

    AnabranchError(Exception)              code, hint, retryable
    ├── UserError(ValueError)              what the user gave or configured is wrong: exit code 2
    │   ├── QuestionError                  empty, too long, not text
    │   ├── SettingsError                  unknown key, value out of bounds, unusable prompt
    │   ├── ThreadStateError               what a thread holds is not what a step can use
    │   ├── NotAuthenticatedError          nobody says who asks, or not in a way that can be believed
    │   ├── NotAllowedError                who asks is known, and may not do that
    │   ├── LimitReachedError              who asks has used up what they may use for now
    │   ├── MissingExtraError              an optional dependency is not installed
    │   ├── MissingKeyError                a hosted provider needs a key, or refused the one given
    │   ├── CorpusNotFoundError            no corpus at that path
    │   ├── CorpusEmptyError               a corpus with nothing in it
    │   ├── CollectionError                a test collection or a table of scores cannot be used
    │   ├── EmbedderMismatchError          the corpus was made with another embedder
    │   └── ReadingError                   a file that cannot become text (ingest reports it and goes on)
    └── OperationError(RuntimeError)       something outside failed: exit code 1
        ├── CorpusLockedError              another process is writing
        ├── CorpusUnreachableError         where a corpus is does not answer, or a copy is out of date
        ├── CorpusDamagedError             a file of the corpus is not what was written
        │   └── IndexDamagedError          one that can be made anew from the others
        └── ModelError                     a model server is down, slow, overloaded or talks nonsense
            ├── RequestRefusedError        it refuses one request as it is: filtered, too long
            └── ClientFaultError           the provider's package stumbled: a fault in it, or in how it is used

They derive from ValueError and RuntimeError because a LangGraph server masks the text of any other exception.
"""

from __future__ import annotations


class AnabranchError(Exception):
    """Base of the tree: a message for people, a stable code for programs, and what to do next."""

    code = "anabranch"
    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message and the hint apart, so that each way in can show them its own way."""
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
    """A request, or a run of the graph, comes without anything that says who asks, or with something wrong (401)."""

    code = "not_authenticated"


class NotAllowedError(UserError):
    """Who asks is known, and lacks the role or the access tag for it (403)."""

    code = "not_allowed"


class LimitReachedError(UserError):
    """Who asks has used up what they may use for now (429); `retry_after` has the seconds until they may, if known."""

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
    """Where the corpus is does not answer, or not in time; or the copy of a published one is out of date."""

    code = "corpus_unreachable"
    retryable = True


class CorpusDamagedError(OperationError):
    """A file of the corpus is missing or is not what was written."""

    code = "corpus_damaged"


class IndexDamagedError(CorpusDamagedError):
    """A file of the index is missing or is not what was written; it can be made anew from the database."""


class ModelError(OperationError):
    """A model server is down, too slow, overloaded, or answered nonsense."""

    code = "model"
    retryable = True


class RequestRefusedError(ModelError):
    """A model server refuses this request as it is (400, 413, 422): its content is filtered, or it is too long.

    Another request may well be answered, so a step does without this one and the run goes on.
    """

    code = "request_refused"
    retryable = False


class ClientFaultError(ModelError):
    """The provider's package raised what programs raise by mistake (TypeError, AttributeError, IndexError).

    Either the server's reply is not of its protocol, or the package and this program do not fit: trying again later
    cures neither.
    """

    code = "client_fault"
    retryable = False
