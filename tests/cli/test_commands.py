"""What all commands have in common: help, names, errors, forms, colours, completion, refusals before work."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from idcore import __version__
from idcore.__main__ import main
from idcore.cli import build_parser, completion, scan
from idcore.cli.complaint import INSTALLED
from idcore.cli.missing_packages import missing_package
from idcore.cli.parser import commands_of
from idcore.presentation.export import json_lines

ROOT = Path(__file__).resolve().parents[2]
ID = "AC110001473C7D4991AD336AEA5703E0"
OTHER = "AC110001473C7D4991AD336AEA5703E1"


def on_terminal(*words: str, **environment: str) -> str:
    """What a command prints on a real terminal, standard output and errors together."""
    mine, its = pty.openpty()
    around = {**os.environ, "TERM": "xterm", **environment}
    around = {name: value for name, value in around.items() if value}
    with subprocess.Popen(
        [sys.executable, "-m", "idcore", *words], cwd=ROOT, env=around, stdin=its, stdout=its, stderr=its
    ):
        os.close(its)
        shown = b""
        try:
            while more := os.read(mine, 1 << 16):
                shown += more
        except OSError:  # Linux ends a terminal this way
            pass
    os.close(mine)
    return shown.decode()


@pytest.mark.quick
def test_every_command_shows_its_help_in_three_ways(capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands_of(build_parser()):
        words = command.prog.removeprefix("python -m idcore ").split()
        shown = []
        for given in ([*words, "-h"], [*words, "--help"]):
            with pytest.raises(SystemExit) as ended:
                main(given)
            assert ended.value.code == 0
            shown.append(capsys.readouterr().out)
        assert main(["help", *words]) == 0
        shown.append(capsys.readouterr().out)
        assert len(set(shown)) == 1 and shown[0].startswith(f"usage: {command.prog}"), words
    for given in (["-V"], ["--version"]):
        with pytest.raises(SystemExit):
            main(given)
        assert capsys.readouterr().out == f"rocketmq-ids {__version__}\n"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scan", "--outt", "x"], "(see: python -m idcore scan --help)"),
        (["make", "ids", "--counts", "3"], "(see: python -m idcore make ids --help)"),
        (["serve", "--port", "65536"], "(see: python -m idcore serve --help)"),
        (["decode", "--form", "json", ID], "unrecognized arguments: --form"),
        (["help", "nothing"], "invalid choice: 'nothing'"),
    ],
)
def test_a_wrong_option_is_one_line_with_the_help_of_its_command(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert said in told and told.startswith("idcore: ") and told.count("\n") == 1


@pytest.mark.quick
def test_who_runs_the_installed_command_reads_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [f"/usr/local/bin/{INSTALLED}"])
    assert main(["help", "decode"]) == 0 and main(["decode", "--nothing"]) == 2
    told = capsys.readouterr()
    assert "usage: rocketmq-ids decode" in told.out and f"  rocketmq-ids decode {ID}" in told.out
    assert "rocketmq-ids decode --help" in told.err and "python -m" not in told.out + told.err


def test_colours_are_on_a_terminal_and_nowhere_else() -> None:
    coloured = on_terminal("decode", ID, "no-id", NO_COLOR="")
    assert "\x1b[1m" in coloured and "\x1b[1;31midcore:\x1b[0m" in coloured
    plain = on_terminal("decode", ID, "no-id", NO_COLOR="1")
    assert "\x1b" not in plain and re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b" not in on_terminal("decode", ID, TERM="dumb", NO_COLOR="")


def test_bash_completes_commands_options_values_and_files(tmp_path: Path) -> None:
    (tmp_path / "orders.log").touch()
    (tmp_path / "complete").write_text(completion.script("bash"))

    def completed(line: str) -> list[str]:
        words = line.split(" ")
        quoted = " ".join(word or "''" for word in words)
        asked = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}"
        code = f'source ./complete; {asked}; _shtab_rocketmq_ids; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert completed("rocketmq-ids de") == ["decode"]
    assert completed("rocketmq-ids make in") == ["incident"]
    assert {"--since", "--split-size", "--store", "--subscription"} == set(completed("rocketmq-ids scan --s"))
    assert completed("rocketmq-ids compare --format js") == ["json", "jsonl"]
    assert "orders.log" in completed("rocketmq-ids decode or")
    done = subprocess.run(
        ["bash", "-c", "source ./complete; complete -p"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "_shtab_rocketmq_ids rocketmq-ids" in done.stdout
    for shell, mark in (("zsh", "#compdef rocketmq-ids"), ("tcsh", "complete rocketmq-ids")):
        assert mark in completion.script(shell)


@pytest.mark.quick
def test_what_cannot_be_is_refused_before_spark_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scan, "_start_spark", lambda: pytest.fail("Spark was started"))
    monkeypatch.chdir(tmp_path)
    Path("a.log").write_text(f"msgId={ID}\n")
    for words, status, said in (
        (["scan", "typo.log", "--out", "tables"], 1, "idcore: typo.log: no such file or folder"),
        (["scan", "a.log", "--out", "a.log/tables"], 3, "idcore: cannot write a.log/tables: this is not a folder"),
        (["scan", "a.log", "--out", "/proc/tables"], 3, "idcore: cannot write /proc/tables: no such file or folder"),
        (["compare", "a.log", "typo.log", "--out", "only"], 1, "idcore: typo.log: no such file or folder"),
        (["compare", "a.log", "a.log", "--at", "2026-11-20"], 2, "idcore: --at goes with --zone"),
    ):
        assert main(words) == status
        assert capsys.readouterr().err == said + "\n"
    assert os.listdir() == ["a.log"]


def test_compare_says_when_in_a_zone_and_has_the_same_rows_in_every_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first.log", tmp_path / "second.log"
    first.write_text(f"msgId={ID}\nmsgId={OTHER}\n")
    second.write_text(f"msgId={OTHER}\n")
    told = {}
    for form in ("json", "jsonl", "csv"):
        assert main(["compare", str(first), str(second), "--format", form]) == 0
        told[form] = capsys.readouterr().out
    rows = [json.loads(line) for line in told["json"].splitlines()]
    assert told["jsonl"] == told["json"] == "".join(json_lines(rows)) and rows[0]["only_before"] == [ID]
    (row,) = csv.DictReader(io.StringIO(told["csv"]))
    assert row["only_before"] == ID and row["missing"] == "1" and row.keys() == rows[0].keys()
    zone = ["--zone", "+08:00", "--at", "2026-11-20T12:00:00Z"]
    assert main(["compare", str(first), str(second), *zone]) == 0
    shown = capsys.readouterr().out
    # README.md: 2026-11-10T23:37:24.823+08:00
    assert "1 msgId of 172.17.0.1 pid 18236 only in the first: generated at 2026-11-10 23:37 +08:00" in shown
    assert main(["compare", str(first), str(second)]) == 0
    assert "generated" not in capsys.readouterr().out


@pytest.mark.quick
def test_decode_has_the_same_rows_in_both_names_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for form in ("json", "jsonl"):
        assert main(["decode", ID, OTHER, "--format", form, "--at", "2026-11-20"]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] and told[0].count("\n") == 2


@pytest.mark.long
@pytest.mark.spark
def test_a_scan_of_a_range_says_so_and_prints_the_seconds_that_one_waited(tmp_path: Path) -> None:
    lines = [f"2026-11-10 {hour}:37:25.000 msgId={ID} " for hour in ("22", "23")]
    (tmp_path / "a.log").write_text("\n".join(lines) + "\n")
    words = ["scan", str(tmp_path / "a.log"), "--out", str(tmp_path / "tables"), "--zone", "+08:00"]
    words += ["--since", "30m", "--at", "2026-11-10T23:40:00+08:00"]
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "idcore", *words], cwd=ROOT, capture_output=True, text=True)
    waited = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    assert "1 ID occurrence ·" in done.stdout
    assert "Only lines of 2026-11-10 23:10:00.000 +08:00 or later were read." in done.stdout
    ((minutes, seconds),) = re.findall(r"took (?:(\d+) min )?([\d.]+) s", done.stdout)
    took, least = 60 * int(minutes or 0) + float(seconds), 1 if minutes else 0.05
    assert 0.3 * waited < took <= waited + least, "all but Python's own start and end"
    summary = json.loads((tmp_path / "tables" / "summary.json").read_text())
    assert summary["assumed"]["from"] == "2026-11-10T15:10:00.000+00:00" and "to" not in summary["assumed"]
    assert 0.3 * waited < summary["start_seconds"] + summary["seconds"] <= waited


def test_a_clone_says_how_its_packages_are_installed() -> None:
    lacking = ModuleNotFoundError("No module named 'pyspark.sql'", name="pyspark.sql")
    assert missing_package(lacking) == f"this needs pyspark, which `make setup` installs in {ROOT}"
    assert missing_package(ModuleNotFoundError(name="own")) is None
