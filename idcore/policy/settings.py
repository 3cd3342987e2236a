"""Every environment variable of the console and the command line, one row each. Refuses none: who uses a value does.

They are read when they are asked for, so that a test and a supervisor may change them. The limits have a table of their
own, `limits`, because they have units and sentences.
"""

# ruff: noqa: RUF009 - what _row returns is a dataclass field

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from idcore.policy import private

_OFF = ("", "0", "false", "no", "off")  # what is none of these asks for it: a word that we do not know, too


def _row(
    name: str,
    default: Any,
    meaning: str,
    *,
    read: Callable[[str], Any] = str,
    shown: str = "none",
    empty: bool = False,
    secret: bool = False,
) -> Any:
    """A setting: its variable, its value where that is not set, its meaning and its default for docs/settings.md.

    `empty`: an empty text is a value; else it is as if nothing were set.
    """
    row = {"name": name, "meaning": meaning, "read": read, "shown": shown, "empty": empty}
    return field(default=default, repr=not secret, metadata=row)


# fmt: off
@dataclass(frozen=True, slots=True)
class Settings:
    """What the administrator set; a field that nobody set has its default."""

    runs: Path | None = _row(
        "IDCORE_RUNS", None, "folder of the scans", read=Path, shown="`~/.local/share/rocketmq-ids/runs`")
    allowed_paths: str = _row(
        "IDCORE_ALLOWED_PATHS", "",
        "folders of the server, and URIs of stores, that visitors may scan, separated by `:`")
    spark_master: str = _row(
        "IDCORE_SPARK_MASTER", "", "Spark master of the console's scans", shown="`local[*]`")
    spark_remote: str = _row("IDCORE_SPARK_REMOTE", "", "Spark Connect server, instead of a master")
    worker_python: str = _row(
        "IDCORE_WORKER_PYTHON", "", "Python of a cluster's workers", shown="this interpreter")
    spark_settings: str = _row(
        "SPARK_CONF_DIR", "", "folder with a `spark-defaults.conf`, for every other setting of Spark")
    spark_memory: str = _row(
        "IDCORE_SPARK_MEMORY", "2g", "memory of the JVM when Spark runs on this machine", shown="`2g`")
    kafka_jars: str = _row(
        "IDCORE_KAFKA_JARS", "", "folder of the jars of Spark's Kafka source ([how](how-to/follow.md#topics-of-kafka))")
    kafka_properties: Path | None = _row(
        "IDCORE_KAFKA_PROPERTIES", None, "file of properties of Kafka's clients: log-in, encryption", read=Path)
    no_spark: bool = _row("IDCORE_NO_SPARK", False, "any value: decode only, never start Spark", read=bool)
    clusters: Path | None = _row(
        "IDCORE_CLUSTERS", None, "TOML file of the clusters for look-ups ([how](how-to/connect-a-cluster.md))",
        read=Path)
    namesrv: str = _row("IDCORE_NAMESRV", "", "name servers of a single cluster, without a file")
    tls: bool = _row("IDCORE_TLS", False, "`1`: encrypted connections to it",
        read=lambda text: text.strip().lower() not in _OFF)
    tls_ca: str = _row("IDCORE_TLS_CA", "", "the certificates to trust; the connections are encrypted then")
    access_key: str = _row("ROCKETMQ_ACCESS_KEY", "", "its access key", secret=True)
    secret_key: str = _row("ROCKETMQ_SECRET_KEY", "", "its secret key", secret=True)
    security_token: str = _row(
        "ROCKETMQ_SECURITY_TOKEN", "", "its token, only where temporary keys need one", secret=True)
    access: Path | None = _row(
        "IDCORE_ACCESS", None,
        "TOML file of the roles ([how](how-to/log-in.md)); without it everybody who logs in is a viewer", read=Path)
    login_hours: str = _row(
        "IDCORE_LOGIN_HOURS", "12", "hours until a log-in ends by itself, at most 720", shown="12")
    trusted_proxies: str = _row(
        "IDCORE_TRUSTED_PROXIES", "",
        "addresses and networks of proxies whose headers are a log-in, separated by `,`")
    forwarded_allow_ips: str = _row(
        "FORWARDED_ALLOW_IPS", "127.0.0.1",
        "must be empty where headers are trusted: the console then sees the address of the proxy",
        shown="`127.0.0.1,::1`", empty=True)
    without_login: str = _row(
        "IDCORE_WITHOUT_LOGIN", "",
        "`everybody may see everything`: starts on an address of the network without a log-in")
    audit_log: Path | None = _row(
        "IDCORE_AUDIT_LOG", None,
        "file that gets a line for each thing that visitors do ([how](how-to/watch-the-console.md#the-audit-log))",
        read=Path)
    metrics: str = _row(
        "IDCORE_METRICS", "",
        "addresses and networks that may also read the metrics, separated by commas; `off` for nobody",
        shown="this machine")
    tokens: str = _row(
        "IDCORE_TOKENS", "", "days that a personal token may live, at most 366; `off`: nobody may use one", shown="90")
    watched_groups: str = _row(
        "IDCORE_WATCHED_GROUPS", "",
        "consumer groups whose progress is asked for every minute and is in the metrics: `cluster/topic/group`, "
        "separated by commas ([how](alerts.md))")
    webhook: str = _row(
        "IDCORE_WEBHOOK", "",
        "address that gets a JSON object by POST for each new error of a followed scan, and each problem of a watched "
        "group ([how](alerts.md#the-webhook))")
    webhook_secret: str = _row(
        "IDCORE_WEBHOOK_SECRET", "",
        "key that signs them: `whsec_` and at least 24 random bytes in base64", secret=True)
    log: str = _row("IDCORE_LOG", "plain", "`json`: the server's log as lines of JSON", shown="`plain`")
    java_home: str = _row("JAVA_HOME", "", "Java 17 or newer for Spark", shown="the `java` on `PATH`")
    kernels: str = _row(
        "NUMBA_CACHE_DIR", "", "compiled kernels; `make setup` fills it", shown="`~/.cache/rocketmq-ids/kernels`")

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """From the variables of an environment."""
        rows = ((item.name, item.metadata, environment.get(item.metadata["name"])) for item in fields(cls))
        return cls(**{name: row["read"](text) for name, row, text in rows if text or (text == "" and row["empty"])})
# fmt: on


ROWS: Mapping[str, Mapping[str, Any]] = {item.name: item.metadata for item in fields(Settings)}


_UNSET = Settings()


def name_of(setting: str) -> str:
    """The variable of a field, for messages."""
    return str(ROWS[setting]["name"])


def current() -> Settings:
    """The settings of this process, read from its environment."""
    return Settings.of(private.environment())


def one(setting: str) -> Any:
    """What is set now for one field, for who asks often."""
    row = ROWS[setting]
    text = private.variable(str(row["name"]))
    return row["read"](text) if text or (text == "" and row["empty"]) else getattr(_UNSET, setting)


def text(name: str) -> str:
    """What one variable says, of a table of its own such as the limits; empty where it is not set."""
    return os.environ.get(name, "")
