"""`make page`: a page that decodes IDs without a server, as a folder and as one file.

    python3 scripts/make_page.py --out dist/page

Python is Pyodide, from its npm package; what decodes is `idcore` as it is. Both are checked against a known hash.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
import zipfile
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from idcore.base import catalogue  # noqa: E402
from idcore.ids.clock import to_ms  # noqa: E402
from idcore.presentation.offline import answer  # noqa: E402
from idcore.presentation.reports import roles  # noqa: E402
from idcore.simulate.example import SAMPLES  # noqa: E402
from scripts import pyodide  # noqa: E402

FILES = ("pyodide.js", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
SOURCES = ROOT / "scripts" / "page"
# What the page imports of the core; a test holds that it is enough. Not one line is another than the console's.
WINGS = ("base", "ids", "intake", "policy", "presentation", "runs", "simulate", "sources", "rocketmq", "answers")
AT = datetime(2026, 11, 25, tzinfo=UTC)  # of the sample
# No address may be asked, and nothing may be run but what is here. Colours of a field are in attributes.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
OF_FOLDER = POLICY + "script-src 'self' blob: 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self' blob:"
OF_FILE = POLICY + "script-src {hashes} blob: 'wasm-unsafe-eval'; worker-src blob:; connect-src blob:"


def of_pyodide() -> dict[str, bytes]:
    """The files of Pyodide that the page needs."""
    with tarfile.open(fileobj=io.BytesIO(pyodide.fetch())) as members:
        files = {name: members.extractfile(f"package/{name}").read() for name in FILES}  # type: ignore[union-attr]
    files["pyodide.asm.js"] = _classic(files.pop("pyodide.asm.mjs"))
    return files


def _classic(module: bytes) -> bytes:
    """A module as a classic script: a page that is opened from a disk may load no modules into a worker."""
    text = module.decode().replace("import.meta.url", "self.location.href")
    begin, exported, rest = text.rpartition("export default _createPyodideModule;")
    if not exported or rest.strip():
        raise SystemExit("make page: this Pyodide ends in another way than the known one")
    return f"{begin}self._createPyodideModule = _createPyodideModule;\n".encode()


def core() -> bytes:
    """`idcore` and the time zones as one archive, the same for the same sources."""
    made, found = io.BytesIO(), find_spec("tzdata")
    if found is None or found.origin is None:
        raise SystemExit("make page: tzdata is missing; `make setup` installs it")
    zones = Path(found.origin).parent
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in sorted((ROOT / "idcore").rglob("*")):
            place = path.relative_to(ROOT)
            if path.suffix in (".py", ".css") and (len(place.parts) == 2 or place.parts[1] in WINGS):
                _add(out, place.as_posix(), path.read_bytes())
        _add(out, ".streamlit/config.toml", (ROOT / ".streamlit" / "config.toml").read_bytes())
        for path in sorted(zones.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                _add(out, f"tzdata/{path.relative_to(zones).as_posix()}", path.read_bytes())
    return made.getvalue()


def _add(out: zipfile.ZipFile, name: str, data: bytes) -> None:
    out.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


def _json(value: object) -> str:
    """JSON that ends no script."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def filled(policy: str, script: str, assets: str = "") -> str:
    """The page; the sample is explained before anything is loaded."""
    every = {lang: catalogue.words(lang).table("offline.") for lang in catalogue.languages()}
    texts = {lang: {f"offline.{key}": text for key, text in own.items()} for lang, own in every.items()}
    sample = {lang: answer(SAMPLES["uniq"], lang, "UTC", to_ms(AT)) for lang in catalogue.languages()}
    style = f":root{{{roles.css_variables()}}}" + (ROOT / "pages" / "parts" / "style.css").read_text(encoding="utf-8")
    style += roles.css_fields() + (SOURCES / "page.css").read_text(encoding="utf-8")
    parts = {
        "POLICY": policy,
        "TITLE": texts["en"]["offline.title"],
        "STYLE": style,
        "ANSWER": sample["en"]["html"],
        "TEXTS": _json(texts),
        "SAMPLE": _json(sample),
        "ASSETS": assets,
        "SCRIPT": script,
    }
    page = (SOURCES / "index.html").read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], page)


def folder(out: Path, files: dict[str, bytes]) -> None:
    """The page as files beside each other, for a web server."""
    out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (out / name).write_bytes(data)
    for name in ("page.js", "worker.js"):
        (out / name).write_text((SOURCES / name).read_text(encoding="utf-8"), encoding="utf-8")
    page = filled(OF_FOLDER, '<script type="module" src="page.js"></script>')
    (out / "index.html").write_text(page, encoding="utf-8")


def one_file(path: Path, files: dict[str, bytes]) -> None:
    """The page as one file, which opens from a disk or a stick."""
    assets = []
    for name, data in files.items():
        packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
        assets.append(f'<script type="text/plain" data-asset="{name}">{packed}</script>')
    worker, script = ((SOURCES / name).read_text(encoding="utf-8") for name in ("worker.js", "page.js"))
    assets.append(f'<script id="worker" type="text/plain">{worker}</script>')
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = filled(
        OF_FILE.format(hashes=f"'sha256-{digest}'"), f'<script type="module">{script}</script>', "\n".join(assets)
    )
    path.write_text(page, encoding="utf-8")


def main() -> None:
    """Writes DIR/index.html with its files, and DIR.html."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "rocketmq-ids", help="folder of the page")
    options = parser.parse_args()
    files = {**of_pyodide(), "idcore.zip": core()}
    folder(options.out, files)
    single = options.out.with_name(f"{options.out.name}.html")
    one_file(single, files)
    served = sum(len(gzip.compress(path.read_bytes(), 9)) for path in options.out.iterdir())
    print(f"{options.out}: {served / 1e6:.1f} MB as served; {single}: {single.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
