"""Every regular expression of the code over texts that make a bad one slow (ReDoS): time must grow as the text does.

python -m benchmarks.hostile_patterns       each pattern over texts of 4,000 characters; exit status 1 if one is slow
"""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, product
from pathlib import Path
from types import FrameType

from tests.source_code import nodes

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("idcore", "pages")
CALLS = ("compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer", "subn")
# What grows with the square of so many characters needs tens of seconds at a megabyte, and 0.3 here.
LENGTH, MOST = 4_000, 0.3
UNITS = (
    "a",
    "0",
    " ",
    "\n",
    "/",
    "\\",
    '"',
    "'",
    "_",
    "-",
    ".",
    ":",
    ",",
    "{",
    "[",
    "(",
    "<",
    "&",
    "#",
    "`",
    "*",
    "é",
    "F",
)
ENDS = ("!", "\n", '"', "\x00", "x=")  # a text that fits to its end is no trial


Pattern = re.Pattern[str] | re.Pattern[bytes]
WHOLE = {"match", "fullmatch"}  # at one place; the others begin at each place of a text


def patterns(root: Path = ROOT) -> Iterator[tuple[str, Pattern, bool]]:
    """Each pattern that is a literal or the value of a module's name; where it is; whether a text is searched."""
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        every = nodes(path)
        calls = [(node, called) for node in every if isinstance(node, ast.Call) and (called := _call(node))]
        used: dict[str, set[str]] = {}
        names = {node.value: node.targets[0] for node in every if isinstance(node, ast.Assign)}
        for _, (of, way) in calls:
            used.setdefault(of, set()).add(way)
        for node, (of, way) in calls:
            if of != "re" or way not in CALLS or not node.args:
                continue
            assigned = names.get(node)
            name = assigned.id if isinstance(assigned, ast.Name) else ""
            ways = used.get(name, set()) if way == "compile" else {way}
            pattern = _compiled(node) or _value(".".join(path.relative_to(root).with_suffix("").parts), name)
            if pattern is not None:
                yield f"{path.relative_to(root)}:{node.lineno}", pattern, not ways or not ways <= WHOLE


def _call(node: ast.Call) -> tuple[str, str] | None:
    """What is called of what: `re.sub`. `lazy_pattern` is `re.compile`."""
    if isinstance(node.func, ast.Name):
        return ("re", "compile") if node.func.id == "lazy_pattern" else None
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.value.id, node.func.attr
    return None


def _compiled(node: ast.Call) -> Pattern | None:
    """The pattern of a call whose text is a literal."""
    try:
        text = ast.literal_eval(node.args[0])
    except ValueError:  # made of names
        return None
    flags = 0
    for one in [*node.args[1:], *(keyword.value for keyword in node.keywords)]:
        flags |= sum(getattr(re, name) for part in ast.walk(one) if (name := _flag(part)))
    return re.compile(text, flags)


def _value(module: str, name: str) -> Pattern | None:
    """The pattern that a name of a module of the core has."""
    if not name or not module.startswith("idcore."):
        return None
    value = getattr(importlib.import_module(module.removesuffix(".__init__")), name, None)
    return None if value is None else re.compile(value.pattern, value.flags)


def _flag(part: ast.AST) -> str | None:
    """The name of a flag: re.ASCII is ASCII."""
    of_re = isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "re"
    return part.attr if of_re and isinstance(part, ast.Attribute) and part.attr.isupper() else None


def texts(pattern: str, length: int) -> Iterator[str]:
    """Repetitions of each unit and of each pair of letters of the pattern, and an end that fits none."""
    own = list(dict.fromkeys(char for char in pattern if not char.isspace()))[:8]
    units = [*UNITS, *(first + second for first, second in product(own, own) if first != second)]
    for number, unit in enumerate(units):
        yield unit * (length // len(unit)) + ENDS[number % len(ENDS)]


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """TimeoutError when it takes more of a core: the engine looks for signals. What others do does not count."""

    def end(_: int, __: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _taken(pattern: Pattern, searched: bool, text: str, most: float) -> float:
    """Seconds of a core; where it does not end, five times the most."""
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    began = time.process_time()
    try:
        with limited(5 * most):
            for _ in pattern.finditer(subject) if searched else ():  # type: ignore[arg-type]
                pass
            pattern.fullmatch(subject)  # type: ignore[arg-type]
    except TimeoutError:
        return 5 * most
    return time.process_time() - began


def slow(pattern: Pattern, searched: bool, length: int, most: float) -> tuple[float, str] | None:
    """A time over one of the texts that is beyond `most`, and that text.

    First over a quarter of each: a square takes a sixteenth there, and a cube of a thousand is never quick.
    """
    own = str(pattern.pattern)
    for number, short in enumerate(texts(own, length // 4)):
        if (took := _taken(pattern, searched, short, most)) > most / 20:
            text = next(islice(texts(own, length), number, None))
            for _ in range(3):  # on a busy machine the first time may be long by chance
                last = took if took > most else _taken(pattern, searched, text, most)
                if last <= most:
                    break
            else:
                return last, text[:20]
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=LENGTH)
    asked = parser.parse_args()
    found = list(patterns())
    bad = [(where, worst) for where, one, all_ in found if (worst := slow(one, all_, asked.length, MOST))]
    for where, (seconds, text) in bad:
        print(f"{where}: {seconds:.1f} s of {text!r}…")
    print(f"{len(found)} patterns, {len(bad)} slow")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
