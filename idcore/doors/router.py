"""The way to the doors for programs: what is below /api/v1 is theirs. Loads them with the first request."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from idcore.doors.entry import PATH, Entry
from idcore.server.front_door import path_of


class ApiRouter:
    """Answers what is below /api/v1, and hands everything else on: the pages are up before the operations are."""

    def __init__(self, app: ASGIApp, entry: Entry) -> None:
        self.app, self.entry = app, entry
        self._api: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = path_of(scope, self.entry.base()) if scope["type"] == "http" else ""
        if path != PATH and not path.startswith(f"{PATH}/"):
            await self.app(scope, receive, send)
            return
        if self._api is None:
            from idcore.doors.http import Api

            self._api = Api(self.entry)
        await self._api(scope, receive, send)
