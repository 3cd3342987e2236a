"""Long comparisons that programs ask for: one at a time, as each takes much memory."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from idcore.base.errors import CoreError
from idcore.operations import texts
from idcore.operations.model import Caller, Ground
from idcore.operations.table import TABLE
from idcore.policy.access import WITHOUT_LOGIN
from idcore.policy.audit import Actor

pytestmark = pytest.mark.quick
UNIQ = "0A14030B1FA118B4AAC263F50D7E0045"  # made by hand


def test_one_is_at_work_short_ones_go_by_and_who_hangs_up_waits_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Caller(lambda: WITHOUT_LOGIN, lambda: WITHOUT_LOGIN, Actor("ann", "s"), Ground(list, lambda: tmp_path))
    long = {"first_text": UNIQ, "second_text": f"{UNIQ} {UNIQ}"}
    monkeypatch.setattr(texts, "LARGE_COMPARED", sum(map(len, long.values())))
    monkeypatch.setattr(texts, "MOMENT", 0.001)
    begun, end, at_work, most = threading.Event(), threading.Event(), list[int](), list[int]()
    own = texts.compared.compare

    def compare(here: Any, **more: Any) -> Any:
        at_work.append(1)
        most.append(len(at_work))
        if here.before[0].size + here.after[0].size >= texts.LARGE_COMPARED:
            begun.set()
            assert end.wait(30)
        at_work.pop()
        return own(here, **more)

    monkeypatch.setattr(texts.compared, "compare", compare)
    call = TABLE["compare"].call
    with ThreadPoolExecutor(3) as pool:
        both = [pool.submit(call, long, caller) for _ in range(2)]
        assert begun.wait(30)
        assert call({"first_text": UNIQ, "second_text": UNIQ}, caller).count == 1  # a short one
        most.clear()
        with pytest.raises(CoreError, match="hung up"):
            call(long, replace(caller, gone=lambda: True))
        end.set()
        assert [one.result().count for one in both] == [1, 1] and most == [1]
    assert texts._TURN.acquire(timeout=0), "it was given back"
    texts._TURN.release()
