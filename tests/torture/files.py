"""Files under torture: each client owns one directory and knows at any time the tree below it before and after its one change
in flight. A rename is one change, whatever lies below: a name is never lost, a file never in two places."""

import xml.etree.ElementTree

from client import Disconnected
from owner import Wrong, expect

SHARE = "torture"
MOST_ENTRIES = 40
LONGEST = 40_000
DIRECTORY = None  # What a tree has in the place of a file's bytes.


async def create_share(connection):
    await expect(connection, 201, "PUT", f"/{SHARE}", {"restype": "share"})


async def listing(connection, path, snapshot=None):
    """(name, is it a directory, file id) of everything in a directory."""
    found, marker = [], ""
    while True:
        query = {"restype": "directory", "comp": "list", "maxresults": "7", **({"marker": marker} if marker else {}),
                 **({"sharesnapshot": snapshot} if snapshot else {})}
        reply = await expect(connection, 200, "GET", f"/{SHARE}/{path}".rstrip("/"), query, {"x-ms-file-extended-info": "true"})
        page = xml.etree.ElementTree.fromstring(reply.body)
        for entry in page.find("Entries"):
            found.append((entry.findtext("Name"), entry.tag == "Directory", entry.findtext("FileId")))
        marker = page.findtext("NextMarker")
        if not marker:
            return found


async def read_tree(connection, path, snapshot=None, ids=None):
    """The tree below a directory: path: bytes. With `ids`, adds the id of each entry and says which comes twice."""
    tree = {}
    for name, is_directory, file_id in await listing(connection, path, snapshot):
        below = f"{path}/{name}".lstrip("/")
        if ids is not None:
            if file_id in ids:
                raise Wrong(f"{below} is also {ids[file_id]}")
            ids[file_id] = below
        if is_directory:
            tree[below] = DIRECTORY
            tree.update(await read_tree(connection, below, snapshot, ids))
        else:
            query = {"sharesnapshot": snapshot} if snapshot else None
            tree[below] = (await expect(connection, 200, "GET", f"/{SHARE}/{below}", query)).body
    return tree


class FileClient:
    def __init__(self, number, report):
        self.root = f"client{number:02}"
        self.tree = {}
        self.pending = None
        self.snapshot = None  # (id, the tree it shows)
        self._report = report
        self._next = 0

    async def create(self, connection):
        await expect(connection, 201, "PUT", f"/{SHARE}/{self.root}", {"restype": "directory"})

    async def run(self, connection, random):
        operations = (self.create_file, self.create_file, self.create_directory, self.put_range, self.put_range, self.put_range,
                      self.clear_range, self.rename, self.rename, self.rename, self.delete, self.delete_full, self.take_snapshot)
        try:
            while True:
                await random.choice(operations)(connection, random)
        except Disconnected:
            pass

    async def _change(self, connection, after, status, method, path, query=None, headers=None, body=b""):
        self.pending = after
        await expect(connection, status, method, f"/{SHARE}/{path}", query, headers, body)
        self.pending = None
        self._report.acknowledged += 1
        self.tree = after

    def _directories(self):
        return [self.root] + sorted(path for path, content in self.tree.items() if content is DIRECTORY)

    def _files(self):
        return sorted(path for path, content in self.tree.items() if content is not DIRECTORY)

    def _fresh(self, random):
        self._next += 1
        return f"{random.choice(self._directories())}/{random.choice('abc')}{self._next}"

    async def create_file(self, connection, random):
        if len(self.tree) >= MOST_ENTRIES:
            return
        size = random.randrange(1, LONGEST)
        # Sometimes over what is there.
        path = random.choice(self._files()) if self._files() and random.random() < 0.2 else self._fresh(random)
        await self._change(connection, {**self.tree, path: bytes(size)}, 201, "PUT", path,
                           headers={"x-ms-type": "file", "x-ms-content-length": str(size)})

    async def create_directory(self, connection, random):
        if len(self.tree) < MOST_ENTRIES:
            path = self._fresh(random)
            await self._change(connection, {**self.tree, path: DIRECTORY}, 201, "PUT", path, {"restype": "directory"})

    async def _write(self, connection, random, clear):
        if not self._files():
            return
        path = random.choice(self._files())
        content = self.tree[path]
        start = random.randrange(len(content))
        end = random.randrange(start, len(content)) + 1
        data = bytes(end - start) if clear else random.randbytes(end - start)
        after = {**self.tree, path: content[:start] + data + content[end:]}
        headers = {"x-ms-write": "clear" if clear else "update", "x-ms-range": f"bytes={start}-{end - 1}"}
        await self._change(connection, after, 201, "PUT", path, {"comp": "range"}, headers, b"" if clear else data)

    async def put_range(self, connection, random):
        await self._write(connection, random, clear=False)

    async def clear_range(self, connection, random):
        await self._write(connection, random, clear=True)

    async def rename(self, connection, random):
        """A file or a directory with all below it, to a fresh name or over another file."""
        if not self.tree:
            return
        source = random.choice(sorted(self.tree))
        is_directory = self.tree[source] is DIRECTORY
        inside = {path for path in self.tree if path == source or path.startswith(f"{source}/")}
        others = [path for path in self._files() if path not in inside]
        replacing = not is_directory and others and random.random() < 0.3
        target = random.choice(others) if replacing else self._fresh(random)
        if target.startswith(f"{source}/"):
            return
        after = {path: content for path, content in self.tree.items() if path not in inside}
        after.update({target + path[len(source):]: self.tree[path] for path in inside})
        headers = {"x-ms-file-rename-source": connection.url(f"/{SHARE}/{source}"),
                   **({"x-ms-file-rename-replace-if-exists": "true"} if replacing else {})}
        await self._change(connection, after, 200, "PUT", target,
                           {"comp": "rename", **({"restype": "directory"} if is_directory else {})}, headers)

    def _is_full(self, directory):
        return any(path.startswith(f"{directory}/") for path in self.tree)

    async def delete(self, connection, random):
        free = [path for path in sorted(self.tree) if self.tree[path] is not DIRECTORY or not self._is_full(path)]
        if not free:
            return
        path = random.choice(free)
        after = {other: content for other, content in self.tree.items() if other != path}
        query = {"restype": "directory"} if self.tree[path] is DIRECTORY else None
        await self._change(connection, after, 202, "DELETE", path, query)

    async def delete_full(self, connection, random):
        full = [path for path in self._directories() if self._is_full(path)]
        if not full:
            return
        reply = await expect(connection, 409, "DELETE", f"/{SHARE}/{random.choice(full)}", {"restype": "directory"})
        if reply.code != "DirectoryNotEmpty":
            raise Wrong(f"deleting a directory that is not empty: {reply.code}")
        self._report.refused += 1

    async def take_snapshot(self, connection, random):
        if random.random() < (0.5 if self.snapshot is None else 0.9):
            return
        old, self.snapshot = self.snapshot, None
        if old is not None:
            await expect(connection, 202, "DELETE", f"/{SHARE}", {"restype": "share", "sharesnapshot": old[0]})
        reply = await connection.request("PUT", f"/{SHARE}", {"restype": "share", "comp": "snapshot"})
        if reply.status == 201:
            self.snapshot = (reply.headers["x-ms-snapshot"], self.tree)
            self._report.acknowledged += 1
        elif reply.code != "ShareSnapshotCountExceeded":
            raise Wrong(f"taking a snapshot: {reply.status} {reply.code}")

    async def check(self, connection):
        seen = await read_tree(connection, self.root)
        before, after, self.pending = self.tree, self.pending, None
        self.tree = seen
        if seen != before and (after is None or seen != after):
            return f"{self.root}: {difference(seen, before)}; or {difference(seen, after) if after is not None else 'nothing else'}"
        if self.snapshot is not None and await read_tree(connection, self.root, self.snapshot[0]) != self.snapshot[1]:
            return f"{self.root}: the snapshot {self.snapshot[0]} shows something else than when it was taken"
        return None


