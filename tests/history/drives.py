"""Two names of a directory and everything that is open there over SMB, as one object, with clients of SMB and REST at once: opens with
all share modes, byte-range locks, marks for deletion, deletion on close, renames by handle, reads and writes through handles; Put
Range, Get File, Delete File and infinite leases of files over REST. A client of SMB that loses its connection loses its handles, each
at an instant of its own before it is back."""

import asyncio
import dataclasses

import smb_client as smb
from files import contents, value_of
from lease_rules import INFINITE
from leases import acquiring, lease_id, releasing

NAME = "drive"
SERVICE = "Drive"
FILES = ("a", "b")
LENGTHS = (64, 81_920)  # Of all files of a history: small writes wait in memory, large ones in extents.
ACCESS = {"R": smb.READ_DATA, "W": smb.WRITE_DATA, "D": smb.DELETE}
SHARING = {"R": smb.SHARE_READ, "W": smb.SHARE_WRITE, "D": smb.SHARE_DELETE}
HALVES = 2  # Ranges that are locked.
MOST_HANDLES = 2  # Of one client.
LONGEST_WAIT_S = 0.03  # For a lock, by the true time.
EMPTY = "empty"
REST_CLIENTS = 2  # Of the clients of an object.

DONE = ("SUCCESS",)
MISSING = 404, "ResourceNotFound"
PENDING = 409, "SMBDeletePending"
SHARING_VIOLATION = 409, "SharingViolation"


@dataclasses.dataclass(frozen=True)
class File:
    id: str  # The operation that made it.
    value: str = EMPTY
    lease: str | None = None
    marked: bool = False

    def __str__(self):
        return f"{self.value}{' leased' if self.lease else ''}{' marked' if self.marked else ''}"


@dataclasses.dataclass(frozen=True)
class Handle:
    name: str
    file: str
    access: str
    share: str
    deletes: bool = False  # On close.


@dataclasses.dataclass(frozen=True)
class Lock:
    handle: str
    half: int
    exclusive: bool


@dataclasses.dataclass(frozen=True)
class State:
    files: tuple = (None,) * len(FILES)
    handles: frozenset = frozenset()
    locks: frozenset = frozenset()

    def with_file(self, place, file):
        return dataclasses.replace(self, files=tuple(file if place == other else each for other, each in enumerate(self.files)))

    def opens(self, file):
        return [handle for handle in self.handles if handle.file == file.id]

    def handle(self, name):
        return next((handle for handle in self.handles if handle.name == name), None)

    def place(self, handle):
        return next(place for place, file in enumerate(self.files) if file is not None and file.id == handle.file)

    def locks_of(self, file):
        names = {handle.name for handle in self.opens(file)}
        return [lock for lock in self.locks if lock.handle in names]

    def without_handle(self, handle):
        """Closed: with the last handle of a file that is marked the file goes."""
        place = self.place(handle)
        after = dataclasses.replace(self, handles=self.handles - {handle},
                                    locks=frozenset(lock for lock in self.locks if lock.handle != handle.name))
        file = self.files[place]
        if handle.deletes:
            file = dataclasses.replace(file, marked=True)
        if file.marked and not after.opens(file):
            file = None
        return after.with_file(place, file)


def within(some, others):
    return set(some) <= set(others)


def compatible(one, other):
    return within(one.access, other.share) and within(other.access, one.share)


# What the client of an open would need to do the same as REST.
NEEDED = {"get": "R", "put": "W", "acquire": "RWD"}


