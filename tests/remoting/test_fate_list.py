"""A long list of IDs against a live cluster: the same verdicts as one by one, in the tables of a store's scan."""

from __future__ import annotations

import errno
import io
import json
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from idcore.__main__ import main
from idcore.answers.fate import Verdict
from idcore.answers.fate.levels import UNDELIVERED
from idcore.answers.fate_list import MOST_IDS
from idcore.answers.fate_list import tally as tally_module
from idcore.answers.fate_list.batched_lookups import FateListProgress, IdList, ask
from idcore.answers.fate_list.tally import Tally, write
from idcore.answers.lookup import Answer, Copy, LookupService, Moment
from idcore.answers.lookup.topic_brokers import LONGEST_GROUP, MOST_GROUPS, Pace
from idcore.base.errors import CoreError
from idcore.rocketmq.remoting.audit import AuditLog, RateLimit
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.frame import Frame
from idcore.rocketmq.remoting.profile import Profile, name_servers
from idcore.scan.schemas import OF_LISTS, SCHEMAS
from tests.remoting.fake import NOW, cluster_info, record
from tests.remoting.fake_groups import NOW_MS, STORED, copy
from tests.remoting.fake_many import QUEUES, Many, id_of
from tests.remoting.servers import Server, answer

GROUPS = ["works", "late", "retries"]
FEW = 24
MISSED = id_of(60_000)


