"""What the tests of the core, in tests/, and those of the plugins, in plugins/*/tests/, share."""

pytest_plugins = ["tests.shared_fixtures", "tests.servers.fixtures", "tests.models.model_fixtures"]
