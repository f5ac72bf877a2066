"""Entities under torture: each client owns one partition, writes single entities and whole transactions, and knows at any time
the state before and the state after its one change in flight. A transaction is one change: all of it or nothing."""

import json

import changeset
from client import Disconnected
from owner import Wrong

TABLE = "torture"
ROWS = 12
JSON = "application/json;odata=fullmetadata"


class TableClient:
    def __init__(self, number, report):
        self.partition = f"client{number:02}"
        self.rows = {}  # RowKey: (version, ETag). No ETag: not learnt yet.
        self.pending = None
        self._version = 0
        self._etags = set()  # Of each row with its name, all that it ever had.
        self._report = report

    @staticmethod
    async def create_table(connection):
        reply = await connection.request("POST", "/Tables", headers={"Content-Type": "application/json", "Accept": JSON},
                                         body=json.dumps({"TableName": TABLE}).encode())
        if reply.status not in (201, 204):
            raise Wrong(f"creating the table: {reply.status} {reply.body[:200]}")

    async def create(self, connection):
        """Its partition needs nothing to be there."""

    async def run(self, connection, random):
        try:
            while True:
                await random.choice((self.upsert, self.upsert, self.insert, self.replace, self.merge, self.merge_any, self.delete,
                                     self.transact, self.replace_stale))(connection, random)
        except Disconnected:
            pass

    def _path(self, row):
        return f"/{TABLE}(PartitionKey='{self.partition}',RowKey='{row}')"

    def _entity(self, row):
        self._version += 1
        return {"PartitionKey": self.partition, "RowKey": row, "Version": self._version, "Text": f"v{self._version} " * 20}

    async def _change(self, connection, after, status, method, path, headers, body):
        self.pending = after
        reply = await connection.request(method, path, headers={"Accept": JSON, **headers}, body=body)
        connection.gate.look_at(reply, reply.body)
        self.pending = None
        if reply.status != status:
            raise Wrong(f"{method} {path}: {reply.status}, not {status}: {reply.body[:200]}")
        self._report.acknowledged += 1
        self.rows = after
        return reply

    async def _write(self, connection, method, row, path=None, status=204, **headers):
        entity = self._entity(row)
        headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
        after = {**self.rows, row: (entity["Version"], None)}
        reply = await self._change(connection, after, status, method, path or self._path(row), headers, json.dumps(entity).encode())
        if (row, reply.etag) in self._etags:
            raise Wrong(f"{method} {row}: an entity had the ETag {reply.etag} before")
        self._etags.add((row, reply.etag))
        self.rows[row] = (entity["Version"], reply.etag)

    async def upsert(self, connection, random):
        await self._write(connection, "PUT", f"row{random.randrange(ROWS)}")

    async def merge_any(self, connection, random):
        """Over what is there, or as a new entity."""
        await self._write(connection, "PATCH", f"row{random.randrange(ROWS)}")

    async def insert(self, connection, random):
        row = f"row{random.randrange(ROWS)}"
        if row not in self.rows:
            await self._write(connection, "POST", row, f"/{TABLE}", Prefer="return-no-content")

    async def replace(self, connection, random):
        await self._write_known(connection, random, "PUT")

    async def merge(self, connection, random):
        await self._write_known(connection, random, random.choice(("PATCH", "MERGE")))

    async def _write_known(self, connection, random, method):
        known = [row for row, (_, etag) in self.rows.items() if etag]
        if known:
            row = random.choice(known)
            await self._write(connection, method, row, If_Match=self.rows[row][1])

    async def replace_stale(self, connection, random):
        if not self.rows:
            return
        row = random.choice(sorted(self.rows))
        headers = {"Content-Type": "application/json", "Accept": JSON,
                   "If-Match": "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\""}
        reply = await connection.request("PUT", self._path(row), headers=headers, body=json.dumps(self._entity(row)).encode())
        if reply.status != 412:
            raise Wrong(f"an entity was replaced with an old ETag: {reply.status}")
        self._report.refused += 1

    async def delete(self, connection, random):
        if not self.rows:
            return
        row = random.choice(sorted(self.rows))
        after = {other: value for other, value in self.rows.items() if other != row}
        await self._change(connection, after, 204, "DELETE", self._path(row), {"If-Match": "*"}, b"")

    async def transact(self, connection, random):
        """Replaces several entities and perhaps deletes one, in one changeset."""
        rows = random.sample(range(ROWS), random.randint(2, 6))
        after, parts = dict(self.rows), []
        for number, row in enumerate(f"row{row}" for row in rows):
            if number == 0 and row in after:
                del after[row]
                parts.append(("DELETE", self._path(row), {"If-Match": "*", "Accept": JSON}, b""))
                continue
            entity = self._entity(row)
            after[row] = (entity["Version"], None)
            parts.append(("PUT", self._path(row), {"Content-Type": "application/json", "Accept": JSON},
                          json.dumps(entity).encode()))
        reply = await self._change(connection, after, 202, "POST", "/$batch", changeset.HEADERS, changeset.encode(parts))
        done = [part.status for part in changeset.replies(reply.body)]
        if done != [204] * len(parts):
            raise Wrong(f"a transaction of {len(parts)} says {done} were done: {reply.body[:1000]}")

    async def check(self, connection):
        query = {"$filter": f"PartitionKey eq '{self.partition}'"}
        reply = await connection.request("GET", f"/{TABLE}()", query, {"Accept": JSON})
        if reply.status != 200:
            return f"querying {self.partition}: {reply.status} {reply.body[:200]}"
        seen = {}
        for entity in json.loads(reply.body)["value"]:
            if entity["Text"] != f"v{entity['Version']} " * 20:
                return f"entity {entity['RowKey']} of {self.partition} is torn"
            seen[entity["RowKey"]] = (int(entity["Version"]), entity["odata.etag"])
        before, after, self.pending = self.rows, self.pending, None
        self.rows = seen
        if agrees(seen, before) or (after is not None and agrees(seen, after)):
            return None
        return f"{self.partition} has {seen}, should have {before} or {after}"


def agrees(seen, wanted):
    return seen.keys() == wanted.keys() and all(
        seen[row][0] == version and etag in (None, seen[row][1]) for row, (version, etag) in wanted.items())
