"""The documents that are rendered say what the code says, and their examples can be run."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from idcore.__main__ import main
from idcore.base import catalogue
from idcore.base.layout import LAYOUTS
from idcore.cli import build_parser, epilogs
from idcore.cli.parser import commands_of
from idcore.ids import identify
from idcore.ids.makers import KNOWN_CONSTANTS
from idcore.policy.limits import LIMITS
from idcore.scan.schemas import SCHEMAS
from scripts.rendered.pages import (
    ACCESS,
    CLI,
    CLIENTS,
    CLIENTS_ZH,
    DOCS,
    FORMATS,
    SETTINGS,
    TABLES,
    access,
    clients,
    formats,
    settings,
)
from scripts.rendered.reference import commands, tables

# Of Spark and of clusters: other tests run them.
ELSEWHERE = ("serve ", "mcp ", "scan ", "follow ", "--namesrv ", "session ")


def test_the_page_is_rendered_from_the_layouts() -> None:
    assert FORMATS.read_text(encoding="utf-8") == formats(), "make docs"
    assert CLIENTS.read_text(encoding="utf-8") == clients(), "make docs"
    assert CLIENTS_ZH.read_text(encoding="utf-8") == clients("zh"), "make docs"


def test_every_layout_field_and_reason_is_there() -> None:
    page = formats()
    for layout in LAYOUTS.values():
        assert f"### {layout.name}\n" in page
        for field in layout.fields:
            assert field.meaning in page
    said = catalogue.words()
    refused = {code: said.table("error.")[code] for code in ("lower_case", "version", "port", "elapsed")}
    for words in (said.table("reason."), refused):
        for code, template in words.items():
            assert f"| `{code}` | {template.replace('|', chr(92) + '|')} |" in page


@pytest.mark.parametrize("lang", catalogue.languages())
def test_every_client_is_on_the_page_in_the_words_of_its_language(lang: str) -> None:
    names, page = catalogue.words(lang).table("client."), clients(lang)
    assert all(f"| `{code}` | {name} |" in page for code, name in names.items())
    assert all(f"`{loader:08X}`" in page and names[code] in page for loader, code in KNOWN_CONSTANTS.items())


def test_the_examples_are_what_they_are_said_to_be() -> None:
    page = formats()
    for layout in LAYOUTS.values():
        text = page.split(f"### {layout.name}\n")[1].split("example `")[1].split("`")[0]
        reading = identify(text).best
        assert reading is not None
        assert reading.id.layout == layout


def test_the_page_of_roles_is_rendered_from_the_table() -> None:
    assert ACCESS.read_text(encoding="utf-8") == access(), "run `make docs`"


def test_the_pages_of_commands_and_tables_are_rendered_from_the_code() -> None:
    assert CLI.read_text(encoding="utf-8") == commands(), "make docs"
    assert TABLES.read_text(encoding="utf-8") == tables(), "make docs"
    page = SETTINGS.read_text(encoding="utf-8")
    assert page == settings(page) and all(f"| `{row.setting}` |" in page for row in LIMITS.values()), "make docs"


def test_every_command_and_option_is_on_the_page_and_has_help_and_examples() -> None:
    page = commands()
    names = {command.prog.rpartition(" ")[2] for command in commands_of(build_parser())}
    assert names == set(epilogs.EPILOGS)
    for command in commands_of(build_parser()):
        section = page.split(f"\n## {command.prog.removeprefix('python -m idcore ')}\n")[1].split("\n## ")[0]
        for action in command._actions:
            options = [option for option in action.option_strings if option not in ("-h", "--help")]
            assert action.help and all(f"| `{option}" in section for option in options)
        shown = command.format_help()
        assert all(example in shown for example in epilogs.EPILOGS[command.prog.rpartition(" ")[2]].examples)


def test_every_column_of_every_table_is_explained() -> None:
    page = tables()
    for name, schema in SCHEMAS.items():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert re.findall(r"^\| `(\w+)` \| \w+ \| .+ \|$", section, re.MULTILINE) == schema.names


def test_the_examples_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order in which a reader needs them: what one makes, another reads."""
    monkeypatch.chdir(tmp_path)
    examples = [example for epilog in epilogs.EPILOGS.values() for example in epilog.examples]
    for name in ("sent.log", "received.log"):
        Path(name).write_text("msgId=0A2ACF11102918B4AAC263F4FD4A414C\n")
    for example in sorted(examples, key=lambda text: " make " not in text):
        command, _, target = example.removeprefix("python -m idcore ").partition(" > ")
        command, _, source = command.partition(" < ")
        arguments = shlex.split(command)
        build_parser().parse_args(arguments)
        if any(word in f"{command} " for word in ELSEWHERE):
            continue
        if source:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(source).read_bytes())))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert main(arguments) in (0, 1), example
        assert printed.getvalue() or " make " in example
        assert printed.getvalue().startswith({"orders.csv": "text,", "rocketmq-ids.bash": "# "}.get(target, ""))


def test_the_commands_of_the_tutorial_answer_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "tutorials" / "support.md").read_text(encoding="utf-8")
    made, view = re.findall(r"^python -m idcore (.*)$", page, re.MULTILINE)
    assert main(shlex.split(made)) == 0
    assert main(shlex.split(view)) == 0 and "a producer retry or a duplicate send" in capsys.readouterr().out
    assert main(shlex.split(view.replace("0034 ", "0035 "))) == 1
