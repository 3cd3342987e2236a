"""The one local session of the tests, here too."""

from tests.scan.conftest import spark

__all__ = ["spark"]
