"""`make site`: the documents as a site for a browser, with search, without a network: dist/site.

Each page is there as Markdown too, and llms.txt lists them. What draws it is Zensical; links that lead nowhere end it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "dist" / "site"
STAGE = ROOT / ".cache" / "site"
DECODER = ROOT / "dist" / "rocketmq-ids.html"  # the page without a server, which its guide then contains
SOURCES = ROOT / "scripts" / "site"
SHIM = "iframe-worker.js"  # Zensical takes it from a network, and no page here does
TITLE = "RocketMQ IDs"
GALLERY = "screenshots/README.md"  # the page of all pictures
ABOUT = "Decode RocketMQ message IDs, scan logs for them, and find the messages"
# Files outside of docs/, and those whose name would be the start page of their folder.
MOVED = {
    "README.md": "index.md",
    "README.zh-CN.md": "zh.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "docs/README.md": "documents.md",
    "docs/README.zh-CN.md": "documents.zh-CN.md",
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
Section = tuple[str, list[tuple[str, str]]]


def pages() -> dict[str, str]:
    """Each file of the site's sources: its path in the clone, and in the site."""
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*") if path.is_file()}
    return {**{name: name.removeprefix("docs/") for name in sorted(found)}, **MOVED}


def moved(text: str, source: str, place: dict[str, str]) -> str:
    """A page with its links as the site needs them. A link to code, which the site lacks, becomes its text."""

    def link(match: re.Match[str]) -> str:
        mark, said, path, anchor = match[1], match[2], match[3], match[4] or ""
        if "://" in path or not path:
            return match[0] if not LINK.search(said) else f"{mark}[{LINK.sub(link, said)}]({path}{anchor})"
        target = os.path.normpath(os.path.join(os.path.dirname(source), path))
        target = f"{target}/README.md" if f"{target}/README.md" in place else target
        if target not in place:
            return said
        here = os.path.dirname(place[source])
        return f"{mark}[{LINK.sub(link, said)}]({os.path.relpath(place[target], here or '.')}{anchor})"

    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def gallery() -> str:
    """The page of all pictures, which the clone shows as a folder."""
    names = sorted(path.name for path in (ROOT / "docs" / "screenshots").glob("*.png"))
    return "# Pictures\n\nFor everybody: every page, in English and Chinese.\n\n" + "\n".join(
        f"![{name.removesuffix('.png').replace('-', ' ')}]({name})" for name in names
    )


def sections(index: str) -> list[Section]:
    """The menu: what docs/README.md lists under its headings, and the pages in Chinese."""
    found: list[Section] = [("Start", [("Start", "index.md"), ("All documents", "documents.md")])]
    chinese = [("开始", "zh.md"), ("全部文档", "documents.zh-CN.md")]
    for part in index.split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        rows = []
        for said, path in re.findall(r"\[([^\]]+)\]\(([^)#\s]+\.md)\)", text):
            if ".zh-CN." in path:
                title = (ROOT / "docs" / path).read_text(encoding="utf-8").partition("\n")[0]
                chinese.append((title.lstrip("# "), path))
            else:
                rows.append((said, "adr/README.md" if path == "adr/README.md" else path))
        found.append((heading.partition(":")[0], list(dict(map(reversed, rows)).items())))  # type: ignore[arg-type]
    found = [
        (heading, [(said, path) for path, said in rows] if heading != "Start" else rows) for heading, rows in found
    ]
    project = [("Changes", "changelog.md"), ("Contributing", "contributing.md"), ("Security", "security.md")]
    return [*found, ("Project", [*project, ("Conduct", "conduct.md")]), ("中文", chinese)]


def stage(place: dict[str, str]) -> None:
    """The sources of the site, in a folder of their own, and its settings next to it."""
    shutil.rmtree(STAGE, ignore_errors=True)
    for source, target in place.items():
        path = STAGE / "docs" / target
        path.parent.mkdir(parents=True, exist_ok=True)
        if target.endswith(".md"):
            path.write_text(moved((ROOT / source).read_text(encoding="utf-8"), source, place), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, path)
    shutil.copyfile(SOURCES / "site.css", STAGE / "docs" / "site.css")
    (STAGE / "docs" / GALLERY).write_text(gallery(), encoding="utf-8")
    if DECODER.is_file():  # where `make page` was run before
        shutil.copyfile(DECODER, STAGE / "docs" / DECODER.name)
        guide = STAGE / "docs" / "how-to" / "decode-without-a-server.md"
        frame = f'<iframe src="../{DECODER.name}" title="{TITLE}" loading="lazy" class="decoder"></iframe>'
        guide.write_text(f"{guide.read_text(encoding='utf-8')}\n## Try it\n\n{frame}\n", encoding="utf-8")
    menu = [
        f"  {{ {json.dumps(heading, ensure_ascii=False)} = [\n"
        + "".join(f"    {{ {json.dumps(said, ensure_ascii=False)} = {json.dumps(path)} }},\n" for said, path in rows)
        + "  ] },\n"
        for heading, rows in sections((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    ]
    settings = (SOURCES / "zensical.toml").read_text(encoding="utf-8")
    (STAGE / "zensical.toml").write_text(settings.replace("nav = []", f"nav = [\n{''.join(menu)}]"), encoding="utf-8")


def write_markdown(place: dict[str, str]) -> None:
    """Each page as Markdown next to it, and llms.txt, which names them all for programs that read."""
    for target in place.values():
        if target.endswith(".md"):
            shutil.copyfile(STAGE / "docs" / target, SITE / target)
    rows = [f"# {TITLE}\n\n> {ABOUT}\n"]
    for heading, listed in sections((ROOT / "docs" / "README.md").read_text(encoding="utf-8")):
        rows.append(f"\n## {heading}\n\n" + "".join(f"- [{said}]({path})\n" for said, path in listed))
    (SITE / "llms.txt").write_text("".join(rows), encoding="utf-8")


def keep_offline() -> None:
    """What the search of a page from a disk needs comes from the site itself."""
    shutil.copyfile(SOURCES / SHIM, SITE / "assets" / SHIM)
    for page in SITE.rglob("*.html"):
        way = os.path.relpath(SITE / "assets" / SHIM, page.parent)
        text = page.read_text(encoding="utf-8").replace("https://unpkg.com/iframe-worker/shim", way)
        page.write_text(text, encoding="utf-8")


def main() -> None:
    place = {**pages(), f"docs/{GALLERY}": GALLERY}
    stage({source: target for source, target in place.items() if (ROOT / source).exists()})
    build = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(build, cwd=STAGE, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr.partition("Traceback")[0])
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(STAGE / "site", SITE)
    keep_offline()
    write_markdown(place)
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    print(f"{SITE}: {len([*SITE.rglob('*.html')])} pages, {size / 1e6:.0f} MB; open {SITE / 'index.html'}")


if __name__ == "__main__":
    main()
