"""Two files of a directory as one object, since a rename changes both: Create File, Put Range of the whole file, Set File
Properties, Get File, Delete File, Rename File over what is there or not, the list of the directory, and the files' leases, which
are infinite."""

import dataclasses
import xml.etree.ElementTree

from lease_rules import INFINITE, NO_LEASE, Lease, act, after_write, refusal
from leases import acquiring, any_id, breaking, changing, lease_id, releasing

NAME = "file"
SERVICE = "File"
FILES = ("a", "b")
LENGTHS = (64, 20_480)  # Of all files of a history: within one write of the log, or not.
LINE = 16
ZEROS = "zeros"  # The value of a file after its creation.
ANY = None  # A tag that the model does not know.
MISSING = 404, "ResourceNotFound"


@dataclasses.dataclass(frozen=True)
class File:
    value: str
    label: str  # Its Content-Type.
    tag: str | None
    lease: Lease = NO_LEASE

    def __str__(self):
        return f"{self.value} {self.label} {self.tag or 'of unknown tag'} {self.lease}"


def known(file, tag):
    """The file, with the tag that a reader was told where the model has none."""
    return dataclasses.replace(file, tag=tag) if file is not None and file.tag is ANY else file


class Model:
    """The state is a File or None for every name."""

    initial = (None,) * len(FILES)

    def prepare(self, operations):
        return

    def apply(self, state, operation):
        request = operation.request
        if request["do"] == "list":
            return self._list(state, operation)
        if request["do"] == "rename":
            return self._rename(state, operation)
        file = state[request["file"]]
        if request["do"] == "create":
            outcome, after = self._create(file, operation)
        elif file is None:
            return MISSING, state
        elif request["do"] == "get":
            outcome, after = self._get(file, operation)
        elif request["do"] in ("write", "label", "delete"):
            outcome, after = self._change(file, operation)
        else:
            outcome, lease = act(file.lease, file.lease.phase, operation, breaks_at_once=True)
            after = dataclasses.replace(file, lease=lease)
        return outcome, tuple(after if name == request["file"] else other for name, other in enumerate(state))

    @staticmethod
    def _list(state, operation):
        if operation.outcome and operation.outcome[0] == 200:
            state = tuple(known(file, tag) for file, tag in zip(state, operation.outcome[1]))
        return (200, tuple(file and file.tag for file in state)), state

    @staticmethod
    def _get(file, operation):
        if operation.outcome and operation.outcome[0] == 200:
            file = known(file, operation.outcome[3])
        return (200, file.value, file.label, file.tag, file.lease.phase), file

    @staticmethod
    def _create(file, operation):
        """Over a file that is there, too, whose lease goes on."""
        request, lease = operation.request, file.lease if file else NO_LEASE
        if refused := refusal(lease, lease.phase, request["id"], "File"):
            return refused, file
        return (201,), File(ZEROS, request["label"], operation.made, after_write(lease, lease.phase))

    @staticmethod
    def _change(file, operation):
        request, lease = operation.request, file.lease
        if refused := refusal(lease, lease.phase, request["id"], "File"):
            return refused, file
        if request["do"] == "delete":
            return (202,), None
        changed = dataclasses.replace(file, tag=operation.made, lease=after_write(lease, lease.phase))
        if request["do"] == "write":
            return (201,), dataclasses.replace(changed, value=request["value"])
        return (200,), dataclasses.replace(changed, label=request["label"])

    @staticmethod
    def _rename(state, operation):
        """The file moves with its lease. That of a file it replaces ends with that file."""
        request = operation.request
        source, replaced = state[request["file"]], state[request["to"]]
        if source is None:
            return MISSING, state
        if refused := refusal(source.lease, source.lease.phase, request["id"], "File"):
            return refused, state
        if replaced is not None:
            if not request["replace"]:
                return (409, "ResourceAlreadyExists"), state
            if refused := refusal(replaced.lease, replaced.lease.phase, request["to_id"], "File"):
                return refused, state
        moved = dataclasses.replace(source, tag=operation.made, lease=after_write(source.lease, source.lease.phase))
        after = list(state)
        after[request["file"]], after[request["to"]] = None, moved
        return (200,), tuple(after)

    def changes(self, operation):
        return operation.request["do"] not in ("get", "list") and operation.outcome in ((200,), (201,), (202,), None)

    def describe(self, state):
        return "{" + ", ".join(f"{name}: {file or 'none'}" for name, file in zip(FILES, state)) + "}"

    def ask(self, request):
        names = {"value": "", "label": "", "id": "with ", "to_id": "and with ", "proposed": "for "}
        words = [names[key] + str(request[key]) for key in names if request.get(key) is not None]
        where = [FILES[request["file"]]] if "file" in request else []
        to = [("over " if request["replace"] else "to ") + FILES[request["to"]]] if "to" in request else []
        return " ".join([request["do"], *where, *to, *words])


def split(operations):
    return {"": operations}


