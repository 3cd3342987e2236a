"""The releases whose jars are to be had, one after another on loopback: the same scenes, the same questions.

python -m benchmarks.releases [NAME ...]        writes docs/releases.md where all of them ran; fetches missing jars
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from idcore.answers.lookup import Answer, LookupService, Moment, Way
from idcore.answers.lookup.copies import explain
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.base.errors import CoreError
from idcore.ids import Clock
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.profile import Profile, name_servers
from idcore.rocketmq.store.folder import StoreFolder
from tests.java import agent, jars
from tests.remoting import boot

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "releases.md"
_FETCHED = ("5.1.4", "5.4.0", "5.5.1")
# Maven Central has no whole 5.5.1: these are of 5.5.0.
_OF_5_5_0 = ("auth", "client", "filter", "srvutil", "namesrv", "tools")
_OWN_5_5_1 = ("common", "remoting", "store")
_DEPENDENCY = (
    "<dependency><groupId>org.apache.rocketmq</groupId><artifactId>rocketmq-{part}</artifactId>"
    "<version>{version}</version></dependency>"
)
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>rocketmq.ids</groupId><artifactId>release</artifactId><version>1</version><packaging>pom</packaging>
<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>
<dependencies>{wanted}</dependencies></project>
"""
_ROCKSDB = """transRocksDBEnable=true
transWriteOriginTransHalfEnable=false
indexRocksDBEnable=true
indexFileReadEnable=false
timerRocksDBEnable=true
"""
# Queues in files and in RocksDB at once.
_BOTH = """rocksdbCQDoubleWriteEnable=true
combineCQLoadingCQTypes=default;defaultRocksDB
combineCQUseRocksdbForLmq=true
"""
_DLEDGER = """enableDLegerCommitLog=true
dLegerGroup=alone
dLegerPeers=n0-127.0.0.1:{raft}
dLegerSelfId=n0
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """A column of the table: a release and what differs from its usual settings."""

    name: str
    release: str
    settings: str = ""
    timer: bool = True


VARIANTS = (
    Variant("4.9.7", "4.9.7", timer=False),
    Variant("5.1.4", "5.1.4"),
    Variant("5.3.3", "5.3.3"),
    Variant("5.4.0", "5.4.0"),
    Variant("5.5.0", "5.5.0"),
    Variant("5.5.1", "5.5.1"),
    Variant("5.5.1 RocksDB", "5.5.1", _ROCKSDB),
    Variant("5.5.1 RocksDB queues", "5.5.1", "storeType=defaultRocksDB\n"),
    Variant("5.5.1 queues of both kinds", "5.5.1", _BOTH),
    Variant("5.5.1 DLedger", "5.5.1", _DLEDGER),
)


class Release(boot.Processes):
    """Name server, broker and the scenes of one variant."""

    def __init__(self, work: Path, variant: Variant) -> None:
        super().__init__(work, f"server-{variant.release}")
        self.variant = variant
        self.port = boot.free_ports(set())
        self.names = f"127.0.0.1:{self.port + 3}"
        self.store = work / "broker" / "store"

    def play(self) -> dict[str, str]:
        """Boots, plays all scenes, and gives the msgId of each."""
        settings = boot._ALONE.format(port=self.port, names=self.port + 3, store=self.store)
        settings += "transactionCheckMax=2\n" + self.variant.settings.format(raft=boot.free_ports({self.port}))
        self.folder("names", f"listenPort={self.port + 3}\nbindAddress=127.0.0.1\n")
        self.folder("broker", settings)
        self.folder("scenes")
        guard = [f"-javaagent:{agent.loopback_agent(self.work)}"] if self.variant.release == "4.9.7" else []
        guard += [
            f"--add-opens=java.base/{part}=ALL-UNNAMED" for part in ("java.nio", "sun.nio.ch", "jdk.internal.ref")
        ]
        self.compile("Scenes.java")
        self.boot("names", boot.NAMES, *guard, "-Xmx192m")
        self.wait("names")
        self.boot("broker", boot.BROKER, *guard, "-Xmx512m", "-XX:MaxDirectMemorySize=512m")
        self.wait("broker")
        timer = "timer" if self.variant.timer else "none"
        self.begin("scenes", [*self.java("scenes", "-Xmx192m"), "Scenes", self.names, timer])
        self.wait("scenes", b"DONE", 180)
        lines = (line.split() for line in (self.work / "scenes" / "out").read_text(errors="replace").splitlines())
        return {line[1]: line[2] for line in lines if len(line) == 3 and line[0] == "SENT"}

    def shut_down(self) -> None:
        """Ends clients and broker as an operator does."""
        self.kill("scenes")
        process = self._running.pop("broker")
        process.terminate()
        process.wait(120)


# ---- questions

Right = Callable[[Answer], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """A row of the table: what is asked about which message, and what is right of a cluster and of its folder."""

    text: str
    message: str
    live: Right
    folder: Right
    timer: bool = False


def _verdict(group: str, *codes: str) -> Right:
    def right(answer: Answer) -> bool:
        return [each.code for each in answer.fate or () if each.group == group and each.code in codes] != []

    return right


def _found(answer: Answer) -> set[str | None]:
    """What the records are, without the operations and what the failing group made of them."""
    records = [(copy.record, copy.broker) for copy in answer.copies]
    found = {copy.relation for copy in explain(records)}
    return found - {"operation", "retry", "retry_waiting", "dead_letter"}


def _relations(*wanted: str) -> Right:
    return lambda answer: _found(answer) == set(wanted)


def _half(*codes: str) -> Right:
    def right(answer: Answer) -> bool:
        said = not codes or bool({item.code for item in answer.evidence} & {*codes})
        return _found(answer) - {"undecided"} == {"half"} and said

    return right


def _delivered(answer: Answer) -> bool:
    """A name server of 5.1.4 has no route of the wheel, so its copy is asked for only where nothing else was found."""
    return "delivered" in _found(answer) and _found(answer) <= {"delivered", "timer"}


def _committed(answer: Answer) -> bool:
    return bool(_found(answer) & {"committed", "message"})


QUESTIONS = (
    Question("consumed", "plain", _verdict("reads", "consumed"), _verdict("reads", "consumed", "passed")),
    Question("filtered by its tag", "plain", _verdict("choosy", "filtered"), _verdict("choosy", "passed", "consumed")),
    Question("a dead letter", "plain", _verdict("fails", "dead"), _verdict("fails", "dead")),
    Question("its group is away", "plain", _verdict("gone", "offline"), _verdict("gone", "behind", "offline")),
    Question("delayed, delivered", "delayed", _relations("delivered", "delayed"), _relations("delivered", "delayed")),
    Question("delayed, waiting", "waiting", _relations("delayed"), _relations("delayed")),
    Question("timer, delivered", "timed", _delivered, _relations("delivered", "timer"), True),
    Question("timer, waiting", "timer", _relations("timer"), _relations("timer"), True),
    Question("committed", "committed", _committed, _committed),
    Question("rolled back", "rolled_back", _half("half_rolled_back"), _half()),
    Question("open", "open", _half("half_given_up", "half_undecided", "half_open"), _half()),
)
ROOMS = ("SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "rmq_sys_wheel_timer")


def _seen(answer: Answer) -> str:
    """What was answered instead, in codes."""
    verdicts = [f"{each.group} {each.code}" for each in answer.fate or ()]
    relations = [str(copy.relation) for copy in answer.copies]
    facts = [item.code for item in answer.evidence if item.code.startswith(("half_", "only_half"))]
    return f"wrong: {', '.join([answer.reason or '', *relations, *verdicts, *facts]).strip(', ')}"


def ask(
    variant: Variant, sent: Mapping[str, str], one: Callable[[str], Answer], live: bool
) -> Iterator[tuple[str, str]]:
    """Each question with `right`, or what was answered."""
    for question in QUESTIONS:
        if question.timer and not variant.timer:
            yield question.text, "not in this release"
            continue
        answer = one(sent[question.message])
        right = question.live if live else question.folder
        yield question.text, "right" if right(answer) else _seen(answer)


def ask_cluster(variant: Variant, names: str, sent: Mapping[str, str]) -> dict[str, str]:
    """All questions to the live cluster, those with an offsetMsgId, a key, a topic and a waiting room included."""
    service = LookupService(Cluster(Profile("release", name_servers(names))), _moment)
    with service.cluster:
        cells = dict(ask(variant, sent, lambda text: service.one(text, "Scenes", fate=True), True))
        plain = service.one(sent["plain"]).copies
        there = str(plain[0].record.offset_id) if plain else ""
        for text, right in (
            ("by offsetMsgId", service.one(there).found),
            ("by offsetMsgId and another topic", service.one(there, "TBW102").found),
            ("in another topic", service.one(sent["plain"], "Elsewhere").reason in ("topic_unknown", "wrong_topic")),
            ("by key", service.one("key-plain").found),
            ("a msgId that nobody sent", service.one(sent["plain"][:-4] + "FFFF").reason == "unknown"),
        ):
            cells[text] = "right" if right else "wrong"
        for tag, count in (("Usual", 100), ("Rare", 50)):
            way = Way.of({"topic": "Tagged", "tag": tag}, UTC)
            assert way is not None
            listed = service.list_messages(way)
            cells[f"list of {count} messages with a tag"] = (
                "right"
                if len(listed.copies) == count and listed.cut is None
                else f"wrong: {len(listed.copies)} {listed.cut}"
            )
        every = service.cluster.topics()
        for room in (room for room in ROOMS if room in every):
            way = Way.of({"topic": room, "from": "2020-01-01T00:00:00Z"}, UTC)
            assert way is not None
            made = service.list_messages(way)
            right = made.reason in (None, "empty") and made.cut != "failed"
            cells[f"list of {room}"] = "right" if right else f"wrong: {made.reason or made.cut}"
    return cells


def ask_folder(variant: Variant, root: Path, sent: Mapping[str, str]) -> dict[str, str]:
    """The same of the folder that the broker left."""
    try:
        with StoreFolder(root) as store:
            look_up = StoreLookup(store, Clock(datetime.now(UTC), UTC, "given"))
            return dict(ask(variant, sent, lambda text: look_up.one(text, fate=True), False))
    except CoreError as problem:
        return {question.text: f"cannot be read: {problem.code}" for question in QUESTIONS}


def _moment() -> Moment:
    return Moment(datetime.now(UTC), UTC)


def run(variant: Variant) -> tuple[dict[str, str], dict[str, str]]:
    """The cells of one release, live and of its folder; what kept it from booting is a cell too."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        made = Release(Path(work), variant)
        try:
            sent = made.play()
            live = ask_cluster(variant, made.names, sent)
            made.shut_down()
            folder = ask_folder(variant, made.store, sent)
        except (RuntimeError, TimeoutError, subprocess.SubprocessError) as problem:
            print(f"{variant.name}: {problem}", file=sys.stderr)
            live = folder = {"boots": "does not boot here"}
        finally:
            made.stop()
    cells = [*live.values(), *folder.values()]
    print(f"{variant.name}: {cells.count('right')} of {len(cells)} right, {time.monotonic() - begun:.0f} s", flush=True)
    for where, table in (("live", live), ("folder", folder)):
        for text, cell in table.items():
            if cell != "right":
                print(f"  {where} | {text} | {cell}", flush=True)
    return live, folder


