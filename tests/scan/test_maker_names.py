"""One client has one name: what decode calls the client of an ID is what the table `processes` calls it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC

import pytest

from idcore.ids import Clock
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.scan.logs import JAVA, uniq
from tests.scan.test_doors import AT, LOGS, decoded

pytestmark = pytest.mark.quick

GO_IN_UTC = "0A1F203E0001000000002bd062880001"  # wild case 13: a Go client whose container is in UTC
CPP_LIKE_A_UUID = uniq(0x0A64F892, 7, 0x4B1A9871, 3_600_001, 5)


def names(text: str, on_disk: Callable[..., str]) -> dict[tuple[str, int, str], tuple[set[str], set[str]]]:
    """Of each process the codes of its clients, by decode and by the scan."""
    found: dict[tuple[str, int, str], tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for row in decoded(text, Clock(AT, UTC, "given")):
        if row["kind"] == "uniq":
            found[row["host"], row["pid"], row["loader"]][0].add(row["maker_code"])
        elif row["kind"] == "client":
            found[row["mac"], row["pid"], ""][0].add(row["maker_code"])
    tables = scan_local([on_disk(text.encode())], month_rows(AT, UTC, "given"))
    for row in tables["processes"].to_pylist():
        found[row["host"], row["pid"], row["loader"]][1].add(row["maker"])
    for row in tables["clients"].to_pylist():
        found[row["mac"], row["pid"], ""][1].add(row["maker"])
    return found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GO_IN_UTC, "go"),
        (GO_IN_UTC.upper(), "elixir"),
        (GO_IN_UTC[:20] + "000013880001", "go_family"),
        (f"{GO_IN_UTC}\n{GO_IN_UTC[:20]}000013880001", "go"),  # the second has no letters; its process has some
        (CPP_LIKE_A_UUID, "dotnet_uuid"),
        (uniq(0x0A64F892, 7, 0x1B9871B4, 3_600_001, 5), "cpp"),
        (f"msgId={uniq(0x0A64F892, 7, 0x1B9871B4, 3_000_000_000, 5)}", "dotnet"),
        (uniq(0x0A64F892, 7, 0x9B9871B4, 3_600_001, 5), "unknown"),
        (uniq(0x7F000001, 7, 0x1B9871B4, 3_600_001, 5), "cpp_or_lua"),
        (uniq(0x0A64F892, 7, JAVA, 3_600_001, 5), "java_jdk8"),
        (uniq(0x0A64F892, 7, 0xAC4C820C, 3_600_001, 5), "rust_mxsm"),
        ("01087190669A000007083CA9AD00000003", "grpc"),
        ("01087190669A0000071B4BC10803000000", "grpc_cpp_old"),
    ],
)
def test_an_id_and_its_process_have_one_client(text: str, code: str, on_disk: Callable[..., str]) -> None:
    assert list(names(text, on_disk).values()) == [({code}, {code})]


@pytest.mark.long(first=3)
@pytest.mark.parametrize("name", LOGS)
def test_the_clients_of_real_logs_have_one_name(name: str, on_disk: Callable[..., str]) -> None:
    for process, (by_decode, by_scan) in names(LOGS[name][0], on_disk).items():
        assert by_decode == by_scan, process


def test_letters_that_two_tasks_see_are_of_one_process(on_disk: Callable[..., str]) -> None:
    """Half of the lines has no letters in what the Go client prints in lower case."""
    lines = [GO_IN_UTC[:20] + f"00001388{number:04d}" for number in range(1, 4_000)] + [GO_IN_UTC]
    path = on_disk("\n".join(lines).encode())
    tables = scan_local([path], month_rows(AT, UTC, "given"), split_size=16 << 10)
    assert tables["processes"]["maker"].to_pylist() == ["go"]
