"""Regular expressions: none of the code takes time that runs away with a stranger's text (ReDoS)."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from benchmarks.hostile_patterns import LENGTH, MOST, Pattern, patterns, slow
from idcore.base.lazy_pattern import lazy_pattern


@pytest.fixture(scope="module")
def every() -> list[tuple[str, Pattern, bool]]:
    return list(patterns())


def test_the_patterns_of_the_code_are_found(every: list[tuple[str, Pattern, bool]]) -> None:
    assert len(every) > 300 and all(isinstance(pattern, re.Pattern) for _, pattern, _ in every)


@pytest.mark.slow
def test_no_pattern_is_slow_on_a_hostile_text(every: list[tuple[str, Pattern, bool]]) -> None:
    bad = {where: found for where, pattern, searched in every if (found := slow(pattern, searched, LENGTH, MOST))}
    assert not bad


@pytest.mark.parametrize("bad", [r"(a+)+$", r"^(\d+)*x", r"(.*a){12}$", r"a*a*X"])
def test_a_pattern_that_runs_away_is_found(bad: str) -> None:
    assert slow(re.compile(bad), True, LENGTH, MOST / 10) is not None


def test_a_lazy_pattern_finds_what_its_pattern_finds() -> None:
    text, now, later = "a1, B22", re.compile("[ab](?P<n>[0-9]+)", re.I), lazy_pattern("[ab](?P<n>[0-9]+)", re.I)
    assert later.findall(text) == now.findall(text) == ["1", "22"] and later.sub("x", text) == now.sub("x", text)
    assert (later.pattern, later.flags, later.groupindex) == (now.pattern, now.flags, now.groupindex)
    assert lazy_pattern(b"[0-9]").findall(b"a1") == [b"1"]


def test_a_lazy_pattern_is_compiled_at_its_first_use() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        broken.search("")


_COUNTED = """
import atexit, re, sys
callers, plain = [], re.compile
re.compile = lambda *given: callers.append(sys._getframe(1).f_globals["__name__"]) or plain(*given)
atexit.register(lambda: print(sum(name.startswith("idcore") for name in callers), file=sys.stderr))
sys.argv[1:] = ["decode", "0A141E28126418B4AAC26531F659001F"]
from idcore.__main__ import command
command()
"""


def test_one_id_is_decoded_with_few_patterns() -> None:
    """A third of the time of such a command was once for patterns that it did not use."""
    done = subprocess.run([sys.executable, "-c", _COUNTED], capture_output=True, text=True, check=True)
    assert done.stdout and 0 < int(done.stderr.split()[-1]) < 40
