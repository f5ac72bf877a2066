"""What clients may send who have logged on: every information class, every control, requests cut short or with wrong bytes, names that
lead elsewhere, lengths that no file has, and what belongs to another account. Each is answered at once or ends its own connection;
who works beside it notices nothing."""

import asyncio
import os
import random
import struct
import unittest
import urllib.parse

import harness
import smb_client as smb
from client import Connection, Disconnected

OTHER, OTHER_KEY = "other", "b3RoZXI="
CONTROLS = (0x00060194, 0x0011400C, 0x00140078, 0x001401D4, 0x001401FC, 0x00144064, 0x001440F2, 0x001480F2, 0x000900A8, 0x000900C4,
            0x000940CF, 0x000980C8, 0x0009009C, 0x000900C0, 0x0009003C, 0x0009C040, 0x00098344, 0x000981D4, 0x00098208)
CLASSES = (3, 80, 14, 3, 3, 3)  # So many are tried of each type: none, files, volumes, security, quotas, none.
SIZES = (0, 1, 7, 8, 16, 24, 40, 200)
GIB = 1 << 30

# Names, and how a CREATE that would make the file ends.
NAMES = (
    ("..", "OBJECT_PATH_SYNTAX_BAD"), ("..\\file", "OBJECT_PATH_SYNTAX_BAD"), ("a\\..\\..\\file", "OBJECT_PATH_SYNTAX_BAD"),
    ("\\file", "INVALID_PARAMETER"), ("a\\\\file", "OBJECT_NAME_INVALID"), ("file:stream", "OBJECT_NAME_INVALID"),
    ("file:stream:$DATA", "OBJECT_NAME_INVALID"), (":stream", "OBJECT_NAME_INVALID"), ("a*b", "OBJECT_NAME_INVALID"),
    ("a?b", "OBJECT_NAME_INVALID"), ("a<b", "OBJECT_NAME_INVALID"), ("a>b", "OBJECT_NAME_INVALID"), ('a"b', "OBJECT_NAME_INVALID"),
    ("a|b", "OBJECT_NAME_INVALID"), ("a\x01b", "OBJECT_NAME_INVALID"), ("x" * 256, "OBJECT_NAME_INVALID"), ("NUL", "OBJECT_NAME_INVALID"),
    ("file\\inner", "OBJECT_PATH_NOT_FOUND"), ("file::$DATA", "SUCCESS"), (".\\file", "SUCCESS"), ("a\\..\\file", "SUCCESS"),
)
# Lengths that are set: of room that is set aside (19) and of the file (20).
LENGTHS = (
    (19, -1, "INVALID_PARAMETER"), (20, -1, "INVALID_PARAMETER"), (20, -(1 << 63), "INVALID_PARAMETER"),
    (19, (1 << 63) - 1, "DISK_FULL"), (20, (1 << 63) - 1, "INVALID_PARAMETER"),
    (19, (4096 * GIB) + 1, "DISK_FULL"), (20, (4096 * GIB) + 1, "INVALID_PARAMETER"),
)
# Places where 10 bytes are read, written and locked.
PLACES = (
    (1 << 42, "END_OF_FILE", "DISK_FULL", "SUCCESS"), (1 << 62, "END_OF_FILE", "INVALID_PARAMETER", "SUCCESS"),
    ((1 << 63) - 1, "INVALID_PARAMETER", "INVALID_PARAMETER", "SUCCESS"), (1 << 63, "INVALID_PARAMETER", "INVALID_PARAMETER", "SUCCESS"),
    ((1 << 64) - 10, "INVALID_PARAMETER", "INVALID_PARAMETER", "SUCCESS"),
    ((1 << 64) - 9, "INVALID_PARAMETER", "INVALID_PARAMETER", "INVALID_LOCK_RANGE"),
)


def query_body(file, info_type, info_class, length):
    return struct.pack("<HBBIHHIII16s", 41, info_type, info_class, length, 0, 0, 0, 0xF, 0, file)


def directory_body(file, info_class, length):
    return struct.pack("<HBBI16sHHI", 33, info_class, 1, 0, file, 96, 2, length) + b"*\0"


def control_body(file, control, data, most=65536):
    return struct.pack("<HHI16sIIIIIII4x", 57, 0, control, file, 120, len(data), 0, 0, 0, most, 1) + data


