"""A small SMB 3.1.1 client that signs. Like client.py it has no retries and hides nothing: a reply is whole, or the request raises
Disconnected and nobody knows whether the server acted on it. Any number of requests may be under way; those that the server lets
wait (STATUS_PENDING) can be cancelled, and breaks of oplocks and leases are kept until somebody looks at them.

Signatures are HMAC-SHA256, which 3.1.1 lets a client choose, so the standard library is enough.
"""

import asyncio
import dataclasses
import hashlib
import hmac
import os
import pathlib
import re
import socket
import struct

import ntlm
from client import REPLY_TIMEOUT_S, Disconnected, Gate

_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STATUS_NAMES = {int(number, 16): name for name, number in re.findall(
    r"^KYANITE_SMB_STATUS\(\w+, (\w+), (0x[0-9A-F]+)\)", (_ROOT / "src/smb/status.def").read_text(), re.MULTILINE)}
# Under faults these tell as little about the fate of a request as no reply.
FAILURES = ("DISK_FULL", "INTERNAL_ERROR", "INSUFFICIENT_RESOURCES", "IO_TIMEOUT", "DATA_ERROR")

(NEGOTIATE, SESSION_SETUP, LOGOFF, TREE_CONNECT, TREE_DISCONNECT, CREATE, CLOSE, FLUSH, READ, WRITE, LOCK, IOCTL, CANCEL, ECHO,
 QUERY_DIRECTORY, CHANGE_NOTIFY, QUERY_INFO, SET_INFO, OPLOCK_BREAK) = range(19)

# Access.
READ_DATA, WRITE_DATA, APPEND_DATA, READ_ATTRIBUTES, WRITE_ATTRIBUTES, DELETE = 0x1, 0x2, 0x4, 0x80, 0x100, 0x10000
ALL_ACCESS = 0x1F01FF
# Sharing.
SHARE_READ, SHARE_WRITE, SHARE_DELETE, SHARE_ALL = 1, 2, 4, 7
# Dispositions.
SUPERSEDE, OPEN, CREATE_NEW, OPEN_IF, OVERWRITE, OVERWRITE_IF = range(6)
# Options.
DIRECTORY_FILE, WRITE_THROUGH, NON_DIRECTORY_FILE, DELETE_ON_CLOSE = 0x1, 0x2, 0x40, 0x1000
# Oplocks and what leases are made of.
NO_OPLOCK, BATCH, LEASE = 0x00, 0x09, 0xFF
LEASE_READ, LEASE_HANDLE, LEASE_WRITE, LEASE_ALL = 1, 2, 4, 7
# Locks.
SHARED, EXCLUSIVE, UNLOCK, AT_ONCE = 0x01, 0x02, 0x04, 0x10

_HEADER = struct.Struct("<4sHHIHHIIQQQ16s")
_SIGNED, _ASYNC, _RELATED = 0x8, 0x2, 0x4
_NO_ID = 0xFFFFFFFFFFFFFFFF
_LARGE_MTU, _LEASING = 0x4, 0x2
_BYTES_PER_CREDIT = 65536
_WANTED_CREDITS = 256
_PIECE = 1 << 20  # The most that read_all() asks for at once.
_FSCTL = 1
_SET_ZERO_DATA = 0x000980C8
RELATED_FILE = b"\xff" * 16


@dataclasses.dataclass
class Reply:
    status: str
    message: bytes  # Header and body.

    @property
    def body(self):
        return self.message[64:]

    @property
    def ok(self):
        return self.status == "SUCCESS"


@dataclasses.dataclass
class Opened(Reply):
    """The answer to CREATE."""

    @property
    def file(self):
        return self.body[64:80]

    @property
    def action(self):
        """0 superseded, 1 opened, 2 created, 3 overwritten."""
        return struct.unpack_from("<I", self.body, 4)[0]

    @property
    def length(self):
        return struct.unpack_from("<Q", self.body, 48)[0]

    @property
    def contexts(self):
        """Data by name."""
        at, length = struct.unpack_from("<II", self.body, 80)
        return dict(_contexts_in(self.message[at:at + length]))


@dataclasses.dataclass
class Read(Reply):
    @property
    def data(self):
        length = struct.unpack_from("<I", self.body, 4)[0]
        return self.body[16:16 + length]


@dataclasses.dataclass
class Output(Reply):
    """The answer to QUERY_INFO, QUERY_DIRECTORY and CHANGE_NOTIFY."""

    @property
    def output(self):
        at, length = struct.unpack_from("<HI", self.body, 2)
        return self.message[at:at + length]