def fake() -> Many:
    """`works` has everything, `late` half of each queue, `retries` has one message in its dead letters."""
    made = Many(FEW, GROUPS)
    made.offsets = {"Orders@works": FEW, "Orders@late": FEW // QUEUES // 2, "Orders@retries": FEW}
    made.end, made.pulled = FEW, FEW
    made.add(copy("%DLQ%retries", 0, 16, 9_000, ORIGIN_MESSAGE_ID=str(made.by_key[id_of(0)][0].offset_id)))
    return made


@pytest.fixture
def cluster() -> Iterator[Many]:
    made = fake()
    with made.server:
        yield made


def service_of(cluster: Many, **more: Any) -> LookupService:
    return cluster.service(pace=Pace(lambda: NOW_MS, cluster.pauses.append), **more)


class Canned(LookupService):
    """Answers at once, from no cluster; the rest of a look-up is as it is."""

    def __init__(self, cluster: Cluster, clock: Clock | None = None, **more: Any) -> None:
        super().__init__(cluster, lambda: Moment(clock.now if clock else NOW, UTC), **more)
        self.judged: list[str] = []

    def one(self, text: str, *_: Any, **__: Any) -> Answer:
        self.judged.append(text)
        place = int(text[-4:], 16)
        made = record("Orders", text, place * 200).placed(place, place * 200, STORED + place)
        code = "stuck" if place % 5 == 0 else "consumed"
        verdict = Verdict("works", str(made.offset_id), code, "inferred")
        return Answer(text, (Copy(made, "127.0.0.1:10911"),), None, (), ("127.0.0.1:10911",), fate=(verdict,))


class Clock(threading.Event):
    """A stop whose waits take no time, and move the clock of the limit."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0)
        self.now += timedelta(seconds=timeout or 0)
        return self.is_set()


@pytest.fixture
def nowhere() -> Iterator[Cluster]:
    with Server(lambda frame: [answer(frame, 0, cluster_info({}))]) as server:
        yield Cluster(Profile("nowhere", name_servers(str(server.address))))


def rows(tally: Tally, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tally.tables()[table].to_pylist()
    return found


class TestTheList:
    def test_an_id_given_twice_counts_once_and_more_than_the_limit_is_refused_with_its_number(self) -> None:
        wanted = IdList.of([*map(id_of, range(MOST_IDS)), id_of(1), id_of(1)], "Orders")
        assert (len(wanted.ids), wanted.given) == (MOST_IDS, MOST_IDS + 2)
        with pytest.raises(CoreError, match="5,001 different IDs; ask for at most 5,000") as refused:
            IdList.of(map(id_of, range(MOST_IDS + 1)))
        assert refused.value.values == {"count": MOST_IDS + 1, "most": MOST_IDS}
        with pytest.raises(CoreError, match="no ID"):
            IdList.of([])

    def test_five_thousand_ids_are_all_judged_and_each_report_is_a_little_further(self, nowhere: Cluster) -> None:
        service, reports = Canned(nowhere), list[FateListProgress]()
        tally = ask(service, IdList.of(map(id_of, range(MOST_IDS))), report=reports.append)
        assert [report.done for report in reports] == list(range(1, MOST_IDS + 1))
        assert (reports[-1].found, reports[-1].undelivered, reports[-1].seconds_left) == (MOST_IDS, MOST_IDS // 5, 0)
        assert tally.outcomes["judged"] == MOST_IDS and len(rows(tally, "undelivered")) == MOST_IDS // 5
        counts = Counter[str]()
        for row in rows(tally, "fates"):
            counts[row["verdict"]] += row["messages"]
        assert counts == {"stuck": MOST_IDS // 5, "consumed": MOST_IDS * 4 // 5}

    def test_a_stop_in_the_middle_keeps_every_answer_and_says_what_was_not_asked(
        self, nowhere: Cluster, tmp_path: Path
    ) -> None:
        log, stop = tmp_path / "audit.jsonl", threading.Event()
        service = Canned(nowhere, audit=AuditLog(log))

        def report(now: FateListProgress) -> None:
            if now.done == 100:
                stop.set()

        tally = ask(service, IdList.of(map(id_of, range(MOST_IDS))), "me", report, stop)
        assert 100 <= tally.asked < MOST_IDS
        judged = {row["id"] for row in rows(tally, "asked_ids") if row["outcome"] == "judged"}
        logged = {json.loads(line)["id"] for line in log.read_text(encoding="ascii").splitlines()}
        assert judged == set(service.judged) == logged
        assert tally.outcomes["not_asked"] == MOST_IDS - len(judged)
        summary = write(tmp_path, tally)
        assert summary["not_asked"] == pq.read_table(tmp_path / "asked_ids")["outcome"].to_pylist().count("not_asked")

    def test_a_list_whose_rows_take_too_much_memory_ends_with_what_was_judged(
        self, nowhere: Cluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A stranger's broker has groups of any names, and each record in a queue and minute of its own."""
        monkeypatch.setattr(tally_module, "MOST_HELD", 800)
        tally = ask(Canned(nowhere), IdList.of(map(id_of, range(0, MOST_IDS, 250))))
        assert tally.problem is not None and tally.problem.code == "answers_large"
        assert 0 < tally.outcomes["judged"] == tally.asked < 20 == tally.asked + tally.outcomes["not_asked"]

    def test_a_full_disk_leaves_no_table_and_no_half_of_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = pq.write_table

        def full(table: Any, where: Path, **more: Any) -> None:
            real(table, where, **more)
            if "asked_ids" in str(where):
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(pq, "write_table", full)
        with pytest.raises(OSError, match="No space"):
            write(tmp_path, Tally([id_of(1)], 0))
        assert list(tmp_path.iterdir()) == []

    def test_the_limit_of_look_ups_is_waited_for_and_never_exceeded(self, nowhere: Cluster) -> None:
        clock, reports = Clock(), list[FateListProgress]()
        service = Canned(nowhere, clock, limit=RateLimit(100))
        tally = ask(service, IdList.of(map(id_of, range(400))), "me", reports.append, clock)
        assert tally.outcomes["judged"] == 400 and any(report.is_limited for report in reports)
        # a hundred at once, the other 300 at 100 a minute
        assert 160 <= sum(clock.waits) <= 181

    def test_an_audit_log_that_cannot_be_written_ends_the_list_and_keeps_what_was_recorded(
        self, nowhere: Cluster, tmp_path: Path
    ) -> None:
        log = tmp_path / "audit.jsonl"

        def report(now: FateListProgress) -> None:
            if now.done == 64:
                log.unlink()
                log.mkdir()

        tally = ask(Canned(nowhere, audit=AuditLog(log)), IdList.of(map(id_of, range(200))), report=report)
        assert tally.problem is not None and tally.problem.code == "audit"
        assert (tally.asked, tally.outcomes["not_asked"]) == (64, 136)


class TestTheTables:
    def test_a_group_of_a_name_that_no_broker_takes_is_left_out(self) -> None:
        """Of 16 MB of names in one answer each message of a list had a row."""
        made = Many(1, ["works", long := "g" * (LONGEST_GROUP + 1)])
        made.offsets = {"Orders@works": 1, f"Orders@{long}": 1}
        made.end, made.pulled = 1, 1
        with made.server, closing(service_of(made)) as service:
            found = service.one(made.ids[0], "Orders", fate=True)
        assert [verdict.group for verdict in found.fate or ()] == ["works"]
        assert {"count": 1, "limit": MOST_GROUPS} in [
            item.values for item in found.evidence if item.code == "groups_left_out"
        ]

    def test_they_are_what_single_look_ups_say(self, cluster: Many) -> None:
        with closing(service_of(cluster)) as service:
            single = {each: service.one(each, "Orders", fate=True) for each in cluster.ids}
            single_miss = service.one(MISSED, "Orders", fate=True)
            tally = ask(service, IdList.of([*cluster.ids, MISSED], "Orders"))
        expected = Counter[tuple[int, str, str]]()
        missed: dict[str, dict[str, str]] = {}
        for each, found in single.items():
            queue = found.copies[0].record.queue_id
            expected.update((queue, verdict.group, verdict.code) for verdict in found.fate or ())
            own = {verdict.group: verdict.code for verdict in found.fate or () if verdict.code in UNDELIVERED}
            missed |= {each: own} if own else {}
        counted = Counter[tuple[int, str, str]]()
        for row in rows(tally, "fates"):
            counted[row["queue_id"], row["group"], row["verdict"]] += row["messages"]
            assert (row["topic"], row["broker"]) == ("Orders", "a")
            assert row["minute"] <= row["first_store_timestamp"] <= row["last_store_timestamp"]
        assert counted == expected and counted[0, "retries", "dead"] == 1
        assert {row["msg_id"]: json.loads(row["verdicts"]) for row in rows(tally, "undelivered")} == missed
        asked = {row["id"]: row for row in rows(tally, "asked_ids")}
        of_missed = asked[MISSED]
        assert of_missed["outcome"] == "not_found" and of_missed["reason"] == single_miss.reason
        assert {each: row["groups"] for each, row in asked.items() if row["groups"]} == {
            each: len(own) for each, own in missed.items()
        }

    def test_two_ids_of_one_message_count_it_once(self, cluster: Many) -> None:
        (made,) = [each for each in cluster.by_key[id_of(1)] if each.topic == "Orders"]
        at = replace(made, store_host=replace(made.store_host, port=cluster.server.address.port))
        cluster.by_key[id_of(1)] = [at]
        cluster.records = [at]
        with closing(service_of(cluster)) as service:
            tally = ask(service, IdList.of([id_of(1), str(at.offset_id)], "Orders"))
        assert tally.outcomes["judged"] == 2 and tally.repeated == 1
        assert sum(row["messages"] for row in rows(tally, "fates")) == len(GROUPS)
        assert tally.summary()["records"] == 1

    def test_their_columns_are_those_of_a_store_and_the_broker(self, nowhere: Cluster) -> None:
        tables = ask(Canned(nowhere), IdList.of([id_of(1)])).tables()
        assert {name: table.schema for name, table in tables.items()} == OF_LISTS
        for name in ("fates", "undelivered"):
            assert tables[name].schema.names == [*SCHEMAS[name].names, "broker"]

    @pytest.mark.parametrize(
        ("silent", "outcome"), [(set(), "judged"), ({300}, "no_verdict"), ({14}, "no_verdict"), ({12}, "no_verdict")]
    )
    def test_silence_is_never_a_verdict(self, cluster: Many, silent: set[int], outcome: str) -> None:
        cluster.silent = silent
        with closing(service_of(cluster)) as service:
            tally = ask(service, IdList.of([id_of(2)], "Orders"))
        assert tally.outcomes[outcome] == 1
        assert {row["verdict"] for row in rows(tally, "fates")} <= {"no_verdict"} or not silent

    def test_a_message_without_a_group_and_a_copy_alone_are_no_misses(self, cluster: Many) -> None:
        cluster.listed = []
        cluster.add(replace(record("%DLQ%gone", id_of(50_000), 90_000)))
        with closing(service_of(cluster)) as service:
            tally = ask(service, IdList.of([id_of(2), id_of(50_000)]))
        found = {row["id"]: (row["outcome"], row["reason"]) for row in rows(tally, "asked_ids")}
        assert found == {id_of(2): ("no_group", None), id_of(50_000): ("no_record", "dead_letter")}


class TestASilentBroker:
    def test_it_is_waited_for_once_and_the_others_answer(self, cluster: Many) -> None:
        """A second broker takes every question and answers none."""
        with Server(lambda frame: []) as mute:
            brokers = {"a": {0: str(cluster.server.address)}, "b": {0: str(mute.address)}}
            usual = cluster.handle

            def both(frame: Frame) -> Any:
                yield from [answer(frame, 0, cluster_info(brokers))] if frame.code == 106 else usual(frame)

            cluster.server._handle = both
            cluster.absent = ["b"]  # the route has it too
            profile = Profile("two", name_servers(str(cluster.server.address)), limits=Limits(0.3, 0.3))
            pace = Pace(lambda: NOW_MS, cluster.pauses.append)
            with closing(LookupService(Cluster(profile), lambda: Moment(NOW, UTC), pace=pace)) as service:
                tally = ask(service, IdList.of(cluster.ids, "Orders"))
        assert tally.found == FEW
        assert {row["verdict"] for row in rows(tally, "fates")} <= {
            "no_verdict",
            "dead",
            "handed_out",
            "unreadable_queue",
        }
        assert {"consumed"}.isdisjoint(row["verdict"] for row in rows(tally, "fates"))
        assert tally.summary()["cut"]["groups_incomplete"] == FEW
        assert mute.callers <= 8  # one for each thread, not for each ID


class TestTheCommand:
    def run(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = main(["view", *arguments])
        return status, out.getvalue(), err.getvalue()

    def test_it_writes_the_tables_and_says_the_totals(self, cluster: Many, tmp_path: Path) -> None:
        options = ["--namesrv", str(cluster.server.address), "--topic", "Orders", "--fate"]
        status, out, err = self.run(
            *cluster.ids, id_of(0), MISSED, *options, "--out", str(tmp_path / "new"), "--format", "json"
        )
        assert (status, err) == (1, "")
        summary = json.loads(out)
        assert summary == json.loads((tmp_path / "new" / "summary.json").read_text(encoding="utf-8"))
        assert (summary["ids"], summary["given"], summary["doubles"]) == (FEW + 1, FEW + 2, 1)
        assert (summary["judged"], summary["not_found"], summary["not_asked"], summary["stopped"]) == (FEW, 1, 0, False)
        for name, schema in OF_LISTS.items():
            assert pq.read_table(tmp_path / "new" / name).schema == schema
        status, out, _ = self.run(id_of(0), *options, "--out", str(tmp_path / "table"), "--format", "table")
        assert (
            status == 0
            and "1 ID: 1 with a result." in out
            and ["retries", "dead", "letter", "1"] in map(str.split, out.splitlines())
        )

    def test_a_text_without_an_id_is_no_list_with_tables_or_without(
        self, cluster: Many, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        options = ["-", "--namesrv", str(cluster.server.address), "--topic", "Orders", "--fate"]
        told = []
        for more in ([], ["--out", str(tmp_path / "new")]):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"no id here\n")))
            told.append(self.run(*options, *more))
        assert told[0] == told[1] == (1, "", "idcore: no ID in this text\n") and not (tmp_path / "new").exists()

    def test_ctrl_c_keeps_what_is_there(
        self, nowhere: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        main_thread = threading.main_thread().ident or 0

        class Interrupted(Canned):
            def one(self, text: str, *_: Any, **__: Any) -> Answer:
                if text == id_of(20):
                    signal.pthread_kill(main_thread, signal.SIGINT)
                    stopping.wait(10)
                return super().one(text)

        stopping, service = threading.Event(), Interrupted(nowhere)
        told = io.StringIO()
        monkeypatch.setattr("idcore.cli.view.open_source", lambda *_: service)
        monkeypatch.setattr(told, "write", lambda text: stopping.set())
        with redirect_stderr(told), redirect_stdout(io.StringIO()) as out:
            ids = [*map(id_of, range(300))]
            status = main(["view", *ids, "--namesrv", "x:1", "--fate", "--out", str(tmp_path / "new")])
        summary = json.loads(out.getvalue())
        assert status == 130 and summary["stopped"]
        assert summary["judged"] == len(service.judged) >= 20
        assert summary["not_asked"] == 300 - summary["judged"] > 0

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--namesrv", "x:1"],
            ["--store", "s", "--fate"],
            ["--namesrv", "x:1", "--fate", "--who"],
            ["--namesrv", "x:1", "--fate", "--format", "csv"],
        ],
    )
    def test_what_does_not_go_with_it_is_wrong_usage(self, arguments: list[str], tmp_path: Path) -> None:
        assert self.run(id_of(0), *arguments, "--out", str(tmp_path / "new"))[0] == 2
        assert not (tmp_path / "new").exists()

    def test_an_existing_folder_is_not_written_to(self, tmp_path: Path) -> None:
        status, _, err = self.run(id_of(0), "--namesrv", "x:1", "--fate", "--out", str(tmp_path))
        assert status == 2 and "choose a new folder" in err