class SmbHostile(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        accounts = f"{harness.ACCOUNT}:{harness.KEY};{OTHER}:{OTHER_KEY}"
        cls.server = harness.Server("--inMemoryPersistence", env={"AZURITE_ACCOUNTS": accounts})
        cls.addClassCleanup(cls.server.stop)
        cls.dice = random.Random(1)

    async def asyncSetUp(self):
        address = urllib.parse.urlsplit(self.server.url("File")).netloc
        for account, key in ((harness.ACCOUNT, harness.KEY), (OTHER, OTHER_KEY)):
            rest = Connection.to(f"http://{address}/{account}", account, key)
            await rest.request("PUT", "/data", {"restype": "share"})  # Which may be there.
            if account == harness.ACCOUNT:
                await rest.request("PUT", "/mine", {"restype": "share"})
            rest.close()
        self.beside = await self.connect()
        self.written = (await self.beside.create("beside", disposition=smb.OPEN_IF)).file

    async def connect(self, account=harness.ACCOUNT, key=harness.KEY, share="data", **how):
        connection = smb.SmbConnection("127.0.0.1", smb.port_of(self.server), account, key, share, **how)
        self.addCleanup(connection.close)
        await connection.open()
        return connection

    async def open_both(self):
        """A connection with a file and a directory of its own."""
        connection, name = await self.connect(), os.urandom(8).hex()
        file = await connection.create(f"f{name}", disposition=smb.CREATE_NEW)
        folder = await connection.create(f"d{name}", disposition=smb.CREATE_NEW, options=smb.DIRECTORY_FILE)
        self.assertEqual((file.status, folder.status), ("SUCCESS", "SUCCESS"))
        return connection, file.file, folder.file

    async def send_all(self, make, bodies):
        """Sends each request, on another connection where the server has ended the last. `make` has what is open put in."""
        connection, file, folder = await self.open_both()
        answered = 0
        for command, body in bodies:
            try:
                request = await connection.send(command, make(body, file, folder), cost_bytes=65536)
                if await request.waits():
                    request.cancel()
                reply = await request
                answered += 1
                # What it was good for is gone: a handle, the tree or the session.
                if reply.status not in ("FILE_CLOSED", "NETWORK_NAME_DELETED", "USER_SESSION_DELETED"):
                    continue
            except Disconnected:
                pass
            connection.close()
            connection, file, folder = await self.open_both()
        reply = await self.beside.write(self.written, 0, b"still here")
        self.assertEqual(reply.status, "SUCCESS")
        self.assertGreater(answered, 0)

    async def test_every_information_class(self):
        bodies = []
        for info_class in range(80):
            for info_type in [each for each, classes in enumerate(CLASSES) if info_class < classes]:
                for length in (0, 8, 100, 65536):
                    bodies.append((smb.QUERY_INFO, lambda file, t=info_type, c=info_class, n=length: query_body(file, t, c, n)))
                for length in SIZES:
                    data = self.dice.choice((bytes(length), b"\xff" * length, self.dice.randbytes(length)))
                    bodies.append((smb.SET_INFO, lambda file, t=info_type, c=info_class, d=data: smb.set_info_body(file, c, d, t)))
            for length in (0, 64, 65536):
                bodies.append((smb.QUERY_DIRECTORY, lambda file, c=info_class, n=length: directory_body(file, c, n)))
        for which in (1, 2):
            await self.send_all(lambda body, *opens, which=which: body(opens[which - 1]), bodies)

    async def test_every_control(self):
        bodies = [(smb.IOCTL, (control, data)) for control in CONTROLS for length in SIZES
                  for data in (bytes(length), b"\xff" * length, self.dice.randbytes(length))]
        await self.send_all(lambda body, file, folder: control_body(file, *body), bodies)
        await self.send_all(lambda body, file, folder: control_body(folder, *body, 8), bodies)

    async def test_requests_that_are_cut_short_or_changed(self):
        file, folder = b"FILE" * 4, b"FOLD" * 4
        requests = (
            (smb.CREATE, smb.create_body("name", disposition=smb.OPEN_IF,
                                         contexts=[smb.durable(os.urandom(16)), smb.lease(os.urandom(16))])),
            (smb.CLOSE, smb.close_body(file)), (smb.FLUSH, struct.pack("<HH4x16s", 24, 0, file)), (smb.READ, smb.read_body(file, 0, 100)),
            (smb.WRITE, smb.write_body(file, 0, b"abc" * 10)), (smb.LOCK, smb.lock_body(file, (0, 10, smb.EXCLUSIVE))),
            (smb.IOCTL, control_body(file, 0x00144064, b"")), (smb.QUERY_DIRECTORY, directory_body(folder, 37, 1000)),
            (smb.CHANGE_NOTIFY, struct.pack("<HHI16sII", 32, 1, 1000, folder, 0xFFF, 0)), (smb.QUERY_INFO, query_body(file, 1, 18, 1000)),
            (smb.SET_INFO, smb.set_info_body(file, 20, bytes(8))), (smb.OPLOCK_BREAK, smb.lease_break_body(os.urandom(16), 1)),
            (smb.TREE_CONNECT, struct.pack("<HHHH", 9, 0, 72, 16) + "\\\\s\\data".encode("utf-16-le")),
            (smb.TREE_DISCONNECT, struct.pack("<HH", 4, 0)), (smb.LOGOFF, struct.pack("<HH", 4, 0)), (smb.NEGOTIATE, bytes(4)),
            (19, bytes(8)), (0xFFFF, bytes(8)),
        )
        bodies = []
        for command, body in requests:
            bodies += [(command, body[:length]) for length in range(len(body))]
            for _ in range(40):
                changed = bytearray(body)
                for _ in range(self.dice.randrange(1, 4)):
                    changed[self.dice.randrange(len(changed))] = self.dice.choice((0, 1, 0x7F, 0x80, 0xFF))
                bodies.append((command, bytes(changed)))
        await self.send_all(lambda body, one, other: body.replace(file, one).replace(folder, other), bodies)

    async def test_names_that_lead_elsewhere(self):
        connection = await self.connect()
        await connection.close_file((await connection.create("file", disposition=smb.OPEN_IF)).file)
        for name, status in NAMES:
            with self.subTest(name=name):
                reply = await connection.create(name, disposition=smb.OPEN_IF)
                self.assertEqual(reply.status, status)
                if reply.ok:
                    self.assertEqual(reply.action, 1)  # It is the file that is there.
                    await connection.close_file(reply.file)
        for raw in (b"\x00\xd8", b"a\0\x00\xdc", b"a\0\0\0"):  # Half a character, the other half, and a NUL.
            body = struct.pack("<HBBI16xIIIIIHHII", 57, 0, 0, 2, 0x12019F, 0, 7, 3, 0, 120, len(raw), 0, 0) + raw.ljust(8, b"\0")
            self.assertEqual((await connection.request(smb.CREATE, body)).status, "OBJECT_NAME_INVALID")

    async def test_lengths_and_places_that_no_file_has(self):
        connection, file, _ = await self.open_both()
        await connection.write(file, 0, b"0123456789")
        for info_class, length, status in LENGTHS:
            reply = await connection.set_info(file, info_class, struct.pack("<q", length))
            self.assertEqual(reply.status, status, (info_class, length))
        for place, read, written, locked in PLACES:
            with self.subTest(place=place):
                self.assertEqual((await connection.read(file, place, 10)).status, read)
                self.assertEqual((await connection.write(file, place, b"x" * 10)).status, written)
                reply = await connection.lock(file, (place, 10, smb.EXCLUSIVE | smb.AT_ONCE))
                self.assertEqual(reply.status, locked)
                reply = await connection.lock(file, (place, 10, smb.UNLOCK))
                self.assertEqual(reply.ok, locked == "SUCCESS")
        self.assertEqual(await connection.read_all(file), b"0123456789")
        allocated, length = struct.unpack_from("<QQ", (await connection.query_info(file, 5)).output)
        self.assertEqual((allocated, length), (4096, 10))

    async def test_room_that_is_asked_for_with_a_new_file(self):
        connection = await self.connect()
        for wanted, given in ((5000, 8192), ((1 << 64) - 1, 4096 * GIB)):
            contexts = [smb.context(b"AlSi", struct.pack("<Q", wanted))]
            opened = await connection.create("room", disposition=smb.OVERWRITE_IF, contexts=contexts)
            self.assertEqual(struct.unpack_from("<Q", opened.body, 40)[0], given)
            await connection.close_file(opened.file)

    async def test_descriptors_that_are_none(self):
        connection, file, _ = await self.open_both()
        asked = struct.pack("<HBBIHHIII16s", 41, 3, 0, 65536, 0, 0, 0, 7, 0, file)
        descriptor = (await connection.request(smb.QUERY_INFO, asked, smb.Output, 65536)).output
        self.assertGreater(len(descriptor), 20)
        for length in range(len(descriptor)):
            body = struct.pack("<HBBIHHI16s", 33, 3, 0, length, 96, 0, 7, file) + descriptor[:length]
            self.assertEqual((await connection.request(smb.SET_INFO, body)).status, "INVALID_PARAMETER", length)
        again = (await connection.request(smb.QUERY_INFO, asked, smb.Output, 65536)).output
        self.assertEqual(again, descriptor)

    async def test_what_belongs_to_another_account(self):
        guid, name, key = os.urandom(16), os.urandom(16), os.urandom(16)
        contexts = [smb.durable(name, 60_000), smb.lease(key)]
        owner = await self.connect(guid=guid)
        opened = await owner.create("secret", disposition=smb.OVERWRITE_IF, contexts=contexts)
        await owner.write(opened.file, 0, b"secret")
        # It calls itself, its lease and its request by the same names.
        thief = await self.connect(OTHER, OTHER_KEY, guid=guid)
        own = await thief.create("secret", disposition=smb.OVERWRITE_IF, contexts=contexts)
        self.assertEqual((own.status, own.action), ("SUCCESS", 2))
        await thief.close_file(own.file)
        self.assertEqual((await thief.read(opened.file, 0, 10)).status, "FILE_CLOSED")
        self.assertEqual((await thief.write(opened.file, 0, b"x")).status, "FILE_CLOSED")
        self.assertEqual((await thief.close_file(opened.file)).status, "FILE_CLOSED")
        with self.assertRaisesRegex(RuntimeError, "BAD_NETWORK_NAME"):
            await self.connect(OTHER, OTHER_KEY, share="mine")
        # It says that the session was its own.
        liar = smb.SmbConnection("127.0.0.1", smb.port_of(self.server), OTHER, OTHER_KEY, "data")
        self.addCleanup(liar.close)
        await liar.open(previous_session=owner.session)
        self.assertEqual((await owner.read(opened.file, 0, 10)).data, b"secret")
        # It comes back for what the owner has lost. The owner gets it, once the server has noticed the loss.
        owner.close()
        back = [smb.reconnect(opened.file, name), smb.lease(key)]
        again = await self.connect(guid=guid)
        async with asyncio.timeout(30):
            while True:
                self.assertEqual((await thief.create("secret", contexts=back)).status, "OBJECT_NAME_NOT_FOUND")
                reply = await again.create("secret", contexts=back)
                if reply.ok:
                    break
        self.assertEqual((await again.read(reply.file, 0, 10)).data, b"secret")

    async def test_chains_in_which_something_fails(self):
        connection, last = await self.connect(), smb.RELATED_FILE
        steps = {
            "read": (smb.READ, smb.read_body(last, 0, 10)), "write": (smb.WRITE, smb.write_body(last, 0, b"x")),
            "wrong": (smb.SET_INFO, smb.set_info_body(last, 99, b"")), "close": (smb.CLOSE, smb.close_body(last)),
            "make": (smb.CREATE, smb.create_body("chain", disposition=smb.OPEN_IF)), "missing": (smb.CREATE, smb.create_body("missing")),
        }
        missing = "OBJECT_NAME_NOT_FOUND"
        for chain, wanted in (
                (("missing", "read", "close"), (missing, missing, missing)),
                (("make", "read", "write", "wrong", "close", "read"),
                 ("SUCCESS", "END_OF_FILE", "SUCCESS", "INVALID_INFO_CLASS", "SUCCESS", "FILE_CLOSED")),
                (("make", "close", "missing", "write"), ("SUCCESS", "SUCCESS", missing, missing))):
            requests = await connection.send_chain([(*steps[step], smb.Reply) for step in chain])
            self.assertEqual(tuple([(await request).status for request in requests]), wanted)


if __name__ == "__main__":
    unittest.main()