def difference(seen, wanted):
    lost = sorted(wanted.keys() - seen.keys())
    extra = sorted(seen.keys() - wanted.keys())
    changed = sorted(path for path in seen.keys() & wanted.keys() if seen[path] != wanted[path])
    return f"lost {lost}, extra {extra}, changed {changed}"


class Shuffle:
    """Files that all clients move between the same directories at once: each is always in exactly one of them."""

    DIRECTORIES = ("shuffle-a", "shuffle-b", "shuffle-c")
    FILES = tuple(f"card{number}" for number in range(8))

    def __init__(self, report):
        self._report = report

    async def create(self, connection):
        for directory in self.DIRECTORIES:
            await expect(connection, 201, "PUT", f"/{SHARE}/{directory}", {"restype": "directory"})
        for name in self.FILES:
            await expect(connection, 201, "PUT", f"/{SHARE}/{self.DIRECTORIES[0]}/{name}", headers={
                "x-ms-type": "file", "x-ms-content-length": "1"})

    async def run(self, connection, random):
        try:
            while True:
                name = random.choice(self.FILES)
                source, target = random.sample(self.DIRECTORIES, 2)
                headers = {"x-ms-file-rename-source": connection.url(f"/{SHARE}/{source}/{name}")}
                reply = await connection.request("PUT", f"/{SHARE}/{target}/{name}", {"comp": "rename"}, headers)
                if reply.status == 200:
                    self._report.acknowledged += 1
                elif reply.status not in (404, 409):  # Somebody else has moved it.
                    raise Wrong(f"moving {name}: {reply.status} {reply.code}")
        except Disconnected:
            pass

    async def check(self, connection):
        seen = [name for directory in self.DIRECTORIES for name, _, _ in await listing(connection, directory)]
        if sorted(seen) != sorted(self.FILES):
            return f"the shuffled files are {sorted(seen)}"
        return None


class WholeShare:
    """No entry in two places, and none that cannot be reached: those would still count in the statistics."""

    async def check(self, connection):
        tree = await read_tree(connection, "", ids={})
        length = sum(len(content) for content in tree.values() if content is not DIRECTORY)
        reply = await expect(connection, 200, "GET", f"/{SHARE}", {"restype": "share", "comp": "stats"})
        counted = int(xml.etree.ElementTree.fromstring(reply.body).findtext("ShareUsageBytes"))
        if counted != length:
            return f"the files that can be reached have {length} bytes, all files together {counted}"
        return None
