"""Incremental copies: a page blob, its snapshots, and another blob that takes over ever later ones of them."""

import xml.etree.ElementTree

from model import make_content
from owner import Owner, Wrong, expect

CONTAINER = "increments"
SIZE = 4096
MOST = 6  # Snapshots of one blob; then the client begins another.


async def create_container(connection):
    await expect(connection, 201, "PUT", f"/{CONTAINER}", {"restype": "container"}, {"x-ms-blob-public-access": "blob"})


class Increments(Owner):
    """The state: content of the source, of its snapshots, and of the copies that were made of them, in order."""

    FRESH = {"source": None, "snapshots": (), "copies": ()}

    def __init__(self, name, report):
        super().__init__(name, report, self.FRESH)
        self._base, self._generation, self._address = name, 0, None

    @property
    def _source(self):
        return f"/{CONTAINER}/{self.name}-source"

    @property
    def _copy(self):
        return f"/{CONTAINER}/{self.name}-copy"

    async def step(self, connection, random):
        # A copy is bound to the URL of its source, and a server that is started again has another port.
        address, self._address = self._address, connection.url("")
        if len(self.state["snapshots"]) >= MOST or (self.state["copies"] and address != self._address):
            self._generation += 1
            self.name, self.state = f"{self._base}-{self._generation}", self.FRESH
        if self.state["source"] is None:
            return await self.begin(connection)
        choices = [self.write, self.snapshot]
        # Contents tell snapshots apart, so one is taken only of a content that has none.
        if self.state["source"] in self.state["snapshots"]:
            choices.remove(self.snapshot)
        if self.state["snapshots"] and self.state["snapshots"][-1:] != self.state["copies"][-1:]:
            choices.append(self.copy)
        return await random.choice(choices)(connection)

    async def begin(self, connection):
        headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": str(SIZE)}
        await self.change(connection, {**self.state, "source": bytes(SIZE)}, 201, "PUT", self._source, headers=headers)

    async def write(self, connection):
        content = make_content(self._base, int(self.next_version()), SIZE)
        headers = {"x-ms-page-write": "update", "x-ms-range": f"bytes=0-{SIZE - 1}"}
        await self.change(connection, {**self.state, "source": content}, 201, "PUT", self._source, {"comp": "page"}, headers,
                          content)

    async def snapshot(self, connection):
        after = {**self.state, "snapshots": (*self.state["snapshots"], self.state["source"])}
        await self.change(connection, after, 201, "PUT", self._source, {"comp": "snapshot"})

    async def copy(self, connection):
        snapshots = await self._snapshots(connection, f"{self.name}-source")
        if not snapshots:
            raise Wrong(f"{self._source}: all of its {len(self.state['snapshots'])} snapshots are gone")
        newest = snapshots[-1]
        url = f"{connection.url(self._source)}?snapshot={newest.replace(':', '%3A')}"
        after = {**self.state, "copies": (*self.state["copies"], self.state["snapshots"][-1])}
        await self.change(connection, after, 202, "PUT", self._copy, {"comp": "incrementalcopy"}, {"x-ms-copy-source": url})

    async def _snapshots(self, connection, name):
        query = {"restype": "container", "comp": "list", "prefix": name, "include": "snapshots"}
        listing = await expect(connection, 200, "GET", f"/{CONTAINER}", query)
        return sorted(blob.findtext("Snapshot") for blob in xml.etree.ElementTree.fromstring(listing.body).iter("Blob")
                      if blob.findtext("Snapshot"))

    async def _contents(self, connection, path, name):
        found = []
        for instant in await self._snapshots(connection, name):
            found.append((await expect(connection, 200, "GET", path, {"snapshot": instant})).body)
        return tuple(found)

    async def observe(self, connection):
        reply = await connection.request("GET", self._source)
        return {"source": reply.body if reply.status == 200 else None,
                "snapshots": await self._contents(connection, self._source, f"{self.name}-source"),
                "copies": await self._contents(connection, self._copy, f"{self.name}-copy")}
