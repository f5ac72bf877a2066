"""Copies from another server, which are pending while their bytes are fetched. One that was acknowledged ends with all its bytes,
also if the server is killed meanwhile; one that was aborted has none."""

import asyncio
import time

from model import make_content
from owner import Owner, Wrong, expect

SIZE = 20_000
LONGEST_S = 20  # A copy that is taken up again after a start ends within this time.
PATIENCE_S = 0.5  # For one that had to be put off, see FetchedCopies.
STATUS = "x-ms-copy-status"


class SlowSource:
    """The other server: serves any number of contents by their numbers, half of each at once and half after a while."""

    def __init__(self):
        self._server = None

    async def start(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def url(self, number):
        return f"http://127.0.0.1:{self.port}/{number}"

    @staticmethod
    def content(number):
        return make_content("source", number, SIZE)

    async def _serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, target, _ = head.split(" ", 2)
                number = int(target[1:])
                writer.write(f'HTTP/1.1 200 OK\r\ncontent-length: {SIZE}\r\netag: "{number}"\r\n\r\n'.encode())
                if method == "HEAD":
                    continue
                body = self.content(number)
                writer.write(body[:SIZE // 2])
                await asyncio.sleep(number % 7 * 0.05)
                writer.write(body[SIZE // 2:])
                await writer.drain()
        except (OSError, EOFError, ValueError, asyncio.CancelledError):  # The last at the end of the run.
            pass
        finally:
            writer.close()


class FetchedCopies(Owner):
    """The state: nothing, or the number of the source and how the copy ended or will end. `may_be_put_off`: the server could not
    write for a while, and tries again what it has begun, but only after half a minute."""

    may_be_put_off = False

    def __init__(self, name, report, source, kind):
        super().__init__(name, report, None)
        self._source, self._kind = source, kind
        self.path = f"/{name}/copy"
        self._copy = None

    async def create(self, connection):
        await expect(connection, 201, "PUT", f"/{self.name}", {"restype": self._kind})

    async def step(self, connection, random):
        if self._copy is None:
            return await self.start(connection, int(self.next_version()))
        if random.random() < 0.4:
            return await self.abort(connection)
        await asyncio.sleep(random.random() * 0.2)
        return await self._finish(connection)

    async def start(self, connection, number):
        headers = {"x-ms-copy-source": self._source.url(number)}
        reply = await self.change(connection, (number, "success"), 202, "PUT", self.path, headers=headers)
        self._copy = reply.headers["x-ms-copy-id"] if reply.headers[STATUS] == "pending" else None

    async def abort(self, connection):
        number, _ = self.state
        aborted = (number, "aborted")
        self.pending = [aborted]
        reply = await connection.request("PUT", self.path, {"comp": "copy", "copyid": self._copy},
                                         {"x-ms-copy-action": "abort"})
        self.pending, self._copy = [], None
        if reply.status == 204:
            self.state = aborted
            self._report.acknowledged += 1
        elif reply.code != "NoPendingCopyOperation":
            raise Wrong(f"aborting a copy: {reply.status} {reply.code}")

    async def _finish(self, connection):
        """Waits for the end of the copy, whichever."""
        until = time.monotonic() + (PATIENCE_S if self.may_be_put_off else LONGEST_S)
        while True:
            reply = await connection.request("HEAD", self.path)
            if reply.headers.get(STATUS) != "pending":
                break
            if time.monotonic() > until and self.may_be_put_off:
                return reply
            if time.monotonic() > until:
                raise Wrong(f"the copy {self.path} is still pending")
            await asyncio.sleep(0.02)
        self._copy = None
        return reply

    async def observe(self, connection):
        reply = await self._finish(connection)
        if reply.status == 404:
            return None
        ended = reply.headers[STATUS]
        number = int(reply.headers["x-ms-copy-source"].rpartition("/")[2])
        if ended == "pending":
            self._copy = reply.headers["x-ms-copy-id"]
            return number, "success"
        content = (await expect(connection, 200, "GET", self.path)).body
        if content != (self._source.content(number) if ended == "success" else b""):
            raise Wrong(f"{self.path} is a copy of {number} that ended as {ended}, with {len(content)} bytes")
        return number, ended
