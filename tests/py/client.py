"""A keep-alive HTTP/1.1 connection that signs with SharedKey. It has no retries and hides nothing: a reply is whole, or the
request raises Disconnected and nobody knows whether the server acted on it."""

import asyncio
import base64
import contextlib
import dataclasses
import email.utils
import hashlib
import hmac
import time
import urllib.parse

VERSION = "2023-11-03"
REPLY_TIMEOUT_S = 60
PATH_SAFE = "/$()'=,"  # What names of entities are made of stays as it is.


def encoded(text):
    """As UTF-8. What bytes.decode(errors="surrogateescape") made of other bytes becomes those again."""
    return text.encode(errors="surrogateescape")


class Disconnected(Exception):
    """The connection ended before the whole reply was there."""


class Gate:
    """What many connections share. Once closed, no further request is sent. Where the server works under faults (`faulty`), an
    error of its own tells as little about the fate of a request as no reply. `now` is the time that requests are dated with."""

    def __init__(self, faulty=False, now=time.time):
        self.closed, self.faulty, self.now = False, faulty, now
        self.unavailable = 0
        self._under_way = 0
        self._may_send = asyncio.Event()
        self._may_send.set()

    @contextlib.asynccontextmanager
    async def request(self):
        """Around each request."""
        await self._may_send.wait()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    @contextlib.asynccontextmanager
    async def silence(self):
        """Meanwhile no request is under way."""
        self._may_send.clear()
        while self._under_way:
            await asyncio.sleep(0.001)
        try:
            yield
        finally:
            self._may_send.set()

    def look_at(self, reply, parts=b""):
        """Raises Disconnected where the reply, or one to a part of a batch, is such an error."""
        if reply.status >= 500 or b"HTTP/1.1 50" in parts:
            self._failed(f"{reply.status} {reply.code}")

    def look_at_status(self, status, failures):
        """The same for a status of SMB, where `failures` are such errors."""
        if status in failures:
            self._failed(status)

    def _failed(self, why):
        if self.faulty:
            self.unavailable += 1
            raise Disconnected(why)


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict  # Names in lower case.
    body: bytes

    @property
    def etag(self):
        return self.headers.get("etag")

    @property
    def code(self):
        return self.headers.get("x-ms-error-code", "")


class Connection:
    """`table`: sign as the Table service wants it, which is another string."""

    def __init__(self, host, port, account, key, table=False, gate=None):
        self._host, self._port, self._account, self._key = host, port, account, base64.b64decode(key)
        self._table = table
        self.gate = gate or Gate()
        self._reader = self._writer = None

    @classmethod
    def to(cls, url, account, key, **more):
        """A connection to the service at this URL."""
        where = urllib.parse.urlsplit(url)
        return cls(where.hostname, where.port, account, key, **more)

    def another(self):
        """One more to the same server, for the same account and through the same gate."""
        return Connection(self._host, self._port, self._account, base64.b64encode(self._key), self._table, self.gate)

    async def request(self, method, path, query=None, headers=None, body=b""):
        """`path` is below the account: /container/blob. `body` may be a function that makes it when it is time to send it."""
        if self.gate.closed:
            self.close()
            raise Disconnected("the work is over")
        try:
            async with self.gate.request(), asyncio.timeout(REPLY_TIMEOUT_S):
                body = body() if callable(body) else body
                head = self.head(method, path, query or {}, headers or {}, body)
                if self._writer is None:
                    self._reader, self._writer = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
                self._writer.write(head + body)
                await self._writer.drain()
                reply = await self._reply(method)
        except (OSError, EOFError) as error:  # Among them time-outs and incomplete reads.
            self.close()
            raise Disconnected(f"{method} {path} {query or ''}: {error!r}") from error
        self.gate.look_at(reply)
        return reply

    def close(self):
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None

    def url(self, path):
        return f"http://{self._host}:{self._port}/{self._account}{urllib.parse.quote(path, safe=PATH_SAFE)}"

    def signed_url(self, path):
        """One that everybody can read by: with an account SAS."""
        fields = {"sv": VERSION, "ss": "bf", "srt": "o", "sp": "r", "se": "2999-01-01T00:00:00Z"}
        text = "\n".join([self._account, fields["sp"], fields["ss"], fields["srt"], "", fields["se"], "", "", VERSION, "", ""])
        fields["sig"] = base64.b64encode(hmac.digest(self._key, text.encode(), hashlib.sha256)).decode()
        return f"{self.url(path)}?{urllib.parse.urlencode(fields)}"

    def head(self, method, path, query, headers, body):
        """Request line and headers, signed."""
        path = f"/{self._account}{urllib.parse.quote(path, safe=PATH_SAFE)}"
        fields = {"x-ms-date": email.utils.formatdate(self.gate.now(), usegmt=True), "x-ms-version": VERSION,
                  **{name.lower(): value for name, value in headers.items()}}
        text = (self._table_text if self._table else self._text)(method, path, query, fields, body)
        signature = base64.b64encode(hmac.digest(self._key, encoded(text), hashlib.sha256)).decode()
        target = path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else "")
        lines = [f"{method} {target} HTTP/1.1", f"host: {self._host}:{self._port}",
                 f"authorization: SharedKey {self._account}:{signature}"]
        if body or method in ("PUT", "POST"):
            lines.append(f"content-length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in fields.items()]
        return encoded("\r\n".join(lines) + "\r\n\r\n")

    def _text(self, method, path, query, fields, body):
        """The string to sign."""
        standard = [fields.get(name, "") for name in (
            "content-encoding", "content-language", "", "content-md5", "content-type", "date", "if-modified-since",
            "if-match", "if-none-match", "if-unmodified-since", "range")]
        standard[2] = str(len(body)) if body else ""
        own = [f"{name}:{fields[name]}" for name in sorted(fields) if name.startswith("x-ms-")]
        parameters = sorted(f"{name.lower()}:{value}" for name, value in query.items())
        return "\n".join([method, *standard, *own, f"/{self._account}{path}", *parameters])

    def _table_text(self, method, path, query, fields, body):
        what = f"/{self._account}{path}" + (f"?comp={query['comp']}" if "comp" in query else "")
        return "\n".join([method, "", fields.get("content-type", ""), fields["x-ms-date"], what])

    async def _reply(self, method):
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        status = int(first.split(" ", 2)[1])
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif headers.get("transfer-encoding", "").lower() == "chunked":
            body = await self._chunks()
        else:
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Reply(status, headers, body)

    async def _chunks(self):
        parts = []
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
        while await self._reader.readuntil(b"\r\n") != b"\r\n":
            pass
        return b"".join(parts)
