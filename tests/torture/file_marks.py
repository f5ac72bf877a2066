"""What a file and a directory have beside their place: metadata, properties, leases; copies of files, and ranges taken from
others. Each client owns one share with one file, one directory and the copy of the file."""

from boxes import UNKNOWN, new_lease
from owner import Owner, expect

SIZE = 3_000


class FileMarks(Owner):
    """The state: metadata of root, directory and file; the file's type, content and lease; the copy's content."""

    def __init__(self, name, report):
        super().__init__(name, report, {"root": None, "directory": None, "file": None, "type": "application/octet-stream",
                                        "content": bytes(SIZE), "lease": None, "copy": None, "times": None,
                                        "root_times": None})
        self._share, self._directory = f"/{name}", f"/{name}/directory"
        self._file, self._copy = f"/{name}/file", f"/{name}/copy"

    async def create(self, connection):
        await expect(connection, 201, "PUT", self._share, {"restype": "share"})
        await expect(connection, 201, "PUT", self._directory, {"restype": "directory"})
        for path in (self._file, f"/{self.name}/source"):
            await expect(connection, 201, "PUT", path, headers={"x-ms-type": "file", "x-ms-content-length": str(SIZE)})

    async def step(self, connection, random):
        if self.state["lease"] is UNKNOWN:
            return await self.end_lease(connection, "break", 202)
        choices = [self.mark_root, self.mark_directory, self.mark_file, self.set_directory_properties, self.set_file_properties,
                   self.resize, self.write, self.take_range, self.copy, self.set_root_properties]
        choices += [self.change_lease, self.release, self.break_lease] if self.state["lease"] else [self.acquire]
        return await random.choice(choices)(connection, random)

    async def _change_file(self, connection, after, status, query, headers, body=b""):
        if self.state["lease"]:
            headers = {"x-ms-lease-id": self.state["lease"], **headers}
        return await self.change(connection, {**self.state, **after}, status, "PUT", self._file, query, headers, body)

    async def _mark(self, connection, what, path, query):
        version = self.next_version()
        headers = {"x-ms-meta-version": version}
        await self.change(connection, {**self.state, what: version}, 200, "PUT", path, {"comp": "metadata", **query}, headers)

    async def mark_root(self, connection, random):
        await self._mark(connection, "root", self._share, {"restype": "directory"})

    async def mark_directory(self, connection, random):
        await self._mark(connection, "directory", self._directory, {"restype": "directory"})

    async def mark_file(self, connection, random):
        version = self.next_version()
        await self._change_file(connection, {"file": version}, 200, {"comp": "metadata"}, {"x-ms-meta-version": version})

    async def _set_times(self, connection, what, path):
        second = int(self.next_version()) % 60
        time = f"2020-02-02T02:02:{second:02}.0000000Z"
        headers = {"x-ms-file-attributes": "Directory", "x-ms-file-creation-time": time, "x-ms-file-last-write-time": "preserve",
                   "x-ms-file-permission": "preserve"}
        await self.change(connection, {**self.state, what: time}, 200, "PUT", path, {"comp": "properties", "restype": "directory"},
                          headers)

    async def set_directory_properties(self, connection, random):
        await self._set_times(connection, "times", self._directory)

    async def set_root_properties(self, connection, random):
        await self._set_times(connection, "root_times", self._share)

    async def set_file_properties(self, connection, random):
        kind = f"text/version-{self.next_version()}"
        await self._change_file(connection, {"type": kind}, 200, {"comp": "properties"}, {"x-ms-content-type": kind})

    async def resize(self, connection, random):
        size = random.randrange(1, SIZE)
        content = (self.state["content"] + bytes(SIZE))[:size]
        await self._change_file(connection, {"content": content}, 200, {"comp": "properties"}, {"x-ms-content-length": str(size)})

    async def write(self, connection, random):
        content = random.randbytes(len(self.state["content"]))
        headers = {"x-ms-write": "update", "x-ms-range": f"bytes=0-{len(content) - 1}"}
        await self._change_file(connection, {"content": content}, 201, {"comp": "range"}, headers, content)

    async def take_range(self, connection, random):
        """Of another file, whose bytes are all zeros. The source needs a signature of its own; the account's key has it."""
        size = len(self.state["content"])
        part = random.randrange(1, size + 1)
        content = bytes(part) + self.state["content"][part:]
        headers = {"x-ms-copy-source": connection.signed_url(f"/{self.name}/source"), "x-ms-write": "update",
                   "x-ms-range": f"bytes=0-{part - 1}", "x-ms-source-range": f"bytes=0-{part - 1}"}
        await self._change_file(connection, {"content": content}, 201, {"comp": "range"}, headers)

    async def copy(self, connection, random):
        after = {**self.state, "copy": self.state["content"]}
        await self.change(connection, after, 202, "PUT", self._copy,
                          headers={"x-ms-copy-source": connection.url(self._file)})

    async def acquire(self, connection, random):
        lease = new_lease(random)
        headers = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", "x-ms-proposed-lease-id": lease}
        await self._change_file(connection, {"lease": lease}, 201, {"comp": "lease"}, headers)

    async def change_lease(self, connection, random):
        lease = new_lease(random)
        headers = {"x-ms-lease-action": "change", "x-ms-proposed-lease-id": lease}
        await self._change_file(connection, {"lease": lease}, 200, {"comp": "lease"}, headers)

    async def release(self, connection, random):
        await self.end_lease(connection, "release", 200)

    async def break_lease(self, connection, random):
        await self.end_lease(connection, "break", 202)

    async def end_lease(self, connection, action, status):
        headers = {"x-ms-lease-action": action}
        if self.state["lease"] is UNKNOWN:
            await self.change(connection, {**self.state, "lease": None}, status, "PUT", self._file, {"comp": "lease"}, headers)
        else:
            await self._change_file(connection, {"lease": None}, status, {"comp": "lease"}, headers)

    async def check(self, connection):
        leases = {state["lease"] for state in [self.state, *self.pending]} - {None}
        complaint = await super().check(connection)
        if complaint is None and self.state["lease"] and len(leases) > 1:
            self.state = {**self.state, "lease": UNKNOWN}
        return complaint

    async def observe(self, connection):
        root = await expect(connection, 200, "GET", self._share, {"restype": "directory"})
        directory = await expect(connection, 200, "GET", self._directory, {"restype": "directory"})
        file = await expect(connection, 200, "GET", self._file)
        copy = await connection.request("GET", self._copy)
        seen = {"root": root.headers.get("x-ms-meta-version"), "directory": directory.headers.get("x-ms-meta-version"),
                "file": file.headers.get("x-ms-meta-version"), "type": file.headers.get("content-type"), "content": file.body,
                "lease": file.headers.get("x-ms-lease-state") == "leased", "copy": copy.body if copy.status == 200 else None}
        for what, reply in (("times", directory), ("root_times", root)):
            time = reply.headers["x-ms-file-creation-time"]
            seen[what] = time if time.startswith("2020") else None
        return seen

    def shown(self, state):
        return {**state, "lease": state["lease"] is not None}
