"""The stagers of the integration tests, for breaking."""

from tests.integration.conftest import local, on_s3, stager

__all__ = ["local", "on_s3", "stager"]
