"""The pages of messages: a real store folder, and look-ups whose answers hold its real records. Nobody is dialled."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.fate import Reason, Verdict
from idcore.answers.fate.model import Fact
from idcore.answers.lookup import Answer, Copy, Evidence, Offer, Progress, copy_row, shared
from idcore.base.catalogue import words
from idcore.presentation.html import records
from idcore.rocketmq.message import Host, Message, Record, flags
from idcore.rocketmq.remoting import profile
from idcore.rocketmq.remoting.profile import from_file
from idcore.rocketmq.store import CommitLog, Stored, StoreFolder
from idcore.server import jobs
from idcore.simulate.writer import StoreWriter
from pages.parts import scans
from pages.parts.messages import stores
from pages.parts.view import View
from tests.message.wire_form import encode_message
from tests.pages.test_pages import press, shown
from tests.store.unpacked import real_store

Open = Callable[..., AppTest]
VECTORS = Path(__file__).resolve().parents[1] / "vectors"
SECOND = "CB0071156B7B4E0E2F2A691B8D7D0001"  # the second record of the store, at offset 246


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def open_store(store: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    return lambda **query: open_page("store", store=str(store), **query)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_store_says_what_it_holds(open_store: Open, lang: str) -> None:
    app = open_store(lang=lang)
    assert not app.exception and not app.error
    text = shown(app)
    assert "VectorTopic" in text and "00000000000001048576" in text and "1,048,576" in text


def test_every_record_of_a_folder_is_scanned_at_a_click(
    store: Path, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[list[str], str | None]] = []
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(scans, "launch", lambda run, paths, dated, store, **_: begun.append((paths, store)))
    app = open_store()
    next(button for button in app.button if button.label == "Scan every record").click().run()
    assert begun == [([], str(store))] and not app.exception


@pytest.mark.parametrize("asked", [SECOND, "7F0000010000559700000000000000F6", "246"])
def test_a_record_is_found_by_either_id_and_by_its_offset(open_store: Open, asked: str) -> None:
    app = open_store(id=asked)
    text = shown(app)
    assert not app.exception
    assert SECOND in text and "plain message 1 of prodA" in text
    assert "store ip" in text and "physical offset" in text, "the ruler names every field"
    press(app, "Next record, 583")
    assert not app.exception and app.query_params["id"] == "583" and "Previous record, 246" in buttons(app)


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


@pytest.mark.parametrize(
    "asked", ["100", "99999999", "7F00000100005597000000000000000A", "no-such-key", SECOND[:-1] + "F"]
)
def test_why_a_record_is_not_there_is_told_in_words(open_store: Open, asked: str) -> None:
    for lang in ("en", "zh"):
        app = open_store(id=asked, lang=lang)
        text = shown(app)
        assert not app.exception and app.warning and words(lang)("lookup.next") in text, "and what to try next"
        names = re.findall(r"<tr><td>([^<]*)</td>", text)
        known = set(words(lang).table("fact.").values())
        assert names and set(names) <= known, "every fact has its words"


def test_an_offset_inside_a_record_is_said_to_be_one(open_store: Open) -> None:
    assert "byte 100 (field body) of the record that begins at 0" in open_store(id="100").warning[0].value
    app = open_store(id="100", lang="zh")
    assert "第 100 字节" in app.warning[0].value
    press(app, "打开 0 处的记录")
    assert not app.exception and not app.warning and app.query_params["id"] == "0"


@pytest.mark.parametrize(
    ("lang", "wanted"),
    [
        ("en", ("the message", "retry copy for consumer group", "waiting copy of retry")),
        ("zh", ("消息本身", "的暂存记录")),
    ],
)
def test_copies_of_one_id_say_what_each_is(open_store: Open, lang: str, wanted: tuple[str, ...]) -> None:
    text = shown(open_store(id="CB0071156B7B4E0E2F2A691BA5A307BD", lang=lang))
    assert all(part in text for part in wanted), text[:2_000]


def test_a_record_shows_every_value_and_what_points_at_it(open_store: Open) -> None:
    text = shown(open_store(id=SECOND))
    for wanted in (
        "total size · 0–3 · 337",
        "queue offset · 20–27 · 0",
        "store port",
        "entry points to this record",
        f"VectorTopic#{SECOND}",
        "entry 2 of 20261121015013338",
    ):
        assert wanted in text, wanted
    assert "20261121015013338 的第 2 个条目" in shown(open_store(id=SECOND, lang="zh"))


def test_an_inner_batch_and_what_is_broken_are_told_in_both_languages(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, both = Host(bytes((10, 0, 0, 1)), 10911), flags.INNER_BATCH | flags.NEED_UNWRAP
    batch = [Message.of("T", b"item <b>0</b>").with_uniq_id(SECOND), Message.of("T", b"\xff\xfe")]
    items = b"".join(map(encode_message, batch))
    with StoreWriter(tmp_path / "s") as writer:
        for body, sys_flag in (
            (items, both),
            (items[:-3], both),
            (b"no frame at all", 1 | 1 << 8),
            (b"x", flags.ROLLBACK),
        ):
            made = Record.of(
                "T",
                body,
                "KEYS\x01a\x02",
                queue_id=0,
                born_timestamp=1,
                born_host=host,
                store_host=host,
                sys_flag=sys_flag,
            )
            assert writer.put(made, 1_795_000_000_000).records
        ends = writer.end
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path))
    with StoreFolder(tmp_path / "s") as folder:
        offsets = [found.offset for found in folder.log.walk() if isinstance(found, Stored)]
    for offset, told, chinese in (
        (offsets[0], "2 messages in this inner batch", "此内部批量：2 条消息"),
        (offsets[0], "item &lt;b&gt;0&lt;/b&gt;", "ff fe"),
        (offsets[1], "the bytes end inside properties", "数据在 properties 处中断"),
        (offsets[2], "the body is not valid LZ4", "消息体不是有效的 LZ4"),
        (offsets[3], "get none", "不进入队列"),
    ):
        for lang, wanted in (("en", told), ("zh", chinese)):
            app = open_page("store", store=str(tmp_path / "s"), id=str(offset), lang=lang)
            assert not app.exception and wanted in shown(app), (offset, wanted)
    with next((tmp_path / "s" / "commitlog").iterdir()).open("r+b") as file:
        file.seek(offsets[1])
        file.write(b"\0\0\0\7")
    app = open_page("store", store=str(tmp_path / "s"), id=str(offsets[1]), lang="zh")
    assert "total_size 是 7；这类记录最短也有" in app.warning[0].value and ends > offsets[3]


@pytest.mark.parametrize("path", ["/etc", "../..", "s3://bucket/store"])
def test_a_folder_that_was_not_opened_is_not_read(
    open_page: Open, store: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store))
    app = open_page("store", store=path)
    assert str(store) in app.error[0].value and "00000000000000000000" not in shown(app)


def test_without_allowed_folders_only_uploads_are_offered(open_page: Open) -> None:
    app = open_page("store")
    assert not app.text_input and "IDCORE_ALLOWED_PATHS" in shown(app)


def test_look_ups_are_off_until_a_cluster_is_configured(open_page: Open, tmp_path: Path) -> None:
    app = open_page("lookup")
    assert not app.exception and not app.text_area and profile.EXAMPLE.strip() in app.code[0].value.strip()
    path = tmp_path / "clusters.toml"
    path.write_text(profile.EXAMPLE)
    assert list(from_file(path, {})) == ["production"], "the example on the page is no profile"


CLOCK = "2026-11-21T01:00:00.500+00:00"


class Answering:
    """A source that answers from the real store, and remembers who asked what."""

    def __init__(self, log: CommitLog) -> None:
        found = [item for item in log.walk() if isinstance(item, Stored)]
        self.by_id = {item.record.uniq_id: item.record for item in found}
        self.asked: list[tuple[list[str], str | None, str]] = []

    def look_up(
        self, ids: list[str], topic: str | None, user: str, progress: Progress, fate: bool, trace: bool
    ) -> Iterator[Answer]:
        self.asked.append((ids, topic, user))
        progress(3, 7, "VectorTopic")
        for text in ids:
            if text in self.by_id:
                copies = (Copy(self.by_id[text], "broker-a"), Copy(self.by_id[text], "broker-b", "retry", "g"))
                known = (self.fate(self.by_id[text]),) if fate else None
                yield Answer(text, copies, None, (), ("127.0.0.1:10911",), fate=known)
            else:
                evidence = (Evidence.of("clock", broker="broker-a", clock=CLOCK, here="9 ms after 1970"),)
                yield Answer(text, (), "clock_behind", evidence, ("127.0.0.1:10911",))

    def fate(self, record: Record) -> Verdict:
        values = {"tries": 2, "due": 1_795_000_000_500}
        facts = (Fact("consumer_offset", 1_234, 1_795_000_000_000), Fact("subscription", None))
        return Verdict("<g>", str(record.offset_id), "retry_waiting", "proved", values, (Reason("late"),), facts)


@pytest.fixture
def source(store: Path, monkeypatch: pytest.MonkeyPatch) -> Answering:
    made = Answering(CommitLog(store / "commitlog"))
    monkeypatch.setenv("IDCORE_NAMESRV", "127.0.0.1:1")
    monkeypatch.setattr(shared, "_source", lambda *_: made)
    return made


def test_a_secret_that_was_changed_makes_another_source(
    open_page: Open, source: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []

    def made(offer: Offer) -> Answering:
        keys.append(offer.key)
        return source

    monkeypatch.setattr(shared, "_source", made)
    monkeypatch.setenv("ROCKETMQ_ACCESS_KEY", "reader")
    for secret in ("one secret", "one secret", "another secret"):
        monkeypatch.setenv("ROCKETMQ_SECRET_KEY", secret)
        press(open_page("lookup", id=SECOND), "Look up")
    assert keys[0] == keys[1] != keys[2]
    assert not any("secret" in key for key in keys)


@pytest.mark.parametrize(("lang", "button", "reason"), [("en", "Look up", "clock is slow"), ("zh", "查询", "时钟偏慢")])
def test_a_link_fills_the_box_and_only_a_click_asks(
    open_page: Open, source: Answering, lang: str, button: str, reason: str
) -> None:
    ids = f"{SECOND},0A0000070D5818B4AAC2000F42400064"
    app = open_page("lookup", id=ids, topic="VectorTopic", lang=lang, zone="Asia/Shanghai")
    assert not app.exception and source.asked == []
    press(app, button)
    assert not app.exception
    assert [(len(ids), topic) for ids, topic, _ in source.asked] == [(2, "VectorTopic")]
    text = shown(app)
    assert "plain message 1 of prodA" in text and reason in text
    assert "2026-11-21 09:00:00.500 +08:00" in text and "9 ms after 1970" in text and CLOCK not in text
    assert f"{SECOND},0A0000070D5818B4AAC2000F42400064" in str(app.query_params["id"])


@pytest.mark.parametrize(
    ("lang", "button", "said"),
    [
        ("en", "Look up", "Waiting for retry 2 after a failure, due at 2026-11-18 "),
        ("zh", "查询", "消费失败，第 2 次重试将在 2026-11-18 "),
    ],
)
def test_what_became_of_a_message_is_below_its_record_where_it_was_asked(
    open_page: Open, source: Answering, lang: str, button: str, said: str
) -> None:
    app = open_page("lookup", id=SECOND, lang=lang, zone="Asia/Shanghai")
    press(app, button)
    assert "&lt;g&gt;" not in shown(app) and "fate" not in app.query_params
    app.checkbox[0].check()
    press(app, button)
    text = shown(app)
    assert (not app.exception and app.query_params["fate"] == ["1"]) or app.query_params["fate"] == "1"
    assert said in text and "&lt;g&gt;" in text and "<g>" not in text and "1,234" in text
    assert words(lang)("fate.disproof.retry_waiting") in text and words(lang)("fate.certainty.proved") in text
    app.query_params["fate"] = "0"
    assert "&lt;g&gt;" not in shown(app.run())


def test_an_answer_is_not_shown_under_the_link_of_another_id(open_page: Open, source: Answering) -> None:
    app = open_page("lookup", id=SECOND, key="order-10017")
    press(app, "Look up")
    assert "plain message 1 of prodA" in shown(app) and "key" not in app.query_params
    cluster = app.query_params["cluster"]
    app.query_params["cluster"] = "another"
    assert "plain message 1 of prodA" not in shown(app.run())
    app.query_params["cluster"] = cluster
    assert "plain message 1 of prodA" in shown(app.run())
    app.query_params["id"] = "0A0000070D5818B4AAC2000F42400064"
    assert "plain message 1 of prodA" not in shown(app.run())


@pytest.mark.parametrize("page", ["decode", "anatomy"])
def test_an_id_leads_to_its_message_where_there_is_a_way(
    open_page: Open, store: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    query = {"ids" if page == "decode" else "id": SECOND}
    links = [words("en")(f"card.{way}") for way in ("lookup", "store")]
    assert not set(links) & set(labels(open_page(page, **query)))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(store.parent))
    monkeypatch.setenv("IDCORE_NAMESRV", "127.0.0.1:1")
    assert set(links) <= set(labels(open_page(page, **query)))


def labels(app: AppTest) -> list[str]:
    """What the links of a page say."""
    return [element.proto.label for element in app.get("page_link")]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"body": None, "body_withheld": "switched_off", "body_size": 5}, "administrator has disabled bodies"),
        ({"body": "PGI+", "body_text": "<b>", "body_withheld": None}, "&lt;b&gt;"),
        ({"body": "eyJhIjogMX0=", "body_text": '{"a": 1}', "body_withheld": None}, "&quot;a&quot;: 1"),
        ({"body": "AAEC", "body_text": None, "body_withheld": None}, "00 01 02"),
    ],
)
def test_bodies_are_shown_as_they_may_be_and_escaped(row: dict[str, Any], text: str) -> None:
    assert text in "".join(records.body(row, words("en")))


def test_a_record_that_the_store_contradicts_and_an_id_of_another_broker_are_told(
    store: Path, tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "s"
    shutil.copytree(store, folder)
    with (folder / "commitlog" / f"{0:020d}").open("r+b") as file:
        file.seek(246 + 15)  # the last byte of queue_id
        (queue_id,) = file.read(1)
        file.seek(246 + 15)
        file.write(bytes([queue_id ^ 8]))
    (folder / "index" / "20261121015013338").unlink()
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path))
    for lang, doubt, address in (
        ("en", "Its queue has no entry for it", "in the ID 10.0.0.1:10911"),
        ("zh", "队列中没有它的条目", "10.0.0.1:10911"),
    ):
        app = open_page("store", store=str(folder), id="0A00000100002A9F00000000000000F6", lang=lang)
        assert not app.exception and doubt in app.warning[0].value
        assert address in shown(app), shown(app)[:3_000]
        sound = open_page("store", store=str(folder), id="583", lang=lang)
        assert not sound.warning and "10.0.0.1" not in shown(sound)
    refused, read = folder / "commitlog" / f"{1 << 20:020d}", os.open

    def opened(path: Any, *rest: Any, **more: Any) -> int:
        if path == refused:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return read(path, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
    for lang, told in (("en", "Could not be read"), ("zh", "未能读取")):
        app = open_page("store", store=str(folder), id="7F00000100005597000000000010C8E0", lang=lang)
        assert not app.exception and not app.error
        assert told in shown(app) and f"commitlog/{refused.name}" in shown(app)


def test_an_upload_says_how_all_its_records_are_scanned(
    open_store: Open, open_page: Open, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "scan --store" not in shown(open_store())
    monkeypatch.setattr(stores, "choose", lambda words: store)
    app = open_page("store")
    assert "scan --store FOLDER --out DIR" in shown(app) and "Scan every record" not in buttons(app)


def test_of_an_id_with_thousands_of_records_some_are_shown_and_the_rest_is_counted(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(bytes((10, 0, 0, 1)), 10911)
    made = [
        Record.of(
            "T",
            b"%d" % number,
            f"UNIQ_KEY\x01{SECOND}\x02",
            queue_id=0,
            born_timestamp=1_795_000_000_000,
            born_host=host,
            store_host=host,
        )
        for number in range(250)
    ]
    with StoreWriter(tmp_path / "s") as writer:
        assert len(writer.put_all(made, 1_795_000_000_000).records) == 250
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path))
    app = open_page("store", store=str(tmp_path / "s"), id=SECOND)
    assert not app.exception
    assert [caption.value for caption in app.caption][:2] == [
        "The first 200 of 250 are shown.",
        "The first 20 of 250 are shown.",
    ]
    assert len([label for label in buttons(app) if label.startswith("Next record")]) == 20


@pytest.mark.parametrize("template", [None, "https://tempo/trace/{trace_id}"])
def test_a_trace_id_of_another_tracer_is_a_link_where_the_operator_has_a_template(template: str | None) -> None:
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    host = Host(b"\x0a\0\0\1", 10911)
    properties = f"traceparent\x0100-{trace_id}-00f067aa0ba902b7-01\x02sw8\x01<script>\x02"
    record = Record.of("T", b"x", properties, queue_id=0, born_timestamp=1, born_host=host, store_host=host)
    view = View(words("en"), UTC, "UTC", "chosen", "light")
    text = records.card(copy_row(Copy(record, trace_link=template)), view)
    assert "Trace ID of traceparent" in text and "<script>" not in text and "Trace ID of sw8" not in text
    assert (f'href="https://tempo/trace/{trace_id}"' in text) == bool(template)
