"""Generated incidents, answered through the tools of the MCP server alone: what a script finds that knows no rule.

python -m benchmarks.assistants                 50 incidents, one command that serves them all

The script picks its tools by their descriptions and arguments. It answers with the worst finding that is not a mere
note: cause, process or subject, time, evidence lines. An answer is right if its cause is the incident's, its
subject is in the incident's own list, and it has lines. It is wrong and certain if the list lacks it and the tool
called it certain.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from idcore.__main__ import main as command
from idcore.simulate.incidents.incident import HEALTHY, STORIES
from tests.source_code import ROOT

COUNT = 50
WORTHS = ("right", "true, but not its cause", "not sure", "wrong and certain")
SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the script says of one incident; no cause where it found nothing that is worth a word."""

    cause: str
    subject: str
    when: str | None
    certainty: str
    lines: int


class Script:
    """Chooses tools by what they say of themselves."""

    def __init__(self, client: Client, tools: Mapping[str, Any]) -> None:
        self._client = client
        self._begin = self._with(tools, "Begins a scan", "path")
        self._watch = self._with(tools, "how far a scan is", "run")
        self._found = self._with(tools, "what a finished scan found", "severity")
        self._lines = self._with(tools, "log lines of a finding", "finding")

    @staticmethod
    def _with(tools: Mapping[str, Any], said: str, argument: str) -> str:
        (name,) = [
            name
            for name, tool in tools.items()
            if said in tool.description and argument in tool.input_schema["properties"]
        ]
        return name

    async def _call(self, tool: str, **given: Any) -> dict[str, Any]:
        result = await self._client.call_tool(tool, given)
        if result.is_error:
            raise RuntimeError(str(result.content[0]))
        found: dict[str, Any] = result.structured_content
        return found

    async def answer(self, path: Path, at: str) -> Reply:
        """Cause, subject, time and evidence of a log."""
        begun = (await self._call(self._begin, path=str(path), zone="+08:00", at=at, wait=20))["items"][0]
        until = time.monotonic() + SECONDS
        while begun["state"] in ("new", "running") and time.monotonic() < until:
            begun = (await self._call(self._watch, run=begun["run"], wait=20))["items"][0]
        every, cursor = list[dict[str, Any]](), dict[str, str]()
        while True:
            part = await self._call(self._found, run=begun["run"], **cursor)
            every += part["items"]
            if part["next"] is None:
                break
            cursor = {"cursor": part["next"]}
        worst = next((one for one in every if one["severity"] != "info"), None)
        notes = [one for one in every if one["code"] not in ("id_confusion", "expired")]
        chosen = worst or next(iter([*notes, *every]), None)
        if chosen is None:
            return Reply("", "", None, "certain", 0)
        shown = await self._call(self._lines, run=begun["run"], finding=chosen["finding"])
        return Reply(
            chosen["code"], chosen["subject"], chosen["first_sent_at"], chosen["certainty"], len(shown["items"])
        )


def incidents(folder: Path, count: int) -> list[tuple[str, Path, dict[str, Any]]]:
    """Logs of different stories, each with what is true of it."""
    stories = [(code, name) for code, variants in STORIES.items() if code != HEALTHY for name in variants]
    chosen = [stories[number * len(stories) // count] for number in range(count)]
    made = []
    for number, (code, name) in enumerate(chosen):
        log = folder / f"{number:02d}" / "app.log"
        log.parent.mkdir()
        words = ["make", "incident", code, "--variant", name, "--seed", str(number + 1), "--out", str(log)]
        if command(words):
            raise SystemExit(f"the incident {code} {name} could not be made")
        made.append((f"{code} {name}", log, json.loads((log.parent / "truth.json").read_text())))
    return made


def verdict(reply: Reply, truth: Mapping[str, Any]) -> str:
    """One of WORTHS."""
    expected = {(one["code"], one["subject"]) for one in truth["expected"]}
    if (reply.cause, reply.subject) in expected and reply.lines:
        return "right" if reply.cause == truth["incident"] else "true, but not its cause"
    return "wrong and certain" if reply.certainty == "certain" and reply.cause else "not sure"


async def run(count: int) -> list[tuple[str, Reply, str]]:
    """Each incident with its reply and what that is worth."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = incidents(folder, count)
        server = StdioServerParameters(command=sys.executable, args=["-m", "idcore", "mcp", str(folder)], cwd=str(ROOT))
        async with Client(stdio_client(server)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            script, found = Script(client, tools), []
            for title, log, truth in made:
                reply = await script.answer(log, truth["at"])
                found.append((title, reply, verdict(reply, truth)))
            return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--each", action="store_true", help="also a line for each incident")
    options = parser.parse_args()
    begun = time.perf_counter()
    found = asyncio.run(run(options.count))
    for title, reply, worth in found if options.each else [one for one in found if one[2] != "right"]:
        print(f"{worth:<24} {title:<40} {reply.cause} {reply.subject} ({reply.certainty}, {reply.lines} lines)")
    counts = {worth: sum(one[2] == worth for one in found) for worth in WORTHS}
    print(f"\n| incidents | {' | '.join(counts)} | seconds each |\n|{'---|' * 6}")
    print(
        f"| {len(found)} | {' | '.join(map(str, counts.values()))} | {(time.perf_counter() - begun) / len(found):.1f} |"
    )


if __name__ == "__main__":
    main()
