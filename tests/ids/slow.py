"""The classification rule a second time, from its text and by slices of digits: the twin that identify() is held to."""

from __future__ import annotations

from idcore.ids import known_loaders

LABELS = ("msgid", "msgids", "messageid", "uniq_key", "transactionid")
DAY = 86_400_000
KNOWN = {int(value) for value in known_loaders()}


def classify(text: str, label: str | None = None, any_case: bool = False) -> str:
    """The layout's name, or the refusal's code with a minus in front."""
    letters = [char for char in text if char.isalpha()]
    if letters and all(char.islower() for char in letters) and not any_case:
        return "-lower_case"
    if len(text) == 34:
        return "client_v1" if text[:2] == "01" else "-version"
    wide = len(text) == 56
    version = "v6" if wide else "v4"
    rest = text[32:] if wide else text[8:]
    port, offset = int(rest[:8], 16), int(rest[8:], 16)
    loader, elapsed = int(rest[4:12], 16), int(rest[12:20], 16)
    if port < 65536:
        if port >= 1 and offset <= 2**48:
            return "uniq_v4_le" if not wide and little(text, port, offset) else f"offset_{version}"
        if loader == 0:
            return "-port"
    elif not wide and shaped(text) and loader not in KNOWN:
        return "uniq_v4_le"
    if elapsed > 31 * DAY + 1000:
        vouched = label is not None and any(label.lower().endswith(name) for name in LABELS)
        if not (elapsed >= 2**32 - DAY or loader in KNOWN or vouched):
            return "-elapsed"
    return f"uniq_{version}"


def private(octets: list[int]) -> bool:
    a, b = octets[:2]
    return a in (10, 127) or (a == 172 and 16 <= b < 32) or (a == 192 and b == 168)


def turned(text: str) -> list[int]:
    return [int(text[at : at + 2], 16) for at in range(0, 8, 2)][::-1]


def shaped(text: str) -> bool:
    """Every field can be one of the little-endian client."""
    elapsed = int("".join(text[at : at + 2] for at in (26, 24, 22, 20)), 16)
    rand = text[12:16]
    zeros = text[10:12] == "00" and text[16:20] == "0000" and text[30:] == "00"
    return (
        zeros
        and rand.upper() not in ("0000", "FFFF")
        and int(text[8:10], 16) < 64
        and turned(text)[0] < 224
        and elapsed < 32 * DAY + 3_600_000
    )


def little(text: str, port: int, offset: int) -> bool:
    """Of one that reads as a port and an offset too."""
    there, back = turned(text)[::-1], turned(text)
    if not shaped(text) or (private(there) and not private(back)):
        return False
    usual = 10_900 <= port <= 10_999 or port in (9_876, 10_811, 8_080, 8_081)
    if offset > 2**44:
        return not (usual and back[0] == 0)
    if usual or offset < 2**32:
        return False
    return offset >= 2**40 or (not private(there) and (private(back) or back[0] == 0))
