"""A client of SMB that caches: it asks for leases and oplocks, learns of breaks and answers them, or does not. On impacket's
connection, whose own interface has none of that."""

import struct
import uuid

from impacket.smb3structs import (
    SMB2_CLOSE, SMB2_CREATE, SMB2_DIALECT_30, SMB2_LOCK, SMB2_OPLOCK_BREAK, SMB2_READ, SMB2_SET_INFO, SMB2_WRITE)
from impacket.smbconnection import SessionError, SMBConnection

from harness import ACCOUNT, KEY

READ, HANDLE, WRITE = 1, 2, 4
LEASE, BATCH = 0xFF, 9
UNSOLICITED = 0xFFFFFFFFFFFFFFFF
HEADER_BYTES = 64
TIMEOUT_S = 60


def state(letters):
    return sum({"R": READ, "H": HANDLE, "W": WRITE}[letter] for letter in letters)


def letters(bits):
    return "".join(letter for letter, bit in (("R", READ), ("W", WRITE), ("H", HANDLE)) if bits & bit)


def context(name, data):
    """The only one of a list, or the last."""
    return struct.pack("<IHHHHI", 0, 16, 4, 0, 24, len(data)) + name + bytes(4) + data


class Opened:
    def __init__(self, reply, key):
        self.oplock = reply[2]
        self.action, = struct.unpack_from("<I", reply, 4)
        self.id = reply[64:80]
        self.key = key
        at, length = struct.unpack_from("<II", reply, 80)
        contexts = reply[at - HEADER_BYTES:at - HEADER_BYTES + length] if length else b""
        lease = contexts.find(b"RqLs")
        self.lease = letters(struct.unpack_from("<I", contexts, lease + 8 + 16)[0]) if lease >= 0 else None
        self.durable = b"DH2Q" in contexts


class CachingClient:
    def __init__(self, port, share):
        self.connection = SMBConnection("kyanite", "127.0.0.1", sess_port=port, preferredDialect=SMB2_DIALECT_30, timeout=TIMEOUT_S)
        self.connection.login(ACCOUNT, KEY)
        self.tree = self.connection.connectTree(share)
        self.wire = self.connection.getSMBServer()

    def ask(self, command, body):
        """The body of the reply; a SessionError if it is one."""
        packet = self.wire.SMB_PACKET()
        packet["Command"], packet["TreeID"], packet["Data"] = command, self.tree, body
        answer = self.wire.recvSMB(self.wire.sendSMB(packet))
        if answer["Status"] != 0:
            raise SessionError(answer["Status"])
        return bytes(answer["Data"])

    def open(self, name, access, share, *, disposition=1, options=0x40, lease=None, oplock=0, durable=None, back=None):
        """`lease` in letters; `durable` is the id of a request whose open is to outlive the connection, and with `back`,
        what was open, that of one that does."""
        key = uuid.uuid4().bytes
        contexts = b""
        if lease is not None:
            oplock = LEASE
            contexts = context(b"RqLs", key + struct.pack("<IIQ", state(lease), 0, 0))
        elif back is not None:
            contexts = context(b"DH2C", back.id + durable.bytes + bytes(4))
        elif durable is not None:
            contexts = context(b"DH2Q", struct.pack("<IIQ", 60_000, 0, 0) + durable.bytes)
        path = name.encode("utf-16le")
        at = HEADER_BYTES + 56
        after = -(-(at + len(path)) // 8) * 8
        body = struct.pack("<HBBIQQIIIIIHHII", 57, 0, oplock, 2, 0, 0, access, 0, share, disposition, options, at, len(path),
                           after if contexts else 0, len(contexts))
        return Opened(self.ask(SMB2_CREATE, body + path.ljust(after - at, b"\0") + contexts), key)

    def next_break(self):
        """What is to be given up: the letters before and after, and whether it has to be said; of an oplock what is left."""
        window = self.wire._Connection["SequenceWindow"]
        notice = bytes(self.wire.recvSMB(UNSOLICITED)["Data"])
        self.wire._Connection["SequenceWindow"] = window  # What nobody asked for has cost nothing.
        size, = struct.unpack_from("<H", notice)
        if size == 24:
            return None, {0: "", 1: "R"}[notice[2]], True
        flags, = struct.unpack_from("<I", notice, 4)
        before, after = struct.unpack_from("<II", notice, 24)
        return letters(before), letters(after), flags == 1

    def acknowledge(self, opened, kept):
        if opened.oplock == LEASE:
            body = struct.pack("<HHI16sIQ", 36, 0, 0, opened.key, state(kept), 0)
        else:
            body = struct.pack("<HBBI16s", 24, {"": 0, "R": 1}[kept], 0, 0, opened.id)
        self.ask(SMB2_OPLOCK_BREAK, body)

    def has_break(self):
        """Whether one has arrived: whatever was sent before the answer to a question has."""
        self.connection.getSMBServer().echo()
        return UNSOLICITED in self.wire._Connection["OutstandingResponses"]

    def lock(self, opened, offset, length, *, exclusive=True):
        self.ask(SMB2_LOCK, struct.pack("<HHI16sQQII", 48, 1, 0, opened.id, offset, length, (2 if exclusive else 1) | 0x10, 0))

    def unlock(self, opened, offset, length):
        self.ask(SMB2_LOCK, struct.pack("<HHI16sQQII", 48, 1, 0, opened.id, offset, length, 4, 0))

    def write(self, opened, data, offset=0):
        self.ask(SMB2_WRITE, struct.pack("<HHIQ16sIIHHI", 49, HEADER_BYTES + 48, len(data), offset, opened.id, 0, 0, 0, 0, 0) + data)

    def read(self, opened, offset, length):
        reply = self.ask(SMB2_READ, struct.pack("<HBBIQ16sIIIHHB", 49, 0, 0, length, offset, opened.id, 0, 0, 0, 0, 0, 0))
        return reply[16:16 + struct.unpack_from("<I", reply, 4)[0]]

    def mark_for_deletion(self, opened, marked):
        self.ask(SMB2_SET_INFO, struct.pack("<HBBIHHI16sB", 33, 1, 13, 1, HEADER_BYTES + 32, 0, 0, opened.id, marked))

    def shut(self, opened):
        self.ask(SMB2_CLOSE, struct.pack("<HHI16s", 24, 0, 0, opened.id))

    def cut(self):
        """The connection is lost, without a word."""
        self.wire._NetBIOSSession.close()

    def close(self):
        self.connection.close()
