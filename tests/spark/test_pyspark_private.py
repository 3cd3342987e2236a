"""What a scan does with a version of PySpark that lacks a name which its API reference does not promise."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pyspark
import pytest
from pyspark import java_gateway

from idcore.spark import health
from idcore.spark.start import pyspark_private
from idcore.spark.tasks import Engine
from tests.source_code import ROOT, modules, name, nodes

JARS = Path(pyspark.__file__).parent / "jars"
DOCUMENTED = {
    *("pyspark", "pyspark.sql", "pyspark.sql.types", "pyspark.sql.datasource", "py4j.protocol"),
    *("pyspark.sql.streaming", "pyspark.sql.streaming.datasource"),
}


def in_jar(folder: str, text: str) -> bool:
    """Whether a class below this folder of Spark's core has a constant."""
    (core,) = JARS.glob("spark-core_*.jar")
    with zipfile.ZipFile(core) as jar:
        return any(text.encode() in jar.read(each) for each in jar.namelist() if each.startswith(folder))


def test_this_version_of_pyspark_has_every_name() -> None:
    main, context = pyspark_private.JAVA_MAIN.replace(".", "/"), inspect.getsource(pyspark.SparkContext)
    there = {
        pyspark_private.JAVA_MAIN: in_jar(main, pyspark_private.CONNECTION)
        and all(each in inspect.getsource(java_gateway) for each in (pyspark_private.PORT, pyspark_private.SECRET)),
        pyspark_private.DAEMON: in_jar("org/apache/spark/internal/config/Python", pyspark_private.DAEMON)
        and find_spec("pyspark.daemon") is not None,
        "pyspark.worker": find_spec("pyspark.worker") is not None,
        "pyspark.SparkContext._gateway": hasattr(pyspark.SparkContext, "_gateway"),
        "pyspark.SparkContext._jvm": hasattr(pyspark.SparkContext, "_jvm"),
        "pyspark.java_gateway.ensure_callback_server_started": hasattr(java_gateway, "ensure_callback_server_started"),
        "pyspark.SparkContext._accumulatorServer": re.search(r"self\._accumulatorServer\b.* = ", context) is not None,
    }
    assert there.keys() == pyspark_private.NAMES.keys()
    lacking = {each: pyspark_private.NAMES[each][1] for each, has in there.items() if not has}
    assert not lacking, "the version has not what a scan uses: each with what happens without it"


def test_no_other_module_knows_names_that_the_reference_of_pyspark_lacks() -> None:
    wrong = []
    for path in modules("pages", "idcore"):
        if name(path) == "idcore/spark/start/pyspark_private.py":
            continue
        for node in nodes(path):
            imported = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            imported += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            wrong += [
                f"{name(path)}: {each}"
                for each in imported
                if each.split(".")[0] in ("pyspark", "py4j") and each not in DOCUMENTED
            ]
            if isinstance(node, ast.Attribute) and re.search(
                r"(?i)(spark_?context|context|numba\S*)\._[a-z]", ast.unparse(node)
            ):
                wrong.append(f"{name(path)}: {ast.unparse(node)}")
    assert not wrong, "it belongs into idcore/spark/start/pyspark_private.py"


WITHOUT = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from idcore.spark import session
from idcore.spark.job import ScanOptions, scan
from idcore.spark.start import jvm, pyspark_private

jvm.JAVA_MAIN = "org.example.NoSuchServer"
session.DAEMON = "spark.no.such.setting"
folder = Path(sys.argv[1])
made = scan([str(folder / "a.log")], folder / "out", ScanOptions(zone=UTC, at=datetime(2026, 11, 21, tzinfo=UTC)))
print(json.dumps([made["ids"], session.session().process.poll()]))
"""


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_without_its_server_and_its_setting_spark_is_started_by_its_scripts_and_forks_workers_itself(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.log").write_bytes(b"2026-11-21 10:00:00 msgId=0A14030B1FA118B4AAC263F50D7E0045\n")
    environment = {each: value for each, value in os.environ.items() if not each.startswith("PYSPARK_")}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [1, None] and "NoSuchServer" in done.stderr


def test_without_the_module_of_workers_each_worker_loads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.worker", None)  # type: ignore[arg-type]
    pyspark_private.load_worker()


def test_without_a_way_to_forget_java_the_session_is_ended_and_nothing_is_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for attribute in ("_gateway", "_jvm"):
        monkeypatch.delattr(pyspark.SparkContext, attribute)
    context, process = Mock(spec=["stop"]), Mock()
    assert pyspark_private.java_process(context) is None
    health.forget(Engine(context, True, process))
    assert context.stop.called and process.stdin.close.called
    assert not hasattr(pyspark.SparkContext, "_gateway") and not hasattr(pyspark.SparkContext, "_jvm")


def test_a_java_that_is_not_known_has_not_ended_until_it_does_not_answer() -> None:
    gone: Any = Engine(SimpleNamespace(defaultParallelism=2), True)  # type: ignore[arg-type]
    assert not health.java_ended(gone) and not health.is_gone(gone)
    gone = Engine(SimpleNamespace(), True)  # type: ignore[arg-type]
    assert health.is_gone(gone)


def test_without_the_server_of_accumulators_nothing_is_kept_quiet() -> None:
    pyspark_private.quieten(SimpleNamespace())  # type: ignore[arg-type]
    server = SimpleNamespace(handle_error=print)
    pyspark_private.quieten(SimpleNamespace(_accumulatorServer=server))  # type: ignore[arg-type]
    assert server.handle_error is not print
