"""What `--help` shows below the options of each command: examples and exit statuses. docs/cli.md has the same."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import dataclass

from idcore.cli.complaint import named

USAGE = (2, "wrong usage")
# Of every command: what no command decides by itself.
COMMON = (
    (1, "the system refused something, for example a file that cannot be written"),
    (70, "an internal error; please report it"),
    (130, "ended by Ctrl-C, SIGTERM or SIGHUP"),
    (141, "the reader of the output has gone, as after `| head`"),
)


@dataclass(frozen=True, slots=True)
class Epilog:
    """Examples, which tests parse and run, and what each exit status means."""

    examples: tuple[str, ...]
    statuses: tuple[tuple[int, str], ...]

    def __str__(self) -> str:
        shown = [f"  {example}" for example in self.examples]
        meant = [f"  {status}  {meaning}" for status, meaning in self.statuses]
        return "\n".join(["examples:", *shown, "", "exit status:", *meant])


_MADE = ((0, "written"), USAGE)
EPILOGS = {
    "decode": Epilog(
        (
            "python -m idcore decode AC110001473C7D4991AD336AEA5703E0",
            "python -m idcore decode orders.log --format csv > orders.csv",
        ),
        (
            (0, "done; what in a text only looks like an ID is counted on standard error"),
            (1, "an argument is no ID, or a text has none; standard error says which"),
            USAGE,
        ),
    ),
    "scan": Epilog(
        (
            "python -m idcore scan orders.log --out tables --zone +08:00",
            "python -m idcore scan orders.log --out last-hour --zone +08:00 --since 1h --at 2026-11-20T02:00:00Z",
            "python -m idcore scan --store store --out tables-of-store",
        ),
        (
            (0, "done"),
            (1, "some input could not be read: standard error names it; all that could be read is done"),
            USAGE,
            (3, "the scan could not be done; one line says why"),
            (130, "cancelled by Ctrl-C, SIGTERM or SIGHUP; DIR is unchanged"),
        ),
    ),
    "follow": Epilog(
        (
            "python -m idcore follow /var/log/orders --out live --since 30m",
            "python -m idcore follow 'logs/*.log' --out live --format jsonl > live.jsonl",
        ),
        (
            (0, "ended by Ctrl-C, SIGTERM or SIGHUP; DIR has the tables of all that was read"),
            USAGE,
            (3, "it cannot be followed, or not any more; one line says why"),
        ),
    ),
    "view": Epilog(
        (
            "python -m idcore view 0A2ACF11102918B4AAC263F4FD4A414C --store store",
            "python -m idcore view order-860954509 --namesrv 10.0.0.1:9876 --topic OrderPaid --fate",
            "python -m idcore view --store store --dead-letters order_consumer --format csv",
            "python -m idcore view - --fate --namesrv 10.0.0.1:9876 --out fates < missing.txt",
        ),
        (
            (0, "every message was found, or listed up to the limit"),
            (1, "some were not found, or a list is empty or incomplete; each has its reason"),
            USAGE,
            (3, "nothing could be asked: no such folder, no answer, or not permitted"),
        ),
    ),
    "compare": Epilog(
        (
            "python -m idcore compare sent.log received.log --out differences",
            "python -m idcore compare sent.log received.log --zone +08:00",
        ),
        ((0, "done, also if the inputs differ"), (1, "some input could not be read, or is not there"), USAGE),
    ),
    "ids": Epilog(("python -m idcore make ids --count 3",), _MADE),
    "log": Epilog(("python -m idcore make log --lines 2000 --out orders.log",), _MADE),
    "store": Epilog(("python -m idcore make store --messages 1000 --out store",), _MADE),
    "incident": Epilog(
        ("python -m idcore make incident clock_back --variant two_seconds --out clock_back.log",), _MADE
    ),
    "mcp": Epilog(("python -m idcore mcp orders.log store",), ((0, "standard input ended"), USAGE)),
    "serve": Epilog(
        ("python -m idcore serve --port 8501",),
        ((0, "ended"), USAGE),
    ),
    "help": Epilog(("python -m idcore help make store",), ((0, "shown"), USAGE)),
    "completion": Epilog(
        ("python -m idcore completion bash > rocketmq-ids.bash",),
        ((0, "written"), USAGE),
    ),
    "start": Epilog(
        ("python -m idcore session start --idle 1800",),
        ((0, "the session is ready"), (1, "it did not start"), USAGE),
    ),
    "stop": Epilog(("python -m idcore session stop",), ((0, "there is no session any more"), USAGE)),
    "status": Epilog(("python -m idcore session status",), ((0, "there is a session"), (1, "there is none"), USAGE)),
}


def add(command: ArgumentParser) -> None:
    """Puts examples and exit statuses below the options of a command, each on its own line."""
    if epilog := EPILOGS.get(command.prog.rpartition(" ")[2]):  # a test holds that every command has one
        command.epilog, command.formatter_class = named(str(epilog)), RawDescriptionHelpFormatter
