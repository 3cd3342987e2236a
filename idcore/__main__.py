"""The command line: `python -m idcore decode|scan|view|compare|make`. Parses, hands over, makes an error one line."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from idcore.cli import resident
from idcore.policy import private

INTERRUPTED, PIPE_CLOSED, USAGE, REFUSED, BUG = 130, 141, 2, 1, 70


_BEGAN = time.monotonic()  # of this process, but for the start of Python


def main(arguments: Sequence[str] | None = None, began: float | None = None) -> int:
    """Runs one command and returns its exit status; no traceback leaves it for anything a user can cause.

    `began`: when its user began to wait, by `time.monotonic`.
    """
    from idcore.base import colours
    from idcore.base.errors import CoreError
    from idcore.cli import Usage, build_parser, join_zone  # a command of the session needs none of it

    given = join_zone(sys.argv[1:] if arguments is None else arguments)
    parser = build_parser()
    try:
        options = parser.parse_args(given)
        if sys.stdout is None:
            raise Usage("standard output is closed")
        options.main = run  # a session that stays runs the commands of others
        options.began = time.monotonic() if began is None else began
        with colours.of(sys.stdout):
            done = int(options.run(options))
        out = getattr(options, "out", None)
        if isinstance(out, Path) and out.exists() and private.is_shared(out.absolute().parent):
            private.share(out)
        return done
    except Usage as problem:
        return _fail(str(problem), USAGE)
    except CoreError as problem:
        return _fail(str(problem), USAGE)
    except BrokenPipeError:
        # The reader of our output has gone, as in `| head`: say nothing, and let nothing be said at exit.
        _point_to_nothing(sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        return _fail(f"{where}{problem.strerror or problem}", REFUSED)
    except Exception as problem:  # noqa: BLE001  a mistake of ours: one line all the same, with what is needed to find it
        import traceback

        from idcore.cli.missing_packages import missing_package

        if (lacking := missing_package(problem)) is not None:  # what the bare package does not bring
            return _fail(lacking, USAGE)
        *_, last = traceback.extract_tb(problem.__traceback__)
        said = f"{type(problem).__name__}: {problem} ({os.path.basename(last.filename)}:{last.lineno})"
        return _fail(f"internal error, please report it: {said}", BUG)


def _fail(text: str, status: int) -> int:
    from idcore.cli.complaint import complain

    complain(text)
    return status


def _point_to_nothing(descriptor: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)


def run(words: Sequence[str] | None = None, began: float | None = None) -> int:
    """The same for the process as a whole: what its streams cannot show, and a reader that has gone."""
    from idcore.base.safe_text import ESCAPES

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter gets its number, not a traceback
            stream.reconfigure(errors=ESCAPES)
    status = main(words, began)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _point_to_nothing(sys.stdout.fileno())
        return PIPE_CLOSED
    return status


def _own() -> int:
    """The command in a process of its own, or in the session that stays."""
    private.begin()
    try:
        done = resident.hand_over(sys.argv[1:]) if sys.argv[1:2] and sys.argv[1] in resident.COMMANDS else None
        return run(began=_BEGAN) if done is None else done
    except KeyboardInterrupt:
        return INTERRUPTED


def command() -> None:
    """The process as a whole: `rocketmq-ids`, or `python -m idcore`."""
    status = _own()
    if status == INTERRUPTED:
        import logging

        logging.raiseExceptions = False  # a thread that is still loading Spark may have made half of a handler
    sys.exit(status)


if __name__ == "__main__":
    command()
