"""Who asks, in a run of the graph, and what follows from it for the settings.

The server in front may be set up wrongly, and fail to load its authentication without a word. So the graph looks for
itself, in every step: without a user whom an authenticator has made, there are no documents.
"""

from __future__ import annotations

from anabranch.agent.nodes.settings import Context
from anabranch.errors import NotAllowedError, SettingsError
from anabranch.identity.user import AUTH_USER, User
from anabranch.safety.operator import needs_identity


def caller(*, required: bool = True) -> User | None:
    """Return who asks; None where nobody has to say so.

    Args:
        required: Whether an absent user is an error, where people have to say who they are.

    Raises:
        NotAuthenticatedError: ANABRANCH_AUTH is set, and the run has no user, or none who can be believed.
    """
    if not needs_identity():
        return None
    from langgraph.config import get_config  # takes a second, which `anabranch ingest` has no use for

    try:
        # The source of `runtime.server_info.user`; edges that run for `update_state` have a config and no runtime.
        configurable = get_config().get("configurable") or {}
    except RuntimeError:  # outside a graph
        configurable = {}
    found = configurable.get(AUTH_USER)
    return None if found is None and not required else User.from_server(found)


def for_user(operators: Context, user: User) -> Context:
    """Return the operator's settings with what is this user's own: their access tags, and the corpus of their tenant.

    Raises:
        SettingsError: The environment gives access tags to everybody, or one corpus to several tenants.
        NotAllowedError: The user has no tenant where there are several.
    """
    chosen = operators.explicit
    if "access" in chosen:
        msg = "ANABRANCH_ACCESS gives access tags to everybody, and ANABRANCH_AUTH to each their own."
        raise SettingsError(msg, hint="The operator unsets one of them.")
    corpus = user.place(operators.corpus, "ANABRANCH_CORPUS")
    return Context(**{**chosen, "corpus": corpus, "access": user.access})


def hold_to_user(context: Context, user: User) -> None:
    """Let a caller leave out access tags of their own, and add none.

    An error and no silent narrowing: an answer that lacks what was asked for looks like one that found nothing.

    Raises:
        NotAllowedError: They ask for another.
    """
    if beyond := sorted(set(context.access) - set(user.access)):
        msg = f"You do not hold the access tag {beyond[0]!r}."
        raise NotAllowedError(msg, hint="Leave `access` out: your own tags are yours without it.")