class Model:
    initial = State()

    def prepare(self, operations):
        return

    def apply(self, state, operation):
        request = operation.request
        return getattr(self, f"_{request['do']}")(state, operation, request)

    @staticmethod
    def _told(operation, refusals, state):
        """One of several refusals, none of which changes anything: which of them comes first is nobody's business."""
        return (operation.outcome if operation.outcome in refusals else refusals[0]), state

    # --- SMB ---

    def _open(self, state, operation, request):
        place, file = request["file"], state.files[request["file"]]
        if file is None:
            if not request["makes"]:
                return ("OBJECT_NAME_NOT_FOUND",), state
            file = File(request["handle"])
            state = state.with_file(place, file)
        if file.marked:
            return ("DELETE_PENDING",), state
        handle = Handle(request["handle"], file.id, request["access"], request["share"], request["deletes"])
        leased = file.lease and request["access"] != "R"
        if leased or not all(compatible(handle, other) for other in state.opens(file)):
            return ("SHARING_VIOLATION",), state
        return DONE, dataclasses.replace(state, handles=state.handles | {handle})

    def _close(self, state, operation, request):
        handle = state.handle(request["handle"])
        return DONE, state if handle is None else state.without_handle(handle)

    _drop = _close

    def _closing(self, state, operation, request):
        """The file is marked, and gone a moment later if this was its last handle."""
        handle = state.handle(request["handle"])
        if handle is None:
            return DONE, state
        place = state.place(handle)
        return DONE, state.with_file(place, dataclasses.replace(state.files[place], marked=True))

    def _lock(self, state, operation, request):
        handle, half, exclusive = state.handle(request["handle"]), request["half"], request["exclusive"]
        file = state.files[state.place(handle)]
        if any(lock.half == half and (lock.exclusive or exclusive) for lock in state.locks_of(file)):
            refusal = "CANCELLED" if request["waits"] else "LOCK_NOT_GRANTED"
            return (refusal,), state
        if operation.outcome == ("CANCELLED",):
            return operation.outcome, state  # It came too late to be granted.
        return DONE, dataclasses.replace(state, locks=state.locks | {Lock(handle.name, half, exclusive)})

    def _unlock(self, state, operation, request):
        kept = frozenset(lock for lock in state.locks if (lock.handle, lock.half) != (request["handle"], request["half"]))
        return (DONE if kept != state.locks else ("RANGE_NOT_LOCKED",)), dataclasses.replace(state, locks=kept)

    def _write(self, state, operation, request):
        handle = state.handle(request["handle"])
        place = state.place(handle)
        for lock in state.locks_of(state.files[place]):
            if lock.handle != handle.name or not lock.exclusive:
                return ("FILE_LOCK_CONFLICT",), state
        return DONE, state.with_file(place, dataclasses.replace(state.files[place], value=request["value"]))

    def _read(self, state, operation, request):
        handle = state.handle(request["handle"])
        file = state.files[state.place(handle)]
        if any(lock.handle != handle.name and lock.exclusive for lock in state.locks_of(file)):
            return ("FILE_LOCK_CONFLICT",), state
        return ("SUCCESS", file.value), state

    def _mark(self, state, operation, request):
        place = state.place(state.handle(request["handle"]))
        return DONE, state.with_file(place, dataclasses.replace(state.files[place], marked=request["marked"]))

    def _rename(self, state, operation, request):
        handle = state.handle(request["handle"])
        place = state.place(handle)
        file, other = state.files[place], state.files[request["to"]]
        if place == request["to"]:
            return DONE, state
        refusals = []
        if any(each != handle and "D" not in each.share for each in state.opens(file)):
            refusals.append(("SHARING_VIOLATION",))
        if other is not None and not request["replace"]:
            refusals.append(("OBJECT_NAME_COLLISION",))
        elif other is not None and (other.lease or state.opens(other)):
            refusals += [("ACCESS_DENIED",), ("SHARING_VIOLATION",), ("DELETE_PENDING",)]
        if refusals:
            return self._told(operation, refusals, state)
        return DONE, state.with_file(place, None).with_file(request["to"], file)

    # --- REST ---

    @staticmethod
    def _refusals(state, file, do):
        if file.marked:
            return [PENDING]
        opens = state.opens(file)
        if do == "delete" and opens:
            return [SHARING_VIOLATION]
        if any(not within(NEEDED.get(do, ""), each.share) for each in opens):
            return [SHARING_VIOLATION]
        if do == "acquire" and any(each.access != "R" for each in opens):
            return [SHARING_VIOLATION]
        return []

    def _get(self, state, operation, request):
        file = state.files[request["file"]]
        if file is None:
            return MISSING, state
        refusals = self._refusals(state, file, "get")
        # Of an empty file nothing is read, so that no lock is in the way.
        if not file.marked and file.value != EMPTY and any(lock.exclusive for lock in state.locks_of(file)):
            refusals.append((409, "FileLockConflict"))
        return self._told(operation, refusals, state) if refusals else ((200, file.value), state)

    def _put(self, state, operation, request):
        """Nothing can be put into a file that is too short for it, which may be looked at first."""
        file = state.files[request["file"]]
        if file is None:
            return MISSING, state
        refusals = self._refusals(state, file, "put")
        if not file.marked and state.locks_of(file):
            refusals.append((409, "FileLockConflict"))
        if file.lease:
            refusals.append((412, "LeaseIdMissing"))
        if file.value == EMPTY:
            refusals.append((416, "InvalidRange"))
        if refusals:
            return self._told(operation, refusals, state)
        return (201,), state.with_file(request["file"], dataclasses.replace(file, value=request["value"]))

    def _delete(self, state, operation, request):
        file = state.files[request["file"]]
        if file is None:
            return MISSING, state
        refusals = self._refusals(state, file, "delete") + ([(412, "LeaseIdMissing")] if file.lease else [])
        return self._told(operation, refusals, state) if refusals else ((202,), state.with_file(request["file"], None))

    def _acquire(self, state, operation, request):
        file = state.files[request["file"]]
        if file is None:
            return MISSING, state
        refusals = self._refusals(state, file, "acquire")
        if file.lease and file.lease != request["id"]:
            refusals.append((409, "LeaseAlreadyPresent"))
        if refusals:
            return self._told(operation, refusals, state)
        return (201,), state.with_file(request["file"], dataclasses.replace(file, lease=request["id"]))

    def _release(self, state, operation, request):
        file = state.files[request["file"]]
        if file is None:
            return MISSING, state
        refusals = [PENDING] if file.marked else []
        if file.lease != request["id"]:
            refusals.append((409, "LeaseIdMismatchWithLeaseOperation"))
        if not refusals:
            return (200,), state.with_file(request["file"], dataclasses.replace(file, lease=None))
        return self._told(operation, refusals, state)

    # --- For the search and for people ---

    def changes(self, operation):
        return operation.request["do"] not in ("read", "get") and operation.outcome in (None, DONE, (200,), (201,), (202,))

    def describe(self, state):
        opens = " ".join(f"{handle.name}({handle.access}|{handle.share})" for handle in sorted(
            state.handles, key=lambda each: each.name))
        locks = " ".join(f"{lock.handle}[{lock.half}{'!' if lock.exclusive else ''}]" for lock in state.locks)
        return "{" + ", ".join(f"{name}: {file or 'none'}" for name, file in zip(FILES, state.files)) + f"; {opens}; {locks}}}"

    def ask(self, request):
        words = [request["do"]]
        for key, value in request.items():
            if key == "file" or key == "to":
                words.append(("to " if key == "to" else "") + FILES[value])
            elif key != "do" and value not in (None, False):
                words.append(key if value is True else f"{key} {value}")
        return " ".join(words)