# ---- jars and the document


def fetch(release: str) -> None:
    """The jars of a release from Maven Central, where they are not there."""
    folder = jars.folder(f"server-{release}")
    if (folder / ".complete").is_file():
        return
    older = _OF_5_5_0 if release == "5.5.1" else ()
    parts = ("namesrv", "broker", "client", "tools", *(_OWN_5_5_1 if older else ()))
    managed = "".join(_DEPENDENCY.format(part=part, version="5.5.0") for part in older)
    versions = {part: "5.5.0" if part in older else release for part in parts}
    wanted = "".join(_DEPENDENCY.format(part=part, version=version) for part, version in versions.items())
    pom = jars.CACHE / f"release-{release}.xml"
    pom.write_text(_POM.format(managed=managed, wanted=wanted), encoding="utf-8")
    command = ["mvn", "-q", "-B", "-f", str(pom), f"-Dmaven.repo.local={jars.CACHE / 'repository'}"]
    command += ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=1_800)
    (folder / ".complete").touch()


def table(cells: Mapping[str, Mapping[str, str]]) -> str:
    """A row for each question, a column for each release; a release has no cell for what it does not have."""
    rows = list(dict.fromkeys(text for column in cells.values() for text in column))
    lines = [f"| question | {' | '.join(cells)} |", "|---|" + "---|" * len(cells)]
    lines += [f"| {text} | {' | '.join(column.get(text, '–') for column in cells.values())} |" for text in rows]
    return "\n".join(lines)


def main() -> None:
    """Runs what is named, or all; then the document is written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    chosen = [variant for variant in VARIANTS if not names or variant.name in names]
    jars.fetch()
    for release in _FETCHED:
        if any(variant.release == release for variant in chosen):
            fetch(release)
    cells = {variant.name: run(variant) for variant in chosen}
    if not names:
        live, folder = ({name: both[side] for name, both in cells.items()} for side in (0, 1))
        DOCUMENT.write_text(_TEXT.format(live=table(live), folder=table(folder)), encoding="utf-8")


_TEXT = """# Releases

For those who want to know what was tried with their release. Written by `make releases`, which boots each one.

`right` is an answer that agrees with what the scene did. A dash is a question that the release does not have.
`RocksDB` is 5.5.1 with index, transactions and timer in RocksDB. Its name server, client and tools are those of 5.5.0.

## A live cluster

{live}

## The folder that the broker left

No file of a broker has the tags of a group. So a filtered message counts as `right` here if the group is past it.

{folder}
"""


if __name__ == "__main__":
    main()
