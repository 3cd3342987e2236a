"""Signed requests: access key, HMAC-SHA1 over sorted fields and body, as ACL 1.0 and 2.0 both want it. No I/O."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

# SessionCredentials.java
ACCESS_KEY, SIGNATURE, SECURITY_TOKEN = "AccessKey", "Signature", "SecurityToken"
# MixAll.UNIQUE_MSG_QUERY_FLAG: servers leave it out of the signed text when the request says version 4.9.3 or lower
# (PlainAccessResource.parse, DefaultAuthenticationContextBuilder.build), and so did the clients of that time.
UNSIGNED = frozenset({SIGNATURE, "_UNIQUE_KEY_QUERY"})


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who asks. The secret never shows in a repr, so never in a log or a traceback."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


def sign(fields: Mapping[str, str], body: bytes, credentials: Credentials) -> dict[str, str]:
    """The fields with access key and signature added."""
    signed = {**fields, ACCESS_KEY: credentials.access_key}
    if credentials.security_token is not None:
        signed[SECURITY_TOKEN] = credentials.security_token
    # Java sorts Strings by UTF-16 units; the names are ASCII, where that is the same.
    text = "".join(signed[name] for name in sorted(signed) if name not in UNSIGNED)
    # what is not text is sent as it is (frame.py), so it is signed as it is
    signing = text.encode("utf-8", "surrogatepass") + body
    digest = hmac.new(credentials.secret_key.encode(), signing, hashlib.sha1).digest()
    return {**signed, SIGNATURE: base64.b64encode(digest).decode()}