def split(operations):
    return {"": operations}


class Client:
    """The first ones are clients of REST, the others of SMB."""

    def __init__(self, group, number, random, connection):
        self.directory = f"/{group.place}/{group.name}"
        self.length = LENGTHS[group.number % len(LENGTHS)]
        self.number, self.random, self.ends, self.recorder = number, random, connection, group.recorder
        self.connection = connection.rest if number < REST_CLIENTS else connection
        self.group = group
        self._changes = 0
        self._handles = {}  # By name: (file id, access, halves that are locked).
        self._deleting = set()  # Names of those that delete on close.

    @staticmethod
    async def create(connection, group):
        await connection.request("PUT", f"/{group.place}/{group.name}", {"restype": "directory"})

    async def finish(self):
        return

    async def step(self):
        if self.number < REST_CLIENTS:
            await self.random.choice((self.put, self.put, self.get, self.get, self.delete, self.acquire, self.release))()
            return
        if self.random.randrange(40) == 0:
            await self.lose_connection()
        elif len(self._handles) < MOST_HANDLES and (not self._handles or self.random.randrange(4) == 0):
            await self.open()
        else:
            await self.random.choice((self.write, self.write, self.read, self.read, self.read, self.lock, self.lock, self.unlock,
                                      self.mark, self.rename, self.close, self.close))()

    def _next(self):
        self._changes += 1
        return f"{self.number}.{self._changes}"

    def _any_file(self):
        return self.random.randrange(len(FILES))

    # --- SMB ---

    async def _do(self, request, sending, understand=lambda reply: (reply.status,)):
        """The reply."""
        return await self.recorder.exchange(self, request, sending, understand)

    async def open(self):
        name, place = self._next(), self._any_file()
        access = self.random.choice(("R", "RW", "RW", "RWD", "RWD", "RD"))
        share = self.random.choice(("RWD", "RWD", "RWD", "RW", "R", "RD", ""))
        deletes = "D" in access and self.random.randrange(5) == 0
        makes = self.random.randrange(3) > 0
        request = {"do": "open", "file": place, "handle": name, "access": access, "share": share, "makes": makes, "deletes": deletes}
        reply = await self._do(request, self.ends.drive.create(
            f"{self.group.name}/{FILES[place]}", access=sum(ACCESS[each] for each in access), share=sum(SHARING[each] for each in share),
            disposition=smb.OPEN_IF if makes else smb.OPEN,
            options=smb.NON_DIRECTORY_FILE | (smb.DELETE_ON_CLOSE if deletes else 0)))
        if reply.ok:
            self._handles[name] = reply.file, access, set()
            if deletes:
                self._deleting.add(name)

    def _pick(self, access="R"):
        """A handle with this access: its name, id and locked halves."""
        names = [name for name, (_, granted, _) in self._handles.items() if access in granted]
        if not names:
            return None, None, None
        name = self.random.choice(names)
        file, _, locked = self._handles[name]
        return name, file, locked

    async def close(self):
        name, file, _ = self._pick()
        del self._handles[name]
        closing = self._begin_closing([name])
        await self._do({"do": "close", "handle": name}, self.ends.drive.close_file(file))
        self._end(closing)

    def _begin_closing(self, names):
        """What closing does first."""
        return [self.recorder.begin(self, {"do": "closing", "handle": name}) for name in names if name in self._deleting]

    def _end(self, operations):
        for operation in operations:
            self.recorder.end(operation, DONE)

    async def write(self):
        name, file, _ = self._pick("W")
        if name:
            value = self._next()
            await self._do({"do": "write", "handle": name, "value": value},
                           self.ends.drive.write(file, 0, contents(value, self.length), self.random.randrange(4) == 0))

    async def read(self):
        name, file, _ = self._pick()
        await self._do({"do": "read", "handle": name}, self.ends.drive.read(file, 0, self.length), understand_read)

    def _range(self, half):
        return half * (self.length // HALVES), self.length // HALVES

    async def lock(self):
        name, file, locked = self._pick()
        half, exclusive, waits = self.random.randrange(HALVES), self.random.randrange(2) == 0, self.random.randrange(2) == 0
        if half in locked:
            return
        flags = (smb.EXCLUSIVE if exclusive else smb.SHARED) | (0 if waits else smb.AT_ONCE)
        request = {"do": "lock", "handle": name, "half": half, "exclusive": exclusive, "waits": waits}
        reply = await self._do(request, self._locked(file, (*self._range(half), flags)))
        if reply.ok:
            locked.add(half)

    async def _locked(self, file, lock):
        """Does not wait for ever."""
        asked = await self.ends.drive.send_lock(file, lock)
        if await asked.waits():
            waiting = asyncio.ensure_future(asyncio.wait_for(asyncio.shield(asked.answer), LONGEST_WAIT_S))
            await asyncio.wait((waiting,))
            if waiting.exception():
                asked.cancel()
        return await asked

    async def unlock(self):
        name, file, locked = self._pick()
        half = self.random.choice(sorted(locked)) if locked else self.random.randrange(HALVES)
        locked.discard(half)
        await self._do({"do": "unlock", "handle": name, "half": half}, self.ends.drive.lock(file, (*self._range(half), smb.UNLOCK)))

    async def mark(self):
        name, file, _ = self._pick("D")
        if name:
            marked = self.random.randrange(2) == 0
            await self._do({"do": "mark", "handle": name, "marked": marked}, self.ends.drive.set_deletion(file, marked))

    async def rename(self):
        name, file, _ = self._pick("D")
        if name:
            to, replace = self._any_file(), self.random.randrange(3) > 0
            await self._do({"do": "rename", "handle": name, "to": to, "replace": replace},
                           self.ends.drive.rename(file, f"{self.group.name}/{FILES[to]}", replace))

    async def lose_connection(self):
        drive = self.ends.drive
        if not drive.session:
            return
        before, names = drive.session, list(self._handles)
        lost = self._begin_closing(names) + [self.recorder.begin(self, {"do": "drop", "handle": name}) for name in names]
        self._handles = {}
        drive.close()
        await drive.open(before)
        self._end(lost)

    # --- REST ---

    async def _rest(self, request, method, query=None, headers=None, body=b""):
        understand = understand_get if request["do"] == "get" else understand_rest
        await self.recorder.request(self, request, understand, method, f"{self.directory}/{FILES[request['file']]}", query, headers, body)

    async def put(self):
        value = self._next()
        await self._rest({"do": "put", "file": self._any_file(), "value": value}, "PUT", {"comp": "range"}, {
            "x-ms-write": "update", "x-ms-range": f"bytes=0-{self.length - 1}"}, contents(value, self.length))

    async def get(self):
        await self._rest({"do": "get", "file": self._any_file()}, "GET")

    async def delete(self):
        await self._rest({"do": "delete", "file": self._any_file()}, "DELETE")

    async def acquire(self):
        await self._lease(acquiring(lease_id(self.number), INFINITE))

    async def release(self):
        await self._lease(releasing(lease_id(self.number)))

    async def _lease(self, what):
        request, headers = what
        await self._rest({**request, "file": self._any_file()}, "PUT", {"comp": "lease"}, headers)


def understand_read(reply):
    if reply.status == "END_OF_FILE":
        return "SUCCESS", EMPTY
    return ("SUCCESS", value_of(reply.data)) if reply.ok else (reply.status,)


def understand_rest(reply):
    if reply.status in (200, 201, 202):
        return (reply.status,), None
    if reply.status not in (404, 409, 412, 416):
        raise ValueError("neither done nor refused")
    return (reply.status, reply.code), None


def understand_get(reply):
    return ((200, value_of(reply.body) if reply.body else EMPTY), None) if reply.status == 200 else understand_rest(reply)
