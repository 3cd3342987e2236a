"""A store on its page from topics and files down to records; several ids; stores that stay open; uploads by a link."""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.answers.lookup.store_groups import OfTopic
from idcore.base.catalogue import words
from idcore.intake import store_uploads
from idcore.presentation.reader import Reader
from idcore.presentation.times import UTC
from idcore.rocketmq.store import StoreFolder
from idcore.rocketmq.store.commitlog import Stored
from idcore.simulate.played_store import EXAMPLE
from pages.parts.messages import store_groups, stores, uploads
from tests.pages.test_messages import SECOND, buttons
from tests.pages.test_pages import press, shown
from tests.pages.test_uploads import LOG, Uploaded
from tests.store.unpacked import ARCHIVE, real_store

Open = Callable[..., AppTest]
OFFSET_ID = "7F0000010000559700000000000000F6"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def open_store(store: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    return lambda **query: open_page("store", store=str(store), **query)


def test_a_huge_value_of_the_address_goes_into_no_link_of_a_store(open_store: Open) -> None:
    page = shown(open_store(which="w" * 10_000))
    assert "topic=VectorTopic" in page and "w" * 5_000 not in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_topic_leads_to_its_queues_and_a_queue_to_its_records(open_store: Open, lang: str) -> None:
    page = shown(open_store(lang=lang))
    assert "topic=VectorTopic" in page and "topic=VectorTopic&amp;queue=0" in page and f"file={LOG}" in page
    page = shown(app := open_store(lang=lang, topic="VectorTopic"))
    assert "topic=VectorTopic&amp;queue=0" in page and words(lang)("store.first") in page and not app.exception
    app = open_store(lang=lang, topic="VectorTopic", queue="0")
    page = shown(app)
    assert "id=246" in page and f"id={SECOND}" in page and not app.exception and not app.warning
    press(app, words(lang)("store.page_after"))
    assert app.query_params["offset"] in ("25", ["25"]) and "id=246" not in shown(app)
    press(app, words(lang)("store.page_before"))
    assert "id=246" in shown(app)
    press(app, words(lang)("store.back"))
    assert "topic" not in app.query_params and "queue" not in app.query_params and not app.exception


def test_a_file_leads_to_its_records_by_physical_offset(open_store: Open) -> None:
    app = open_store(file=LOG, at="246")
    page = shown(app)
    assert "Physical offsets 246 to" in page and "id=583" in page and "VectorTopic" in page
    press(app, "Earlier")
    assert "Physical offsets 0 to" in shown(app) and "Earlier" not in buttons(app)
    press(app, "Later")
    assert "Physical offsets 0 to" not in shown(app) and not app.exception


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"topic": "No![x](y)"}, r"There is no topic No!\[x\]"),
        ({"topic": "VectorTopic", "queue": "99"}, "Topic VectorTopic has no queue 99"),
        ({"topic": "VectorTopic", "queue": "²"}, "has no queue ²"),
        ({"file": "../../etc/passwd"}, "There is no commit log file ../../etc/passwd"),
    ],
)
def test_what_a_link_names_and_the_store_does_not_have_is_said(
    open_store: Open, query: dict[str, str], said: str
) -> None:
    app = open_store(**query)
    assert said in app.warning[0].value and not app.exception
    assert "VectorTopic" in shown(app), "and what is there is offered"
    app = open_store(topic="VectorTopic", queue="0", offset="99999999999")
    assert not app.exception and "Earlier" in buttons(app), "an offset behind the end is the last page"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_became_of_a_record_in_each_group_is_below_it(open_store: Open, lang: str) -> None:
    said = words(lang)
    app = open_store(lang=lang, id="CB0071156B7B4E0E2F2A691BA5A307BD")
    page = shown(app)
    assert said("fate.table") in page and said("fate.verdict.consumed_on_retry", tries="1") in page.lower()
    assert said("fate.why.copied_connection_unknown")[1:] in page and not app.exception
    notes = [caption.value for caption in app.caption]
    assert any("01:56:20.061" in note for note in notes), "of which time the folder is"
    assert said("fate.verdict.consumed") in shown(open_store(lang=lang, id="583")).lower(), "a bare offset too"


def test_several_ids_are_each_answered(open_store: Open) -> None:
    app = open_store(id=f"{SECOND},{OFFSET_ID},99999999,no-such-key")
    page = shown(app)
    assert "<b>2</b> of <b>4 IDs</b> found." in page and not app.exception
    assert len(app.warning) == 2 and page.count("plain message 1 of prodA") >= 2
    app.text_area(key="store_id").set_value("246\n583")
    press(app, "Look up")
    assert app.query_params["id"] in ("246,583", ["246,583"]) and "<b>2</b> of <b>2 IDs</b>" in shown(app)
    app.text_area(key="store_id").set_value("")
    press(app, "Look up")
    assert "id" not in app.query_params and not app.exception


