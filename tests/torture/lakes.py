"""Data Lake under torture: each client owns one directory in each of two file systems and knows at any time what lies there,
before and after its one change in flight. A rename or a deletion is one change, whatever lies below and wherever it goes: nothing
is ever lost, half moved, or in two places. Both APIs change the same tree and must show the same."""

import base64
import dataclasses
import json
import urllib.parse
import xml.etree.ElementTree

from owner import Owner, Wrong, expect

FILE_SYSTEMS = ("torture", "torture-too")
MOST_ENTRIES = 40
LONGEST = 40_000
MARK = "mark"  # The one property that paths are given.
FILE, DIRECTORY = "rw-r-----", "rwxr-x---"  # What they are made with.
MODES = ("rwxr-x---", "rw-r--r--", "rwx--x--x", "r--r-----")


def encoded(properties):
    """As x-ms-properties has them."""
    return ",".join(f"{name}={base64.b64encode(value.encode()).decode()}" for name, value in properties.items())


def rename_headers(source):
    return {"x-ms-rename-source": urllib.parse.quote(f"/{source}")}


async def create_file_systems(connection):
    for name in FILE_SYSTEMS:
        await expect(connection, 201, "PUT", f"/{name}", {"resource": "filesystem"})


async def list_paths(connection, path, page=7):
    """All that lies below a directory, as Data Lake shows it: by path, the file system included, what is said of it."""
    file_system, _, directory = path.partition("/")
    query = {"resource": "filesystem", "recursive": "true", "maxResults": str(page), **({"directory": directory} if directory else {})}
    found, continuation = {}, ""
    while True:
        reply = await expect(connection, 200, "GET", f"/{file_system}", {**query, **({"continuation": continuation} if continuation else {})})
        for entry in json.loads(reply.body)["paths"]:
            name = f"{file_system}/{entry['name']}"
            if name in found:
                raise Wrong(f"the list of {path} has {name} twice")
            found[name] = entry
        continuation = reply.headers.get("x-ms-continuation", "")
        if not continuation:
            return found


async def list_blobs(connection, path, page=7):
    """The same as the Blob API shows it: by path its ETag and whether it is a directory."""
    file_system, _, directory = path.partition("/")
    query = {"restype": "container", "comp": "list", "maxresults": str(page), **({"prefix": f"{directory}/"} if directory else {})}
    found, marker = {}, ""
    while True:
        reply = await expect(connection, 200, "GET", f"/{file_system}", {**query, **({"marker": marker} if marker else {})})
        root = xml.etree.ElementTree.fromstring(reply.body)
        for blob in root.iter("Blob"):
            found[f"{file_system}/{blob.findtext('Name')}"] = (
                blob.findtext("Properties/Etag").strip('"'), blob.findtext("Properties/ResourceType") == "directory")
        marker = root.findtext("NextMarker")
        if not marker:
            return found


@dataclasses.dataclass(frozen=True)
class Node:
    content: bytes | None  # None: a directory.
    mode: str
    mark: str | None = None
    etag: str | None = None  # None: not learnt yet.
    leased: bool = False
    draft: bytes = b""  # Appended and not flushed: reads do not show it.
    by_blocks: bool = False  # What the Blob API made of blocks is not appended to.

    @property
    def is_directory(self):
        return self.content is None

    def but(self, **changes):
        return dataclasses.replace(self, **changes)

    def fits(self, seen):
        return (seen.content, seen.mode, seen.mark, seen.leased) == (self.content, self.mode, self.mark, self.leased) and (
            self.etag is None or seen.etag == self.etag)

    def __str__(self):
        what = "directory" if self.is_directory else f"{len(self.content)} bytes {self.content[:12]}"
        return f"{what} {self.mode} {self.mark} {self.etag} {'leased' if self.leased else ''}"