def _contexts_in(data):
    while data:
        following, name_at, name_length, _, data_at, data_length = struct.unpack_from("<IHHHHI", data)
        yield data[name_at:name_at + name_length], data[data_at:data_at + data_length]
        data = data[following:] if following else b""


def context(name, data):
    """One for create(contexts=...)."""
    head = struct.pack("<HHHHI", 16, len(name), 0, 24 if data else 0, len(data)) + name.ljust(8, b"\0")
    return head + data


def durable(guid, timeout_ms=0):
    return context(b"DH2Q", struct.pack("<II8x16s", timeout_ms, 0, guid))


def reconnect(file, guid):
    return context(b"DH2C", file + guid + bytes(4))


def lease(key, state=LEASE_ALL):
    return context(b"RqLs", struct.pack("<16sII8x16sHH", key, state, 0, bytes(16), 0, 0))


class _Waiting:
    """A request whose answer has not come."""

    def __init__(self):
        self.answer = asyncio.get_running_loop().create_future()
        self.waits = asyncio.Event()  # The server has said that it takes a while.
        self.async_id = 0


class Request:
    """A request under way: await it for its reply, await waits() until the server says that it takes a while."""

    def __init__(self, connection, message_id, waiting, kind):
        self._connection, self._id, self._waiting, self._kind = connection, message_id, waiting, kind

    def __await__(self):
        return self._reply().__await__()

    async def _reply(self):
        try:
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                message = await asyncio.shield(self._waiting.answer)
        except TimeoutError as error:
            self._connection.close()
            raise Disconnected("no reply in time") from error
        status = STATUS_NAMES.get(_status(message), hex(_status(message)))
        self._connection.gate.look_at_status(status, FAILURES)
        return self._kind(status, message)

    @property
    def answer(self):
        """A future."""
        return self._waiting.answer

    async def waits(self):
        """True when it waits; False when it is answered already."""
        async with asyncio.timeout(REPLY_TIMEOUT_S):
            event = asyncio.ensure_future(self._waiting.waits.wait())
            await asyncio.wait((event, self._waiting.answer), return_when=asyncio.FIRST_COMPLETED)
            event.cancel()
        return not self._waiting.answer.done()

    def cancel(self):
        """Tells the server to give it up. The reply comes all the same."""
        self._connection.send_cancel(self._id, self._waiting.async_id)


def _status(message):
    return struct.unpack_from("<I", message, 8)[0]


