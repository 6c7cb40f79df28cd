"""The command line in this process, as the core's tests have it."""

from tests.cli.conftest import (  # noqa: F401  # fixtures
    _clean_environment,
    _commands_are_built_once,
    corpus,
    documents,
    run,
)