async def observe_path(connection, path, entry):
    is_directory = entry.get("isDirectory") == "true"
    reply = await expect(connection, 200, "HEAD" if is_directory else "GET", f"/{path}")
    if reply.etag.strip('"') != entry["etag"].strip('"'):
        raise Wrong(f"{path}: a list says ETag {entry['etag']}, a read {reply.etag}")
    return Node(None if is_directory else reply.body, entry["permissions"], reply.headers.get(f"x-ms-meta-{MARK}"),
                reply.etag.strip('"'), reply.headers.get("x-ms-lease-state") == "leased")


async def observe_tree(connection, root):
    """What both APIs show below a directory."""
    listed, blobs = await list_paths(connection, root), await list_blobs(connection, root)
    as_blobs = {path: (entry["etag"].strip('"'), entry.get("isDirectory") == "true") for path, entry in listed.items()}
    if as_blobs != blobs:
        raise Wrong(f"{root}: to Data Lake it is {as_blobs}, to the Blob API {blobs}")
    return {path: await observe_path(connection, path, entry) for path, entry in listed.items()}


def difference(seen, wanted):
    lost, extra = sorted(wanted.keys() - seen.keys()), sorted(seen.keys() - wanted.keys())
    changed = [f"{path} is {seen[path]}, not {wanted[path]}" for path in sorted(seen.keys() & wanted.keys())
               if not wanted[path].fits(seen[path])]
    return f"lost {lost}, extra {extra}, changed {changed}" if lost or extra or changed else None