class Client:
    def __init__(self, group, number, random, connection):
        self.directory = f"/{group.place}/{group.name}"
        self.length = LENGTHS[group.number % len(LENGTHS)]
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self.id = lease_id(number)
        self._changes = 0

    @staticmethod
    async def create(connection, group):
        await connection.request("PUT", f"/{group.place}/{group.name}", {"restype": "directory"})

    async def finish(self):
        return

    async def step(self):
        await self.random.choice((self.create_file, self.create_file, self.write, self.write, self.label, self.get, self.get,
                                  self.get, self.list, self.rename, self.rename, self.delete, self.hold, self.change_lease))()

    def _any_file(self):
        return self.random.randrange(len(FILES))

    def _path(self, file):
        return f"{self.directory}/{FILES[file]}"

    def _next(self):
        self._changes += 1
        return f"{self.number}.{self._changes}"

    def _presented(self):
        """Mostly none."""
        return any_id(self) if self.random.randrange(3) == 0 else None

    async def _request(self, request, method, query=None, headers=None, body=b""):
        headers = dict(headers or {})
        if request.get("id") and request["do"] in ("create", "write", "label", "delete"):
            headers["x-ms-lease-id"] = request["id"]
        return await self.recorder.request(self, request, understand_get if request["do"] == "get" else understand, method,
                                           self._path(request["file"]), query, headers, body)

    async def create_file(self):
        label = f"label/{self._next()}"
        await self._request({"do": "create", "file": self._any_file(), "label": label, "id": self._presented()}, "PUT",
                            headers={"x-ms-type": "file", "x-ms-content-length": str(self.length), "x-ms-content-type": label})

    async def write(self):
        await self._write(self._any_file(), self._presented())

    async def _write(self, file, presented):
        value = self._next()
        await self._request({"do": "write", "file": file, "value": value, "id": presented}, "PUT", {"comp": "range"},
                            {"x-ms-write": "update", "x-ms-range": f"bytes=0-{self.length - 1}"},
                            contents(value, self.length))

    async def label(self):
        label = f"label/{self._next()}"
        await self._request({"do": "label", "file": self._any_file(), "label": label, "id": self._presented()}, "PUT",
                            {"comp": "properties"}, {"x-ms-content-type": label})

    async def get(self):
        await self._request({"do": "get", "file": self._any_file()}, "GET")

    async def delete(self):
        await self._request({"do": "delete", "file": self._any_file(), "id": self._presented()}, "DELETE")

    async def list(self):
        await self.recorder.request(self, {"do": "list"}, understand_list, "GET", self.directory,
                                    {"restype": "directory", "comp": "list", "include": "Etag"})

    async def rename(self):
        file = self._any_file()
        request = {"do": "rename", "file": file, "to": 1 - file, "replace": self.random.randrange(4) > 0,
                   "id": self._presented(), "to_id": self._presented()}
        headers = {"x-ms-file-rename-source": self.connection.url(self._path(file)),
                   "x-ms-file-rename-replace-if-exists": str(request["replace"]).lower()}
        for name, key in (("source", "id"), ("destination", "to_id")):
            if request[key]:
                headers[f"x-ms-{name}-lease-id"] = request[key]
        await self.recorder.request(self, request, understand, "PUT", self._path(1 - file), {"comp": "rename"}, headers)

    async def hold(self):
        """Acquires, and when that succeeds writes as the holder and releases."""
        file = self._any_file()
        done = await self._lease(file, acquiring(self.id, INFINITE))
        if done and done.outcome == (201,):
            await self._write(file, self.id)
            if self.random.randrange(3):
                await self._lease(file, releasing(self.id))

    async def change_lease(self):
        await self._lease(self._any_file(), self.random.choice((
            breaking(), breaking(), releasing(any_id(self)), changing(any_id(self), any_id(self)))))

    async def _lease(self, file, what):
        request, headers = what
        return await self._request({**request, "file": file}, "PUT", {"comp": "lease"}, headers)


def contents(value, length):
    """Bytes that name their value throughout."""
    return (value.ljust(LINE - 1).encode() + b"\n") * (length // LINE)


def value_of(body):
    """The value that the contents name. Several where they are torn, which is what nobody wrote."""
    values = {body[start:start + LINE] for start in range(0, len(body), LINE)}
    return " and ".join(sorted(ZEROS if value == bytes(LINE) else value.decode().strip() for value in values))


def understand(reply):
    if reply.status in (200, 201, 202):
        told_s = reply.headers.get("x-ms-lease-time")
        return (reply.status,), reply.etag if told_s is None else int(told_s)
    return understand_failure(reply)


def understand_failure(reply):
    if reply.status not in (404, 409, 412):
        raise ValueError("neither done nor refused")
    return (reply.status, reply.code), None


def understand_get(reply):
    if reply.status != 200:
        return understand_failure(reply)
    headers = reply.headers
    return (200, value_of(reply.body), headers["content-type"], headers["etag"], headers["x-ms-lease-state"]), None


def understand_list(reply):
    if reply.status != 200:
        return understand_failure(reply)
    tags = {entry.findtext("Name"): entry.findtext("Properties/Etag")
            for entry in xml.etree.ElementTree.fromstring(reply.body).iter("File")}
    return (200, tuple(map(tags.get, FILES))), None
