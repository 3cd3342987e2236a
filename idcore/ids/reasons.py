"""What the ids give as a reason: a code with values, said by the catalogue. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from idcore.base.catalogue import words


@dataclass(frozen=True, slots=True)
class Reason:
    """What supports or contradicts an interpretation: a code (`reason.…` or `error.…` of the catalogue) with values."""

    code: str
    values: Mapping[str, Any] | None = None

    @property
    def key(self) -> str:
        """The key of its message."""
        return _key(self.code)

    def __str__(self) -> str:
        return words().coded(self) if self.values else _bare(self.code)


@dataclass(frozen=True, slots=True)
class Maker:
    """Who most likely generated an id: a code (`client.…` of the catalogue) with values."""

    code: str
    values: Mapping[str, Any] | None = None

    @property
    def key(self) -> str:
        """The key of its message."""
        return f"client.{self.code}"

    def __str__(self) -> str:
        return words().coded(self)


@lru_cache(maxsize=512)
def bare_reason(code: str) -> Reason:
    """The reason of a code without values, made once."""
    return Reason(code)


@lru_cache(maxsize=4_096, typed=True)
def shared_reason(code: str, **values: str | int) -> Reason:
    """A reason whose values many ids have, made once: an input of a thousand lines has it a thousand times."""
    return Reason(code, values)


_SHARED: dict[tuple[int, ...], tuple[Reason, ...]] = {}


def shared_reasons(why: Sequence[Reason]) -> tuple[Reason, ...]:
    """These very reasons as a tuple that other ids may have too. A tuple that is kept keeps its reasons, so no other
    object gets their identity."""
    key = tuple(map(id, why))
    shared = _SHARED.get(key)
    if shared is None:
        if len(_SHARED) >= 4_096:
            _SHARED.clear()
        shared = _SHARED[key] = tuple(why)
    return shared


@lru_cache(maxsize=512)
def _key(code: str) -> str:
    return f"reason.{code}" if words().has(f"reason.{code}") else f"error.{code}"


@lru_cache(maxsize=512)
def _bare(code: str) -> str:
    """The English sentence of a reason without values: `decode` prints many of them for each id."""
    return words()(_key(code))


# What a reason says of an interpretation, after the points that it has in `scoring`; others are remarks.
FOR = frozenset(
    """port_bytes port_fits port_known port_node pid_zero little_endian little_endian_shape version_01 lost_version
    label_client label_offset loader_stream loader_stream_25 loader_known loader_zero case_upper case_go elapsed_fits
    elapsed_slack seconds_fit seconds_le seconds_rust neighbour_broker neighbour_process neighbour_client
    rand_seed""".split()  # noqa: SIM905
)
AGAINST = frozenset(
    """pid_zero_too little_endian_maybe little_endian_not uuid_v4 label_against label_key loader_unknown case_mixed
    case_lower elapsed_known_maker elapsed_label born_apart stored_apart seconds_open seconds_rust_open seconds_odd
    time_to_come time_before_rocketmq host_odd made_up""".split()  # noqa: SIM905
)


def side_of(reason: Reason) -> str:
    """Whether a reason is `for` an interpretation or `against` it, as each error is; empty for a remark."""
    if reason.code in AGAINST or reason.key.startswith("error."):
        return "against"
    return "for" if reason.code in FOR else ""