class LakeClient(Owner):
    """The state is the tree: a Node by path, the file system in front."""

    def __init__(self, number, report):
        super().__init__(f"lake{number:02}", report, {})
        self.roots = [f"{file_system}/{self.name}" for file_system in FILE_SYSTEMS]
        self._next = 0

    async def create(self, connection):
        for root in self.roots:
            await expect(connection, 201, "PUT", f"/{root}", {"resource": "directory"})

    async def run(self, connection, random):
        self._lease_id = f"{random.getrandbits(32):08x}-0000-4000-8000-000000000000"
        await super().run(connection, random)

    async def step(self, connection, random):
        for path in [path for path, node in self.state.items() if node.leased]:  # From before a crash.
            await self._break_lease(connection, path)
        await random.choice((
            self.make_file, self.make_file, self.make_directory, self.make_deep, self.put, self.put, self.put_blocks, self.append,
            self.append, self.append, self.flush, self.flush, self.append_and_flush, self.mark, self.mark_blob, self.set_mode,
            self.set_modes, self.rename, self.rename, self.rename, self.rename, self.delete, self.delete_blob, self.delete_tree,
            self.lease, self.first, self.refused))(connection, random)

    # --- What changes are made of ---

    def _directories(self):
        return self.roots + sorted(path for path, node in self.state.items() if node.is_directory)

    def _files(self):
        return sorted(path for path, node in self.state.items() if not node.is_directory)

    def _fresh(self, random):
        self._next += 1
        return f"{random.choice(self._directories())}/{random.choice('abc')}{self._next}"

    def _below(self, directory):
        return {path for path in self.state if path.startswith(f"{directory}/")}

    def _content(self, random):
        length = random.randrange(1, LONGEST) if random.random() < 0.2 else random.randrange(1, 3000)
        return f"{self.name} {self.next_version()} ".encode() + random.randbytes(length)

    def _with(self, path, node):
        """The tree with this at the path, and the directories that come with it."""
        tree, parts = dict(self.state), path.split("/")
        for end in range(3, len(parts)):
            tree.setdefault("/".join(parts[:end]), Node(None, DIRECTORY))
        return {**tree, path: node}

    def _without(self, *paths):
        return {path: node for path, node in self.state.items() if path not in paths}

    async def _set(self, connection, path, node, status, method, query=None, headers=None, body=b"", or_else=()):
        """One path becomes this, under a new ETag that the reply says."""
        reply = await self.change(connection, self._with(path, node), status, method, f"/{path}", query, headers, body, or_else)
        if reply.etag:
            self.state = {**self.state, path: node.but(etag=reply.etag.strip('"'))}
        return reply

    # --- Changes ---

    async def make_file(self, connection, random):
        over = self._files() and random.random() < 0.2
        path = random.choice(self._files()) if over else self._fresh(random)
        if over or len(self.state) < MOST_ENTRIES:
            await self._set(connection, path, Node(b"", FILE), 201, "PUT", {"resource": "file"})

    async def make_directory(self, connection, random):
        if len(self.state) < MOST_ENTRIES:
            mark = self.next_version()
            await self._set(connection, self._fresh(random), Node(None, DIRECTORY, mark), 201, "PUT", {"resource": "directory"},
                            {"x-ms-properties": encoded({MARK: mark})})

    async def make_deep(self, connection, random):
        """With directories on the way that are not there yet."""
        if len(self.state) < MOST_ENTRIES:
            path = f"{self._fresh(random)}/x/y"
            if random.random() < 0.5:
                await self._set(connection, path, Node(None, DIRECTORY), 201, "PUT", {"resource": "directory"})
            else:
                content = self._content(random)
                await self._set(connection, path, Node(content, FILE), 201, "PUT", headers={"x-ms-blob-type": "BlockBlob"}, body=content)

    async def put(self, connection, random):
        over = self._files() and random.random() < 0.5
        if not over and len(self.state) >= MOST_ENTRIES:
            return
        path = random.choice(self._files()) if over else self._fresh(random)
        content, mark = self._content(random), self.next_version()
        mode = self.state[path].mode if over else FILE
        await self._set(connection, path, Node(content, mode, mark), 201, "PUT",
                        headers={"x-ms-blob-type": "BlockBlob", f"x-ms-meta-{MARK}": mark}, body=content)

    async def put_blocks(self, connection, random):
        if len(self.state) >= MOST_ENTRIES:
            return
        path, content = self._fresh(random), self._content(random)
        block = base64.b64encode(b"only").decode()
        await expect(connection, 201, "PUT", f"/{path}", {"comp": "block", "blockid": block}, body=content)
        body = f"<BlockList><Latest>{block}</Latest></BlockList>".encode()
        await self._set(connection, path, Node(content, FILE, by_blocks=True), 201, "PUT", {"comp": "blocklist"}, body=body)

    def _appendable(self, random):
        files = [path for path in self._files() if not self.state[path].by_blocks]
        return random.choice(files) if files else None

    async def append(self, connection, random):
        if path := self._appendable(random):
            node, data = self.state[path], self._content(random)
            position = len(node.content) + len(node.draft)
            await self.change(connection, self._with(path, node.but(draft=node.draft + data)), 202, "PATCH", f"/{path}",
                              {"action": "append", "position": str(position)}, body=data)

    async def flush(self, connection, random):
        if path := self._appendable(random):
            node = self.state[path]
            content = node.content + node.draft
            await self._set(connection, path, node.but(content=content, draft=b"", etag=None), 200, "PATCH",
                            {"action": "flush", "position": str(len(content)), "close": "true"})

    async def append_and_flush(self, connection, random):
        if path := self._appendable(random):
            node, data = self.state[path], self._content(random)
            content = node.content + node.draft
            await self._set(connection, path, node.but(content=content + data, draft=b"", etag=None), 202, "PATCH",
                            {"action": "append", "position": str(len(content)), "flush": "true"}, body=data)

    async def mark(self, connection, random):
        await self._mark(connection, random, lambda mark: ("PATCH", {"action": "setProperties"}, {"x-ms-properties": encoded({MARK: mark})}))

    async def mark_blob(self, connection, random):
        await self._mark(connection, random, lambda mark: ("PUT", {"comp": "metadata"}, {f"x-ms-meta-{MARK}": mark}))

    async def _mark(self, connection, random, asking):
        if self.state:
            path, mark = random.choice(sorted(self.state)), self.next_version()
            method, query, headers = asking(mark)
            await self._set(connection, path, self.state[path].but(mark=mark, etag=None), 200, method, query, headers)

    async def set_mode(self, connection, random):
        if self.state:
            path, mode = random.choice(sorted(self.state)), random.choice(MODES)
            await self.change(connection, {**self.state, path: self.state[path].but(mode=mode)}, 200, "PATCH", f"/{path}",
                              {"action": "setAccessControl"}, {"x-ms-permissions": mode})

    async def set_modes(self, connection, random):
        """Of all that lies below as well."""
        directories = [path for path in self._directories() if path not in self.roots]
        if directories:
            top, mode = random.choice(directories), random.choice(MODES)
            entries = ",".join(f"{who}::{mode[at:at + 3]}" for at, who in zip((0, 3, 6), ("user", "group", "other")))
            changed = {path: self.state[path].but(mode=mode) for path in self._below(top) | {top}}
            await self.change(connection, {**self.state, **changed}, 200, "PATCH", f"/{top}",
                              {"action": "setAccessControlRecursive", "mode": "set"}, {"x-ms-acl": entries})

    async def rename(self, connection, random):
        """A file or a directory with all below it, to a fresh name in either file system, or over another file or an empty
        directory."""
        if not self.state:
            return
        source = random.choice(sorted(self.state))
        node, below = self.state[source], self._below(source)
        others = [path for path, other in sorted(self.state.items()) if path != source and path not in below and
                  other.is_directory == node.is_directory and not self._below(path)]
        target = random.choice(others) if others and random.random() < 0.3 else self._fresh(random)
        if target.startswith(f"{source}/"):
            return
        after = self._without(source, *below)
        after.update({target + path[len(source):]: self.state[path] for path in below | {source}})
        reply = await self.change(connection, after, 201, "PUT", f"/{target}", {"mode": "legacy"}, rename_headers(source))
        if node.etag is not None and reply.etag.strip('"') != node.etag:
            raise Wrong(f"{source} was {node.etag} and is {reply.etag} as {target}")

    async def _delete(self, connection, random, status, query=None, headers=None):
        free = [path for path in sorted(self.state) if not self._below(path)]
        if free:
            path = random.choice(free)
            await self.change(connection, self._without(path), status, "DELETE", f"/{path}", query, headers)

    async def delete(self, connection, random):
        await self._delete(connection, random, 200, {"recursive": "false"})

    async def delete_blob(self, connection, random):
        await self._delete(connection, random, 202, headers={"accept": "application/xml"})

    async def delete_tree(self, connection, random):
        directories = [path for path in self._directories() if path not in self.roots]
        if directories and random.random() < 0.5:
            path = random.choice(directories)
            await self.change(connection, self._without(path, *self._below(path)), 200, "DELETE", f"/{path}", {"recursive": "true"})

    async def _lease(self, connection, path, leased, status, headers):
        await self.change(connection, {**self.state, path: self.state[path].but(leased=leased)}, status, "POST", f"/{path}", headers=headers)

    async def _break_lease(self, connection, path):
        await self._lease(connection, path, False, 202, {"x-ms-lease-action": "break", "x-ms-lease-break-period": "0"})

    async def lease(self, connection, random):
        """Taken, needed, given back or broken."""
        if not self.state:
            return
        path = random.choice(sorted(self.state))
        await self._lease(connection, path, True, 201, {
            "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", "x-ms-proposed-lease-id": self._lease_id})
        await self._refuse(connection, 412, "LeaseIdMissing", "DELETE", path, {"recursive": "true"})
        if random.random() < 0.3:
            await self._break_lease(connection, path)
        else:
            await self._lease(connection, path, False, 200, {"x-ms-lease-action": "release", "x-ms-lease-id": self._lease_id})

    # --- What must be refused ---

    async def _refuse(self, connection, status, code, method, path, query=None, headers=None):
        reply = await expect(connection, status, method, f"/{path}", query, headers)
        if reply.code != code:
            raise Wrong(f"{method} {path} {query}: {reply.code}, not {code}")
        self._report.refused += 1

    async def first(self, connection, random):
        """Made only if nothing is there, which nothing is the first time."""
        path = self._fresh(random)
        if len(self.state) < MOST_ENTRIES:
            await self._set(connection, path, Node(b"", FILE), 201, "PUT", {"resource": "file"}, {"if-none-match": "*"})
            await self._refuse(connection, 409, "PathAlreadyExists", "PUT", path, {"resource": "file"}, {"if-none-match": "*"})

    async def refused(self, connection, random):
        full = [path for path in self._directories() if path not in self.roots and self._below(path)]
        await self._refuse(connection, 404, "SourcePathNotFound", "PUT", self._fresh(random), {"mode": "legacy"}, rename_headers(self._fresh(random)))
        if full:
            path = random.choice(full)
            await self._refuse(connection, 409, "DirectoryNotEmpty", "DELETE", path, {"recursive": "false"})
            await self._refuse(connection, 409, "InvalidRenameSourcePath", "PUT", f"{path}/inside", {"mode": "legacy"}, rename_headers(path))

    async def observe(self, connection):
        seen = {}
        for root in self.roots:
            seen.update(await observe_tree(connection, root))
        return seen

    def shown(self, state):
        return {path: node.but(draft=b"", by_blocks=False) for path, node in state.items()}

    async def check(self, connection):
        seen = await self.observe(connection)
        complaints = []
        for tree in [self.state, *self.pending]:
            complaint = difference(seen, tree)
            if complaint is None:
                self.state, self.pending = {path: tree[path].but(etag=node.etag) for path, node in seen.items()}, []
                return None
            complaints.append(complaint)
        return f"{self.name}: {'; or '.join(complaints)}"


