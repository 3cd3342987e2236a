"""Whoever has neither two logs nor a store folder at hand still sees what a page answers."""

from __future__ import annotations

import errno
import gc
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.intake import store_uploads
from idcore.simulate import example, played_store
from tests.pages.test_pages import press, shown

Open = Callable[..., AppTest]


def loaded(open_page: Open, page: str, lang: str) -> str:
    """A page without anything, after its example was loaded."""
    app = open_page(page, lang=lang)
    assert not app.exception
    press(app, words(lang)("decode.example"))
    assert not app.exception and not app.error and not app.warning
    return shown(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_two_logs_are_compared(open_page: Open, lang: str) -> None:
    page = loaded(open_page, "compare", lang)
    assert "42 of 45" in page if lang == "en" else "45 个里有 42 个" in page
    assert "10.42.9.2:10911" in page and all(name in page for name in example.COMPARED)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_store_folder_shows_its_topics_those_of_groups_behind_the_others(open_page: Open, lang: str) -> None:
    page = loaded(open_page, "store", lang)
    assert played_store.NAME in page
    order = [page.index(f">{name}<") for name in ("OrderPaid", "UserSignedUp", "%DLQ%fails-0", "SCHEDULE_TOPIC_XXXX")]
    assert order == sorted(order)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_groups_of_a_store_folder_show_who_may_not_consume(open_page: Open, lang: str) -> None:
    page = loaded(open_page, "groups", lang)
    said = words(lang)
    assert said("groups.state.disabled") in page and said("groups.state.behind") in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_message_has_its_journey_to_the_dead_letters(open_page: Open, lang: str) -> None:
    app = open_page("message", lang=lang)
    press(app, words(lang)("decode.example"))
    assert app.query_params["id"] in (played_store.DEAD_LETTER, [played_store.DEAD_LETTER])
    page = shown(app)
    assert not app.exception and "<b>fails-0</b>" in page and words(lang)("message.journey") in page


def test_the_message_is_a_dead_letter_of_the_example(tmp_path: Path) -> None:
    made = played_store.EXAMPLE.write(tmp_path / "store")
    failed = {row["msg_id"]: row["verdict"] for row in made["failed"]}
    assert failed[played_store.DEAD_LETTER] == "dead"


def test_consumers_lack_a_queue_for_some_minutes_and_hardly_anything_else() -> None:
    sent, received = example.producers(), example.consumers()
    lost = [message for message in example.messages() if message.text not in received]
    assert all(message.text in sent for message in example.messages()) and len(lost) == 45
    assert sum(message.stored.broker == "broker-b" and message.stored.queue == 2 for message in lost) == 41


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["store", "message", "groups"])
def test_a_disk_that_takes_no_example_is_said(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, page: str, lang: str
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/secret/place")

    app = open_page(page, lang=lang)
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryDirectory", full)
        press(app, words(lang)("decode.example"))
    assert not app.exception and "store" not in app.query_params
    (said,) = [box.value for box in app.error]
    assert words(lang)("error.ENOSPC") in said
    press(app, words(lang)("decode.example"))
    assert not app.exception and not app.error and app.query_params["store"]


def test_an_upload_that_the_disk_does_not_take_is_said(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sibling: a store folder that is uploaded is laid out on the same disk."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    app = open_page("store")
    monkeypatch.setattr(store_uploads, "laid_out", full)
    app.file_uploader[0].set_value(("00000000000000000000", bytes(64), "application/octet-stream")).run()
    assert not app.exception and words("en")("error.ENOSPC") in app.error[0].value


def test_another_person_may_not_open_the_link_of_an_example() -> None:
    """Nor may the same one, once no session has it any more."""
    kept = store_uploads.hold(["x"], ["x"], "ann", lambda root: ({"x": root}, []))
    token = kept.token
    assert store_uploads.held(token, "ann") is kept
    assert store_uploads.held(token, "bob") is None and store_uploads.held(token, None) is None
    place = Path(kept.place.name)
    del kept
    gc.collect()
    assert store_uploads.held(token, "ann") is None and not place.exists()
