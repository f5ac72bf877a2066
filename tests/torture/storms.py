"""Trees of Data Lake that many clients work on at once: they are renamed, written to, replaced and read. Whoever looks sees a whole
tree or none, during the storm and after a crash."""

import asyncio
import json
import xml.etree.ElementTree

from client import Disconnected
from lakes import FILE_SYSTEMS, rename_headers
from owner import Owner, Wrong, expect

HERD = {f"{part}/file{number}": f"{part}/{number}".encode() for part in ("a", "b/c", "b/d") for number in range(5)}
HERD_PATHS = {"a", "b", "b/c", "b/d", "counter", *HERD}
PASTURES = tuple(f"{file_system}/storm/{name}" for file_system in FILE_SYSTEMS for name in ("north", "south"))
MISSING = 404, 409


async def paths_below(connection, file_system, directory):
    """In one page of Data Lake, which is one instant. None: the directory is not there."""
    query = {"resource": "filesystem", "recursive": "true", "directory": directory}
    reply = await connection.request("GET", f"/{file_system}", query)
    if reply.status == 404:
        return None
    if reply.status != 200 or "x-ms-continuation" in reply.headers:
        raise Wrong(f"a list of {directory}: {reply.status} {reply.code}")
    return {path["name"].removeprefix(f"{directory}/") for path in json.loads(reply.body)["paths"]}


async def blobs_below(connection, file_system, prefix):
    """In one page of the Blob API."""
    reply = await expect(connection, 200, "GET", f"/{file_system}", {"restype": "container", "comp": "list", "prefix": prefix})
    return {name.text.removeprefix(prefix) for name in xml.etree.ElementTree.fromstring(reply.body).iter("Name")}


class Storm:
    """One tree that everybody renames, from place to place and from one file system to the other, while others write below it.
    It is always in exactly one place, and whole."""

    def __init__(self, report):
        self._report = report
        self._counted = self._unknown = 0  # Increments acknowledged, and those whose reply never came.

    async def create(self, connection):
        for file_system in FILE_SYSTEMS:
            await expect(connection, 201, "PUT", f"/{file_system}/storm", {"resource": "directory"})
        for path, content in [*HERD.items(), ("counter", b"0")]:
            await expect(connection, 201, "PUT", f"/{PASTURES[0]}/{path}", headers={"x-ms-blob-type": "BlockBlob"}, body=content)

    def tasks(self, connect, seeded):
        """All that goes on; `connect()` gives a connection."""
        works = (self.move, self.move, self.move, self.list, self.list_blobs, self.read, self.read, self.count, self.count)
        return [self._repeat(work, connect(), seeded("storm", number)) for number, work in enumerate(works)]

    @staticmethod
    async def _repeat(work, connection, random):
        while True:
            await work(connection, random)

    async def move(self, connection, random):
        source, target = random.sample(PASTURES, 2)
        reply = await connection.request("PUT", f"/{target}", {"mode": "legacy"}, rename_headers(source))
        if reply.status == 201:
            self._report.acknowledged += 1
            self._report.notes["trees renamed"] = self._report.notes.get("trees renamed", 0) + 1
        elif reply.code != "SourcePathNotFound":
            raise Wrong(f"renaming {source} to {target}: {reply.status} {reply.code}")

    async def list(self, connection, random):
        file_system, _, directory = random.choice(PASTURES).partition("/")
        paths = await paths_below(connection, file_system, directory)
        if paths is not None and paths != HERD_PATHS:
            raise Wrong(f"a list of {directory} lacks {sorted(HERD_PATHS - paths)} and has {sorted(paths - HERD_PATHS)} besides")

    async def list_blobs(self, connection, random):
        file_system = random.choice(FILE_SYSTEMS)
        names = await blobs_below(connection, file_system, "storm/")
        tops = [name for name in names if "/" not in name]
        whole = {top for top in tops} | {f"{top}/{path}" for top in tops for path in HERD_PATHS}
        if len(tops) > 1 or names != whole:
            raise Wrong(f"a list of blobs in {file_system} lacks {sorted(whole - names)} and has {sorted(names - whole)} besides, of {tops}")

    async def read(self, connection, random):
        path = random.choice(sorted(HERD))
        headers = {"accept": random.choice(("application/xml", "application/json"))}
        reply = await connection.request("GET", f"/{random.choice(PASTURES)}/{path}", headers=headers)
        if reply.status != 404 and (reply.status, reply.body) != (200, HERD[path]):
            raise Wrong(f"{path} of the storm: {reply.status} {reply.code} {reply.body[:50]}")

    async def count(self, connection, random):
        """Read, and write one more if nobody else did, wherever the tree is."""
        place = f"/{random.choice(PASTURES)}/counter"
        reply = await connection.request("GET", place)
        if reply.status == 404:
            return
        headers = {"x-ms-blob-type": "BlockBlob", "if-match": reply.etag}
        self._unknown += 1
        written = await connection.request("PUT", place, headers=headers, body=b"%d" % (int(reply.body) + 1))
        self._unknown -= 1
        if written.status == 201:
            self._counted += 1
            self._report.acknowledged += 1
        elif written.status != 412:
            raise Wrong(f"the counter of the storm: {written.status} {written.code}")

    async def check(self, connection):
        found = []
        for place in PASTURES:
            file_system, _, directory = place.partition("/")
            paths = await paths_below(connection, file_system, directory)
            if paths is None:
                continue
            found.append(place)
            if paths != HERD_PATHS:
                return f"{place} lacks {sorted(HERD_PATHS - paths)} and has {sorted(paths - HERD_PATHS)} besides"
            for path, content in HERD.items():
                if (await expect(connection, 200, "GET", f"/{place}/{path}")).body != content:
                    return f"{place}/{path} has other content"
        if len(found) != 1:
            return f"the tree of the storm is in {found}"
        count = int((await expect(connection, 200, "GET", f"/{found[0]}/counter")).body)
        least, most = self._counted, self._counted + self._unknown
        self._counted, self._unknown = count, 0
        return None if least <= count <= most else f"the counter of the storm is {count}, not {least} to {most}"


