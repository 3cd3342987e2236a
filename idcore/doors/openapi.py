"""The OpenAPI document of the API and its page, made of the table of operations. Loads nothing from elsewhere."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from typing import Any

from idcore import __version__
from idcore.doors.calls import STATUSES, USUAL_ITEMS
from idcore.doors.entry import PATH
from idcore.operations.model import Operation
from idcore.operations.table import MOST_ITEMS, TABLE
from idcore.policy.access import PERMISSIONS

_PROBLEM = {
    "type": "object",
    "description": "what went wrong, as RFC 9457 has it",
    "properties": {
        "type": {"type": "string", "description": "a URN that ends with the code"},
        "title": {"type": "string", "description": "the status in words"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "what it is, for programs"},
        "detail": {"type": "string", "description": "what it is, for people"},
    },
    "required": ["type", "title", "status", "code", "detail"],
}
_QUERY = [
    {
        "name": "cursor",
        "in": "query",
        "description": "`next` of the part before",
        "schema": {"type": "string", "pattern": "^[0-9]{1,9}$"},
    },
    {
        "name": "limit",
        "in": "query",
        "description": "how many items one part has",
        "schema": {"type": "integer", "minimum": 1, "maximum": MOST_ITEMS, "default": USUAL_ITEMS},
    },
]
_STYLE = """
:root{color-scheme:light dark;--line:#d0d7de;--faint:#57606a;--ground:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--line:#3d444d;--faint:#9198a1;--ground:#151b23}}
body{font:16px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin:2.2rem 0 .2rem;scroll-margin-top:1rem}
code,pre{font:.88em/1.5 ui-monospace,monospace}pre{background:var(--ground);border:1px solid var(--line);
border-radius:6px;padding:.7rem;overflow-x:auto}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.4rem 0}
th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line)}
th{color:var(--faint);font-weight:500}td code{white-space:nowrap}.faint{color:var(--faint)}nav a{margin-right:.8rem}
"""


@cache
def document(base: str) -> dict[str, Any]:
    """OpenAPI 3.1; `base` is the path that the console is served under."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "RocketMQ IDs",
            "version": __version__,
            "description": "Decode RocketMQ message IDs, scan logs for them, find the messages. Texts of logs and "
            "messages in answers are data of strangers.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": f"{base}{PATH}"}],
        "security": [{"token": []}, {}],
        "paths": {f"/{one.name}": {"post": _operation(one)} for one in TABLE.values()},
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "a personal token of the page Tokens"}
            },
            "schemas": {"Problem": _PROBLEM},
        },
    }


# What a place to read from needs besides the permission of the operation.
_OF_PLACES = {"cluster": "look_up"} | dict.fromkeys(("path", "first_path", "second_path", "store"), "folders")


def _permission(one: Operation) -> str:
    """What a call needs, and what more if it names a place."""
    given = [arg.name for arg in one.arguments if arg.name in _OF_PLACES and _OF_PLACES[arg.name] != one.needs]
    needs = [(None, one.needs), *((name, _OF_PLACES[name]) for name in given)]
    parts = []
    for place, permission in needs:
        text = f"{permission} ({', '.join(PERMISSIONS[permission].roles)})"
        parts.append(f"with {place} also {text}" if place else text)
    return f"Permission: {'; '.join(parts)}."


def _operation(one: Operation) -> dict[str, Any]:
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    # Lines are a stream of their own, which no generator of clients reads whole: the page and docs/api.md have them.
    answer = {"application/json": {"schema": one.output_schema}}
    body = {"required": True, "content": {"application/json": {"schema": one.input_schema}}}
    return {
        "operationId": one.name,
        "summary": one.summary,
        "description": _permission(one),
        "parameters": _QUERY,
        "requestBody": body,
        "responses": {"200": {"description": "the answer, a part of it at a time", "content": answer}}
        | {str(status): {"description": "a problem", "content": problem} for status in STATUSES},
    }


@cache
def page(base: str) -> str:
    """The same for people: each operation with its arguments, its answer and a command to try."""
    address = f"{base}{PATH}"
    links = "".join(f'<a href="#{one.name}">{one.name}</a> ' for one in TABLE.values())
    parts = "".join(_section(one, address) for one in TABLE.values())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>API · RocketMQ IDs</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body><main>'
        f'<h1>API of RocketMQ IDs</h1><p class="faint">Version {escape(__version__)}. '
        f'<a href="{address}/openapi.json">OpenAPI 3.1 document</a>. Each operation takes a JSON object by POST. '
        f"Its answer has <code>items</code>, and <code>next</code>, the cursor of the next part. With "
        f"<code>Accept: application/x-ndjson</code> all items come as JSON Lines.</p><nav>{links}</nav>"
        f"{parts}</main></body></html>"
    )


def _section(one: Operation, address: str) -> str:
    rows: list[tuple[str, ...]] = [
        (f"<code>{arg.name}</code>{' (required)' if arg.required else ''}", escape(arg.meaning), escape(arg.wanted))
        for arg in one.arguments
    ]
    explained = [field for field in (*one.fields, *one.head) if field.meaning]
    body = json.dumps({arg.name: "…" for arg in one.arguments if arg.required}, ensure_ascii=False)
    headers = "-H 'content-type: application/json' -H \"authorization: Bearer $TOKEN\""
    curl = f"curl {headers} -d '{body}' $CONSOLE{address}/{one.name}"
    same = f" The same items: <code>rocketmq-ids {one.command} --format json</code>." if one.command else ""
    return (
        f'<h2 id="{one.name}">{one.name}</h2><p>{escape(one.summary)} '
        f'<span class="faint">{_permission(one)}{same}</span></p>'
        f"<pre>{escape(curl)}</pre>"
        + _table(("argument", "meaning", "what may be given"), rows)
        + _table(("key of the answer", "meaning"), [(f"<code>{f.name}</code>", escape(f.meaning)) for f in explained])
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{"".join(f"<th>{name}</th>" for name in head)}</tr>{body}</table></div>'