class SmbConnection:
    """A connection, the session on it and one share. Opens by itself with the first request; after a loss it has to be opened
    again, which is a new session."""

    def __init__(self, host, port, account, key, share, gate=None, guid=None, gives_back=False):
        """`gives_back`: breaks are acknowledged at once."""
        self._host, self._port, self._account, self._key, self._share = host, port, account, key, share
        self.gate = gate or Gate()
        self.guid = guid or os.urandom(16)  # Of the client, which may have several connections.
        self.breaks = []  # Bodies of notifications.
        self._gives_back, self._giving_back = gives_back, set()
        self._reader = self._writer = self._reading = None
        self._forget()

    def _forget(self):
        self._next_id, self._credits, self._session, self._tree = 0, 1, 0, 0
        self._signing_key = None
        self._preauth = bytes(64)
        self._waiting = {}
        self._paid = asyncio.Event()

    # --- The connection ---

    async def open(self, previous_session=0):
        """Everything up to the share. `previous_session`: the one that this client had and has lost."""
        self._forget()
        try:
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        except OSError as error:  # Among them time-outs.
            raise Disconnected(f"connecting: {error!r}") from error
        self._reading = asyncio.create_task(self._read(self._reader, self._writer, self._waiting))
        await self._negotiate()
        await self._log_on(previous_session)
        path = f"\\\\{self._host}\\{self._share}".encode("utf-16-le")
        reply = await self.request(TREE_CONNECT, struct.pack("<HHHH", 9, 0, 72, len(path)) + path)
        _demand(reply, "TREE_CONNECT")
        self._tree = struct.unpack_from("<I", reply.message, 36)[0]

    @property
    def session(self):
        return self._session

    async def ask_and_hardly_read(self, file, length, times):
        """Asks for the same bytes so many times. Returns the reader, which nobody else reads from now on."""
        self._reading.cancel()
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(times):
            await self.send(READ, read_body(file, 0, length), cost_bytes=length)
        return self._reader

    def close(self):
        """Drops it without a word."""
        if self._writer is not None:
            self._writer.transport.abort()
            self._reading.cancel()
            _fail_all(self._waiting, "closed")
        self._writer = None

    async def _negotiate(self):
        contexts = struct.pack("<HH4xHHH", 1, 6 + 8, 1, 8, 1) + os.urandom(8)
        contexts += bytes(-len(contexts) % 8) + struct.pack("<HH4xHH", 8, 4, 1, 0)
        body = struct.pack("<HHHHI16sIHHH", 36, 1, 1, 0, _LARGE_MTU | _LEASING, self.guid, 64 + 40, 2, 0, 0x0311)
        body += bytes(-len(body) % 8) + contexts
        reply = await self.request(NEGOTIATE, body, hashed=True)
        _demand(reply, "NEGOTIATE")
        self._hash(reply.message)

    async def _log_on(self, previous):
        self._session = 0
        first = await self._set_up(ntlm.first_message(), previous)
        _demand(first, "SESSION_SETUP", "MORE_PROCESSING_REQUIRED")
        self._hash(first.message)
        self._session = struct.unpack_from("<Q", first.message, 40)[0]
        at, length = struct.unpack_from("<HH", first.body, 4)
        token, key = ntlm.last_message(first.message[at:at + length], self._account, self._key)
        last = await self._set_up(token, previous)
        _demand(last, "SESSION_SETUP")
        block = b"\0\0\0\1SMBSigningKey\0\0" + self._preauth + b"\0\0\0\x80"
        self._signing_key = hmac.digest(key, block, hashlib.sha256)[:16]
        self._verify(last.message)

    async def _set_up(self, token, previous):
        body = struct.pack("<HBBIIHHQ", 25, 0, 1, 0, 0, 88, len(token), previous) + token
        return await self.request(SESSION_SETUP, body, hashed=True)

    def _hash(self, message):
        self._preauth = hashlib.sha512(self._preauth + message).digest()

    # --- Frames ---

    async def _read(self, reader, writer, waiting):
        try:
            while True:
                length = int.from_bytes(await reader.readexactly(4), "big")
                self._take(await reader.readexactly(length), waiting)
        except (OSError, EOFError, ValueError) as error:
            writer.transport.abort()
            _fail_all(waiting, f"the connection ended: {error!r}")

    def _take(self, frame, waiting):
        while frame:
            following = struct.unpack_from("<I", frame, 20)[0]
            message, frame = (frame[:following], frame[following:]) if following else (frame, b"")
            self._take_message(message, waiting)

    def _take_message(self, message, waiting):
        _, _, _, status, command, credits, flags, _, message_id, async_id, session, signature = _HEADER.unpack_from(message)
        if message_id == _NO_ID:
            self.breaks.append(message[64:])
            if self._gives_back and (acknowledgement := _acknowledgement(message[64:])):
                task = asyncio.create_task(self._give_back(acknowledgement))
                self._giving_back.add(task)
                task.add_done_callback(self._giving_back.discard)
            return
        if self._signing_key is not None and flags & _SIGNED:
            self._verify(message)
        elif self._signing_key is not None and STATUS_NAMES.get(status) != "PENDING":
            raise ValueError(f"a reply to {command} is not signed")
        self._credits += credits
        self._paid.set()
        if STATUS_NAMES.get(status) == "PENDING" and flags & _ASYNC:
            waiting[message_id].async_id = async_id
            waiting[message_id].waits.set()
            return
        one = waiting.pop(message_id, None)
        if one is None:
            raise ValueError("a reply that nobody waits for")
        if not one.answer.done():
            one.answer.set_result(message)

    def _verify(self, message):
        if message[48:64] != self._signature(message):
            raise ValueError("a wrong signature")

    def _signature(self, message):
        return hmac.digest(self._signing_key, message[:48] + bytes(16) + message[64:], hashlib.sha256)[:16]

    def _header(self, command, message_id, charge, flags, tree, async_id=None):
        flags |= _SIGNED if self._signing_key is not None else 0
        where = async_id if async_id is not None else tree << 32
        return _HEADER.pack(b"\xfeSMB", 64, charge, 0, command, _WANTED_CREDITS, flags, 0, message_id, where, self._session, bytes(16))

    def _sign(self, message):
        return message if self._signing_key is None else message[:48] + self._signature(message) + message[64:]

    async def send(self, command, body, kind=Reply, cost_bytes=0, hashed=False):
        """Sends a request and returns it as it is under way. `cost_bytes`: what it moves beside its own length."""
        (request,) = await self.send_chain([(command, body, kind)], max(cost_bytes, len(body)), hashed)
        return request

    async def send_chain(self, parts, cost_bytes=0, hashed=False):
        """Several requests in one frame, each on what the one before it has opened (RELATED_FILE)."""
        await self._come(parts[0][0])
        if self._writer is None or self._writer.transport.is_closing():
            raise Disconnected("the connection is lost")
        charge = max(1, -(-cost_bytes // _BYTES_PER_CREDIT))
        while self._credits < charge * len(parts):
            self._paid.clear()
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                await self._paid.wait()
        self._credits -= charge * len(parts)
        frame, requests = b"", []
        for number, (command, body, kind) in enumerate(parts):
            header = self._header(command, self._next_id, charge, _RELATED if number else 0, self._tree)
            message = header + body
            if number + 1 < len(parts):
                message += bytes(-len(message) % 8)
                message = message[:20] + struct.pack("<I", len(message)) + message[24:]
            waiting = self._waiting[self._next_id] = _Waiting()
            requests.append(Request(self, self._next_id, waiting, kind))
            self._next_id += charge
            frame += self._sign(message)
        if hashed:
            self._hash(frame)
        self._writer.write(len(frame).to_bytes(4, "big") + frame)
        try:
            await self._writer.drain()
        except OSError as error:
            raise Disconnected(f"sending: {error!r}") from error
        return requests

    async def _come(self, command):
        """Opens the connection where the request needs one."""
        if self.gate.closed:
            self.close()
            raise Disconnected("the work is over")
        if self._writer is None and command != NEGOTIATE:
            await self.open()

    def send_cancel(self, message_id, async_id):
        if self._writer is not None:
            flags, where = (_ASYNC, async_id) if async_id else (0, None)
            message = self._header(CANCEL, message_id, 0, flags, self._tree, where) + struct.pack("<HH", 4, 0)
            self._writer.write(len(message).to_bytes(4, "big") + self._sign(message))

    async def request(self, command, body, kind=Reply, cost_bytes=0, hashed=False):
        # Opening takes requests of its own, each of which is under way by itself.
        await self._come(command)
        async with self.gate.request():
            return await (await self.send(command, body, kind, cost_bytes, hashed))

    async def _give_back(self, body):
        try:
            await (await self.send(OPLOCK_BREAK, body))  # Whatever the answer: the handle may be closed meanwhile.
        except Disconnected:
            pass

    # --- Files ---

    async def create(self, path, **how):
        return await self.request(CREATE, create_body(path, **how), Opened)

    async def close_file(self, file):
        return await self.request(CLOSE, close_body(file))

    async def flush(self, file):
        return await self.request(FLUSH, struct.pack("<HH4x16s", 24, 0, file))

    async def read(self, file, offset, length):
        return await self.request(READ, read_body(file, offset, length), Read, length)

    async def read_all(self, file):
        """The bytes of a file, or the reply that refuses them."""
        content = b""
        while True:
            reply = await self.read(file, len(content), _PIECE)
            if reply.status == "END_OF_FILE":
                return content
            if not reply.ok:
                return reply
            content += reply.data

    async def write(self, file, offset, data, through=False):
        return await self.request(WRITE, write_body(file, offset, data, through), cost_bytes=len(data))

    async def lock(self, file, *locks):
        """Each lock is (offset, length, flags)."""
        return await self.request(LOCK, lock_body(file, *locks))

    async def send_lock(self, file, *locks):
        return await self.send(LOCK, lock_body(file, *locks))

    async def echo(self):
        return await self.request(ECHO, struct.pack("<HH", 4, 0))

    async def set_info(self, file, info_class, data, info_type=1):
        return await self.request(SET_INFO, set_info_body(file, info_class, data, info_type))

    async def rename(self, file, path, replace=False):
        return await self.set_info(file, 10, rename_info(path, replace))

    async def set_deletion(self, file, deleted=True):
        return await self.set_info(file, 13, bytes((deleted,)))

    async def set_length(self, file, length):
        return await self.set_info(file, 20, struct.pack("<Q", length))

    async def query_info(self, file, info_class, length=65536, info_type=1):
        body = struct.pack("<HBBIHHIII16s", 41, info_type, info_class, length, 0, 0, 0, 0, 0, file)
        return await self.request(QUERY_INFO, body, Output, length)

    async def zero(self, file, begin, end):
        data = struct.pack("<QQ", begin, end)
        body = struct.pack("<HHI16sIIIIIII4x", 57, 0, _SET_ZERO_DATA, file, 64 + 56, len(data), 0, 0, 0, 0, _FSCTL) + data
        return await self.request(IOCTL, body)

    async def list(self, file, pattern="*"):
        """(name, is it a directory, length) of everything in an open directory, or the reply that refuses it."""
        found, name = [], pattern.encode("utf-16-le")
        while True:
            body = struct.pack("<HBBI16sHHI", 33, 1, 0, 0, file, 96, len(name), _BYTES_PER_CREDIT) + name
            reply = await self.request(QUERY_DIRECTORY, body, Output, _BYTES_PER_CREDIT)
            if reply.status in ("NO_MORE_FILES", "NO_SUCH_FILE"):
                return found
            if not reply.ok:
                return reply
            found += [entry for entry in _entries_in(reply.output) if entry[0] not in (".", "..")]

    async def acknowledge_lease(self, key, state):
        return await self.request(OPLOCK_BREAK, lease_break_body(key, state))

    async def acknowledge_oplock(self, file, level):
        return await self.request(OPLOCK_BREAK, oplock_break_body(file, level))


def _acknowledgement(notification):
    """The body that says yes to a break, or None when none is wanted."""
    if len(notification) < 44:
        level, file = struct.unpack_from("<2xB5x16s", notification)
        return oplock_break_body(file, level)
    flags, key, _, state = struct.unpack_from("<4xI16sII", notification)
    return lease_break_body(key, state) if flags & 1 else None


def _entries_in(data):
    while data:
        following, length, attributes, name_length = struct.unpack_from("<I36xQ8xII", data)
        yield data[64:64 + name_length].decode("utf-16-le"), bool(attributes & 0x10), length
        data = data[following:] if following else b""


def _fail_all(waiting, why):
    for one in waiting.values():
        if not one.answer.done():
            one.answer.set_exception(Disconnected(why))
            one.answer.exception()  # Nobody has to ask for it.


def _demand(reply, what, status="SUCCESS"):
    if reply.status != status:
        raise RuntimeError(f"{what}: {reply.status}")


class Ends:
    """Both ways to the same share: `rest` is a client.Connection, `drive` an SmbConnection."""

    def __init__(self, rest, drive):
        self.rest, self.drive = rest, drive

    def close(self):
        self.rest.close()
        self.drive.close()


# Bodies of requests, for chains.

def create_body(path, access=ALL_ACCESS, share=SHARE_ALL, disposition=OPEN, options=0, oplock=NO_OPLOCK, attributes=0, contexts=()):
    """`path` has / between its parts. A lease is asked for by its context, which makes the oplock LEASE."""
    name = path.replace("/", "\\").encode("utf-16-le")
    if any(each[12:16] == b"RqLs" for each in contexts):
        oplock = LEASE
    named = name + bytes(-len(name) % 8) if name else bytes(8)
    listed = b""
    for number, each in enumerate(contexts):
        last = number + 1 == len(contexts)
        padding = b"" if last else bytes(-(len(each) + 4) % 8)
        listed += struct.pack("<I", 0 if last else len(each) + 4 + len(padding)) + each + padding
    contexts_at = 120 + len(named) if listed else 0
    return struct.pack("<HBBI16xIIIIIHHII", 57, 0, oplock, 2, access, attributes, share, disposition, options, 120, len(name),
                       contexts_at, len(listed)) + named + listed


def close_body(file):
    return struct.pack("<HH4x16s", 24, 0, file)


def read_body(file, offset, length):
    return struct.pack("<HBBIQ16sIIIHHB", 49, 0, 0, length, offset, file, 0, 0, 0, 0, 0, 0)


def write_body(file, offset, data, through=False):
    return struct.pack("<HHIQ16sIIHHI", 49, 112, len(data), offset, file, 0, 0, 0, 0, int(through)) + data


def lock_body(file, *locks):
    return struct.pack("<HHI16s", 48, len(locks), 0, file) + b"".join(struct.pack("<QQI4x", *each) for each in locks)


def set_info_body(file, info_class, data, info_type=1):
    return struct.pack("<HBBIHHI16s", 33, info_type, info_class, len(data), 96, 0, 0, file) + data


def lease_break_body(key, state):
    return struct.pack("<HHI16sI8x", 36, 0, 0, key, state)


def oplock_break_body(file, level):
    return struct.pack("<HB5x16s", 24, level, file)


def rename_info(path, replace=False):
    name = path.replace("/", "\\").encode("utf-16-le")
    return struct.pack("<B7xQI", replace, 0, len(name)) + name


def port_of(server):
    """Of a harness.Server."""
    return int(re.search(r"^  SMB +smb://127\.0\.0\.1:(\d+)/SHARE$", server.output, re.MULTILINE)[1])