class Published(Owner):
    """What jobs write and others read: a result is built apart, and takes the place of the last one as a whole. The state is
    which results are where: under construction, and published."""

    FILES = tuple(f"part{number}" for number in range(6))

    def __init__(self, name, report):
        super().__init__(name, report, (None, None))
        self._root = f"{FILE_SYSTEMS[0]}/{name}"
        self._stage, self._place = f"{FILE_SYSTEMS[1]}/{name}/stage", f"{self._root}/place"
        self._locks = 0
        self._won = {}  # By lock how many were told that it is theirs.

    async def create(self, connection):
        for path in (self._root, f"{FILE_SYSTEMS[1]}/{self.name}"):
            await expect(connection, 201, "PUT", f"/{path}", {"resource": "directory"})

    async def run(self, connection, random):
        others = [self._repeat(work, connection, random) for work in (self._look, self._look, self._lock, self._lock, self._lock)]
        writing = super().run(connection, random)
        await asyncio.gather(writing, *others)

    @staticmethod
    async def _repeat(work, like, random):
        connection = like.another()
        try:
            while True:
                await work(connection, random)
        except Disconnected:
            pass

    async def step(self, connection, random):
        staged, placed = self.state
        if placed is not None and random.random() < 0.5:
            await self.change(connection, (staged, None), 200, "DELETE", f"/{self._place}", {"recursive": "true"})
        elif staged is None:
            await self._build(connection)
        elif placed is None:
            await self.change(connection, (None, staged), 201, "PUT", f"/{self._place}", {"mode": "legacy"}, rename_headers(self._stage))
        else:  # The place is taken.
            reply = await expect(connection, 409, "PUT", f"/{self._place}", {"mode": "legacy"}, rename_headers(self._stage))
            if reply.code != "PathAlreadyExists":
                raise Wrong(f"renaming over a directory that is full: {reply.code}")
            self._report.refused += 1

    async def _build(self, connection):
        """Nobody sees it meanwhile, so whether it is whole after a crash does not matter: it is begun again."""
        generation = self.next_version()
        await connection.request("DELETE", f"/{self._stage}", {"recursive": "true"})
        for number, name in enumerate(self.FILES):
            path, content = f"/{self._stage}/deep/{name}", f"{generation}.{number}".encode()
            await expect(connection, 201, "PUT", path, {"resource": "file"})
            await expect(connection, 202, "PATCH", path, {"action": "append", "position": "0"}, body=content)
            await expect(connection, 200, "PATCH", path, {"action": "flush", "position": str(len(content))})
        self.state = (generation, self.state[1])

    async def _look(self, connection, random):
        file_system, _, directory = self._place.partition("/")
        paths = await paths_below(connection, file_system, directory)
        whole = {"deep", *(f"deep/{name}" for name in self.FILES)}
        if paths is not None and paths != whole:
            raise Wrong(f"{self._place} is not whole: {sorted(paths)}")
        number = random.randrange(len(self.FILES))
        reply = await connection.request("GET", f"/{self._place}/deep/{self.FILES[number]}")
        if reply.status != 404 and (reply.status != 200 or not reply.body.endswith(f".{number}".encode())):
            raise Wrong(f"{self._place}: {reply.status} {reply.code} {reply.body[:50]}")

    async def _lock(self, connection, random):
        """Whoever makes the file holds the lock, and there is one of each."""
        number = self._locks
        reply = await connection.request("PUT", f"/{self._root}/locks/{number}", {"resource": "file"}, {"if-none-match": "*"})
        if reply.status == 201:
            self._locks = max(self._locks, number + 1)
            self._won[number] = self._won.get(number, 0) + 1
            self._report.acknowledged += 1
            if self._won[number] > 1:
                raise Wrong(f"{self.name}: two hold lock {number}")
        elif reply.code == "PathAlreadyExists":
            self._locks = max(self._locks, number + 1)
        else:
            raise Wrong(f"{self.name}: lock {number}: {reply.status} {reply.code}")

    async def _generation(self, connection, place):
        """Of what is there; None where nothing is."""
        contents = []
        for number, name in enumerate(self.FILES):
            reply = await connection.request("GET", f"/{place}/deep/{name}")
            contents.append(reply.body.decode() if reply.status == 200 else f"{reply.status}.{number}")
        generations = {content.removesuffix(f".{number}") for number, content in enumerate(contents)}
        if len(generations) > 1:
            return f"torn: {sorted(generations)}"
        return None if generations == {"404"} else generations.pop()

    async def observe(self, connection):
        """What is being built counts only once it is whole."""
        staged = await self._generation(connection, self._stage)
        known = [state[0] for state in [self.state, *self.pending]]
        return staged if staged in known else None, await self._generation(connection, self._place)