def test_a_store_stays_open_while_other_pages_are_visited(open_store: Open, store: Path) -> None:
    app = open_store(id="246")
    app.switch_page("pages/runs/runs.py").run()
    for name in ("store", "id"):
        app.query_params.pop(name, None)
    app.switch_page("pages/messages/store.py").run()
    assert "VectorTopic" in shown(app) and app.query_params["store"] in (str(store), [str(store)])
    app.text_input(key="store_folder").set_value("").run()
    assert "VectorTopic" not in shown(app) and "store" not in app.query_params


def test_the_open_store_answers_for_every_page_of_messages(open_store: Open, store: Path) -> None:
    """On a page of another kind the address has no store: the session has it, and a chip closes it."""
    app = open_store()
    for page, wanted in (("message", "VectorTopic"), ("groups", "retry_group"), ("lookup", "open store folder")):
        app.switch_page(f"pages/messages/{page}.py")
        app.query_params.pop("store", None)
        if page == "message":
            app.query_params["id"] = SECOND
        page_text = shown(app.run()) + str([link.proto.label for link in app.get("page_link")])
        assert wanted in page_text and not app.exception, page
        assert app.query_params["store"] in (str(store), [str(store)])
    press(app, f"Store folder {store.name}")
    assert "store" not in app.query_params and f"Store folder {store.name}" not in buttons(app)


@pytest.mark.parametrize(
    ("lang", "all_of_them", "one"),
    [
        ("en", "3 consumer groups</b> in 2 topics", "does not show who is connected"),
        ("zh", "3 个消费组", "没有在线客户端的信息"),
    ],
)
def test_groups_of_a_store_lead_to_their_queues(
    open_page: Open, store: Path, monkeypatch: pytest.MonkeyPatch, lang: str, all_of_them: str, one: str
) -> None:
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    app = open_page("groups", store=str(store), lang=lang)
    assert all_of_them in shown(app) and "group=retry_group&amp;" in shown(app) and not app.exception
    page = shown(app := open_page("groups", store=str(store), topic="VectorTopic", group="retry_group", lang=lang))
    assert one in page and "705" in page and "%DLQ%retry_group" in page and "2026-" in page and not app.exception
    ways = [dict(parse_qsl(unescape(at))) for at in re.findall(r'href="store\?([^"]+)"', page)]
    assert {way["topic"] for way in ways} == {"VectorTopic", "%RETRY%retry_group", "%DLQ%retry_group"}
    for way in ways:  # the first record that the group has not consumed, its retries, its dead letters
        leads = shown(open_page("store", **(way | {"lang": lang})))
        assert (f"{int(way['offset']):,}" if "offset" in way else way["topic"]) in leads
    app = open_page("groups", store=str(store), topic="No<b>", group="nobody", lang=lang)
    assert "No&lt;b&gt;" in shown(app) and not app.exception


def test_the_group_whose_oldest_message_waits_longest_is_named(
    open_page: Open, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreFolder(store) as folder:
        evidence, records = StoreEvidence(folder), [one for one in folder.log.walk() if isinstance(one, Stored)]
        rows, offsets = store_groups.core.dated_rows_of(evidence), folder.config.offsets or {}
        for each in rows:  # slow: every record of the log
            read = offsets.get((each.topic, each.row.group), {})
            waiting = [
                one.record.store_timestamp
                for one in records
                if one.record.topic == each.topic and one.record.queue_offset >= read.get(one.record.queue_id, 1 << 60)
            ]
            assert each.oldest_ms == min(waiting, default=None), each
        longest = store_groups.html.longest(rows, evidence.snapshot_ms, Reader(words("en"), UTC))
        assert "Group **retry_group" in longest and "1 min 18 s before this copy" in longest
        assert store_groups.html.longest(rows, evidence.snapshot_ms - 60_000, Reader(words("en"), UTC)) == ""
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    page = shown(open_page("groups", store=str(store)))
    assert "waits longest" in page and "Oldest waits for" in page


def test_the_table_of_groups_is_made_again_only_for_a_store_that_changed(
    open_page: Open, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(store, tmp_path / "copy"))
    made: list[int] = []
    whole = store_groups.core.rows_of

    def counted(evidence: StoreEvidence) -> list[OfTopic]:
        made.append(1)
        return whole(evidence)

    monkeypatch.setattr(store_groups.core, "rows_of", counted)
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(copy))
    app = open_page("groups", store=str(copy))
    assert "retry_group" in shown(app.run()) and len(made) == 1
    offsets = copy / "config" / "consumerOffset.json"
    offsets.write_text(offsets.read_text().replace("retry_group", "another_group"))
    assert "another_group" in shown(app.run()) and len(made) == 2 and not app.exception


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_groups_without_offsets_nobody_says_how_far_behind_they_are(
    lang: str, open_page: Open, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their retries and dead letters are in the commit log: 0 behind, in no topics, was said of them."""
    copy, texts = Path(shutil.copytree(store, tmp_path / "copy")), words(lang)
    for name in (copy / "config").glob("consumerOffset.json*"):
        name.unlink()
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(copy))
    page = shown(open_page("groups", store=str(copy), lang=lang))
    assert texts.count("topic", 0) not in page and texts("groups.not_known") in page.partition("mq-table")[0]


def test_a_broadcasting_group_is_not_counted_as_behind(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its clients has its own offset: the folder does not know how far they are, and says so of each topic."""
    replace(EXAMPLE, messages=300, groups=6).write(tmp_path / "store")
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path))
    page = shown(open_page("groups", store=str(tmp_path / "store")))
    assert "broadcasts-5" in page and "3 behind" in page, "lags-2, skips_a_queue-3, disabled-4"


