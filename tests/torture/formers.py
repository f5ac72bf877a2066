"""Former states of a blob: versions, soft-deleted heads and snapshots. Each state of the blob has a number, which its metadata
say, and with it a content; so that listings tell which states are there even of those that cannot be read."""

import xml.etree.ElementTree

from model import make_content
from owner import Owner, Wrong, expect

CONTAINER = "formers"
MOST = 8  # States of one blob; then the client begins another.
SIZES = (300, 4_000, 120_000)
RETENTION = b"<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy>" \
            b"</StorageServiceProperties>"


async def create_container(connection):
    await expect(connection, 202, "PUT", "/", {"restype": "service", "comp": "properties"}, body=RETENTION)
    await expect(connection, 201, "PUT", f"/{CONTAINER}", {"restype": "container"})


class FormerStates(Owner):
    """The state: of each number (place, whether it is deleted, number of its content), places being head, version, snapshot."""

    def __init__(self, name, report, versioning):
        super().__init__(name, report, {})
        self._base, self._generation = name, 0
        self._versioning = versioning
        self._ids = {}  # How the server calls a version or snapshot, by number.

    @property
    def path(self):
        return f"/{CONTAINER}/{self.name}"

    def _in(self, place, deleted=False):
        return [number for number, entry in self.state.items() if entry[0] == place and entry[1] == deleted]

    async def step(self, connection, random):
        if len(self.state) >= MOST:
            self._generation += 1
            self.name, self.state, self._ids = f"{self._base}-{self._generation}", {}, {}
        choices = [self.put, self.put]
        if self._in("head"):
            choices += [self.delete] if self._versioning else [self.delete, self.snapshot]
        if self._versioning and [number for number in self._in("version") if number in self._ids]:
            choices += [self.promote, self.delete_version]
        if any(deleted for _, deleted, _ in self.state.values()):
            choices += [self.undelete, self.undelete]
        await random.choice(choices)(connection, random)

    def _replaced(self):
        """The state without a head: what becomes of the one that is there."""
        after = dict(self.state)
        for number, (place, deleted, content) in self.state.items():
            if place == "head":
                after[number] = ("version", False, content) if self._versioning else ("snapshot", True, content)
        return after

    def _content(self, number):
        return make_content(self._base, number, SIZES[number % len(SIZES)])

    async def put(self, connection, random):
        number = int(self.next_version())
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-meta-number": str(number), "x-ms-meta-content": str(number)}
        reply = await self.change(connection, {**self._replaced(), number: ("head", False, number)}, 201, "PUT", self.path,
                                  headers=headers, body=self._content(number))
        self._ids[number] = reply.headers.get("x-ms-version-id")

    async def promote(self, connection, random):
        """A former version becomes the current one by being copied over it."""
        source = random.choice([number for number in self._in("version") if number in self._ids])
        number, content = int(self.next_version()), self.state[source][2]
        url = f"{connection.url(self.path)}?versionid={self._ids[source].replace(':', '%3A')}"
        headers = {"x-ms-copy-source": url, "x-ms-meta-number": str(number), "x-ms-meta-content": str(content)}
        reply = await self.change(connection, {**self._replaced(), number: ("head", False, content)}, 202, "PUT", self.path,
                                  headers=headers)
        self._ids[number] = reply.headers.get("x-ms-version-id")

    async def delete(self, connection, random):
        if self._versioning:
            after = self._replaced()
        else:
            after = {number: (place, True, content) for number, (place, _, content) in self.state.items()}
        await self.change(connection, after, 202, "DELETE", self.path, headers={"x-ms-delete-snapshots": "include"})

    async def delete_version(self, connection, random):
        number = random.choice([number for number in self._in("version") if number in self._ids])
        after = {**self.state, number: ("version", True, self.state[number][2])}
        await self.change(connection, after, 202, "DELETE", self.path, {"versionid": self._ids[number]})

    async def undelete(self, connection, random):
        after = {number: (place, False, content) for number, (place, _, content) in self.state.items()}
        await self.change(connection, after, 200, "PUT", self.path, {"comp": "undelete"})

    async def snapshot(self, connection, random):
        number, [head] = int(self.next_version()), self._in("head")
        content = self.state[head][2]
        headers = {"x-ms-meta-number": str(number), "x-ms-meta-content": str(content)}
        await self.change(connection, {**self.state, number: ("snapshot", False, content)}, 201, "PUT", self.path,
                          {"comp": "snapshot"}, headers)

    async def observe(self, connection):
        query = {"restype": "container", "comp": "list", "prefix": self.name, "include": "snapshots,versions,deleted,metadata"}
        listing = await expect(connection, 200, "GET", f"/{CONTAINER}", query)
        seen = {}
        for blob in xml.etree.ElementTree.fromstring(listing.body).iter("Blob"):
            if blob.findtext("Name") != self.name:
                continue
            snapshot, version = blob.findtext("Snapshot"), blob.findtext("VersionId")
            number, content = int(blob.findtext("Metadata/number")), int(blob.findtext("Metadata/content"))
            former = version is not None and blob.findtext("IsCurrentVersion") is None
            place = "snapshot" if snapshot else "version" if former else "head"
            deleted = blob.findtext("Deleted") == "true"
            if number in seen:
                raise Wrong(f"{self.name} has its state {number} twice")
            if version and self._ids.get(number, version) != version:
                raise Wrong(f"{self.name}: version {self._ids[number]} is now called {version}")
            self._ids[number] = version
            seen[number] = (place, deleted, content)
            if not deleted:
                query = {"snapshot": snapshot} if snapshot else {"versionid": version} if former else None
                body = (await expect(connection, 200, "GET", self.path, query)).body
                if body != self._content(content):
                    raise Wrong(f"{self.name}: the content of state {number} is not {content}")
        return seen
