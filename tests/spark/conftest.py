"""The one local session of the tests."""

from __future__ import annotations

import pytest

from tests.scan.conftest import java, on_disk

__all__ = ["java", "on_disk"]


@pytest.fixture(scope="session")
def spark(java: None) -> None:
    """The project's own local session, one for all tests."""
    from idcore.spark import session

    session.session()
