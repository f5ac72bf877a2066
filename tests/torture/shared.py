"""Objects that all clients change at once: a counter by read-modify-write with If-Match, and an append blob as a log."""

import zlib

from client import Disconnected
from owner import Wrong
from workload import CONTAINER


class Counter:
    """A number in a blob. Each success of a PUT with If-Match adds exactly one, and none is lost."""

    path = f"/{CONTAINER}/shared-counter"

    def __init__(self):
        self.acknowledged = 0
        self.unknown = 0  # Increments whose reply never came since the last look.
        self.conflicts = 0

    async def create(self, connection):
        reply = await connection.request("PUT", self.path, headers={"x-ms-blob-type": "BlockBlob"}, body=b"0")
        if reply.status != 201:
            raise Wrong(f"creating the counter: {reply.status} {reply.code}")

    async def increment(self, connection):
        """One try; True when it was the one that got through."""
        reply = await connection.request("GET", self.path)
        if reply.status != 200:
            raise Wrong(f"reading the counter: {reply.status} {reply.code}")
        headers = {"x-ms-blob-type": "BlockBlob", "If-Match": reply.etag}
        try:
            written = await connection.request("PUT", self.path, headers=headers, body=b"%d" % (int(reply.body) + 1))
        except Disconnected:
            self.unknown += 1
            raise
        if written.status == 201:
            self.acknowledged += 1
            return True
        if written.status != 412:
            raise Wrong(f"writing the counter: {written.status} {written.code}")
        self.conflicts += 1
        return False

    async def check(self, connection):
        """What is wrong with it, or None. An increment without a reply may have happened or not; after this it is known."""
        reply = await connection.request("GET", self.path)
        if reply.status != 200:
            return f"the counter is gone: {reply.status} {reply.code}"
        count = int(reply.body)
        if not self.acknowledged <= count <= self.acknowledged + self.unknown:
            return f"the counter is {count} after {self.acknowledged} successes and {self.unknown} without a reply"
        self.acknowledged, self.unknown = count, 0
        return None


class Log:
    """An append blob with many writers. Every acknowledged record is at the offset its reply named, exactly once; what else
    is there are records whose replies never came, whole and once."""

    SIZE = 128
    MOST = 40_000  # Below the 50,000 blocks that an append blob can have.

    def __init__(self):
        self.generation = -1
        self._reset()

    def _reset(self):
        self.generation += 1
        self.path = f"/{CONTAINER}/shared-log-{self.generation}"
        self.known = {}  # offset: record
        self.unknown = set()
        self._next = 0

    @property
    def full(self):
        return self._next >= self.MOST

    async def create(self, connection):
        reply = await connection.request("PUT", self.path, headers={"x-ms-blob-type": "AppendBlob"})
        if reply.status != 201:
            raise Wrong(f"creating the log: {reply.status} {reply.code}")

    async def renew(self, connection):
        await connection.request("DELETE", self.path)
        self._reset()
        await self.create(connection)

    async def append(self, connection):
        self._next += 1
        text = b"record %d " % self._next
        record = text + b"." * (self.SIZE - len(text) - 10) + b" %08x\n" % zlib.crc32(text)
        self.unknown.add(record)
        reply = await connection.request("PUT", self.path, {"comp": "appendblock"}, body=record)
        if reply.status != 201:
            raise Wrong(f"appending to the log: {reply.status} {reply.code}")
        offset = int(reply.headers["x-ms-blob-append-offset"])
        if offset in self.known:
            raise Wrong(f"two appends were told that they are at {offset}")
        self.unknown.discard(record)
        self.known[offset] = record

    async def check(self, connection):
        reply = await connection.request("GET", self.path)
        if reply.status != 200:
            return f"the log is gone: {reply.status} {reply.code}"
        if len(reply.body) % self.SIZE:
            return f"the log is {len(reply.body)} bytes long: a record is torn"
        for offset in range(0, len(reply.body), self.SIZE):
            record = reply.body[offset:offset + self.SIZE]
            if offset in self.known:
                if record != self.known[offset]:
                    return f"the log has {record[:16]!r} at {offset}, should be {self.known[offset][:16]!r}"
            elif record in self.unknown:
                self.unknown.discard(record)
                self.known[offset] = record
            else:
                return f"the log has at {offset} what nobody wrote there, or wrote twice: {record[:16]!r}"
        if len(self.known) * self.SIZE != len(reply.body):
            return f"the log has {len(reply.body) // self.SIZE} records, {len(self.known)} were acknowledged"
        self.unknown.clear()
        return None