class FileSystem(Owner):
    """One that comes and goes, with what lies in it. The state is its property and the mode of its root."""

    async def step(self, connection, random):
        if self.state is None:
            mark = self.next_version()
            await self.change(connection, (mark, DIRECTORY), 201, "PUT", f"/{self.name}", {"resource": "filesystem"},
                              {"x-ms-properties": encoded({MARK: mark})})
            await expect(connection, 201, "PUT", f"/{self.name}/some/file", {"resource": "file"})
            return
        own, mode = self.state
        what, mark = random.randrange(7), self.next_version()
        properties = {"x-ms-properties": encoded({MARK: mark})}
        if what == 0:
            await self.change(connection, None, 202, "DELETE", f"/{self.name}", {"resource": "filesystem"})
        elif what == 6:
            await expect(connection, 201, "PUT", f"/{self.name}/some/file{mark}", {"resource": "file"})
            await expect(connection, 201, "PUT", f"/{self.name}/", headers=rename_headers(f"{self.name}/some/file{mark}"))
            await expect(connection, 200, "HEAD", f"/{self.name}/file{mark}")
            await expect(connection, 404, "HEAD", f"/{self.name}/some/file{mark}")
        elif what in (1, 2):
            await self.change(connection, (mark, mode), 200, "PATCH", f"/{self.name}", {"resource": "filesystem"}, properties)
        elif what == 3:
            # A root has none of its own.
            await expect(connection, 400, "PATCH", f"/{self.name}/", {"action": "setProperties"}, properties)
        elif what == 4:
            mode = random.choice(MODES)
            await self.change(connection, (own, mode), 200, "PATCH", f"/{self.name}/", {"action": "setAccessControl"},
                              {"x-ms-permissions": mode})
        else:
            mode = random.choice(MODES)
            entries = ",".join(f"{who}::{mode[at:at + 3]}" for at, who in zip((0, 3, 6), ("user", "group", "other")))
            await self.change(connection, (own, mode), 200, "PATCH", f"/{self.name}/",
                              {"action": "setAccessControlRecursive", "mode": "set"}, {"x-ms-acl": entries})

    async def observe(self, connection):
        reply = await connection.request("HEAD", f"/{self.name}", {"resource": "filesystem"})
        if reply.status == 404:
            return None
        own = reply.headers.get("x-ms-properties")
        root = await expect(connection, 200, "HEAD", f"/{self.name}/", {"action": "getAccessControl"})
        return own, root.headers["x-ms-permissions"]

    def shown(self, state):
        if state is None:
            return None
        own, mode = state
        return encoded({MARK: own}), mode