def test_stores_below_an_allowed_folder_are_offered(
    open_page: Open, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "broker" / "commitlog").mkdir(parents=True)
    (tmp_path / os.fsdecode(b"st\xffre") / "commitlog").mkdir(parents=True)
    (tmp_path / "outside").symlink_to(store)
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path))
    app = open_page("store")
    found = [name for name in buttons(app) if "/" in name]
    broker = str(tmp_path / "a" / "broker")
    assert found == [words()("store.ask", path=broker)], "no link is followed, and no name that is not text is offered"
    hint = next(box for box in app.text_input if box.key == "store_folder").placeholder
    assert f"{tmp_path}/store" in hint and str(tmp_path) in app.caption[0].value
    press(app, found[0])
    assert app.query_params["store"] in (broker, [broker])


def test_uploads_stay_open_and_a_link_opens_them_as_long_as_somebody_has_them(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = [Uploaded("store.tar.gz", ARCHIVE.read_bytes())]
    app = open_page("store")
    monkeypatch.setattr(stores.st, "file_uploader", lambda *_, **__: given)
    app.session_state["store_new"] = True
    app.run()
    assert "VectorTopic" in shown(app) and not app.exception
    address = app.query_params["store"][0] if isinstance(app.query_params["store"], list) else app.query_params["store"]
    assert address.startswith(stores.UPLOAD)
    given.clear()  # another page was visited: the uploader is empty
    assert "VectorTopic" in shown(app.run()) and "store.tar.gz" in shown(app)
    other = open_page("store", store=address, topic="VectorTopic")
    assert "Topic VectorTopic" in [head.value for head in other.header], "by a link, in another session"
    press(other, "Close")
    assert "VectorTopic" not in shown(other) and "VectorTopic" in shown(app.run())
    press(app, "Close")
    gc.collect()
    gone = open_page("store", store=address)
    assert "no longer on the server" in gone.warning[0].value and not gone.exception
    assert uploads.held("0" * 16) is None


def test_what_is_unpacked_is_counted_in_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    moved: list[tuple[str, int, int]] = []
    upload = Uploaded("store.tar.gz", ARCHIVE.read_bytes())
    store_uploads.laid_out([upload], tmp_path, words("en"), lambda *told: moved.append(told))
    assert {name for name, _, _ in moved} == {"store.tar.gz"} and len({total for *_, total in moved}) == 1
    done = [at for _, at, _ in moved]
    assert done == sorted(done) and done[0] > 0 and done[-1] <= moved[0][2]
    shown_text: list[str] = []

    class Bar:
        def progress(self, share: float, text: str) -> None:
            shown_text.append(text)

    uploads._show(Bar(), words("en"), "a*b.tar", 3 << 20, 4 << 20)
    assert not shown_text, "between the steps nothing is sent"
    uploads._show(Bar(), words("en"), "a*b.tar", 4 << 20, 4 << 20)
    assert shown_text == [r"Unpacking a\*b.tar: 4.0 MiB of 4.0 MiB, 100%"]


@pytest.mark.parametrize("page", ["message", "groups", "lookup"])
def test_without_a_cluster_a_page_of_messages_offers_the_store_folders_of_the_server(
    store: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    app = open_page(page, **({"id": SECOND} if page == "message" else {}))
    ask = words()("store.ask", path=str(store))
    assert not app.exception and ask in buttons(app)
    if page == "message":
        assert words()("message.ask_store_next") in shown(app)
    press(app, ask)
    assert not app.exception and ask not in buttons(app)
    assert app.query_params["store"] in (str(store), [str(store)])
    if page == "message":
        assert words()("message.ask_store_next") not in shown(app) and words()("message.records") in shown(app)
