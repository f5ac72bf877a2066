"""What one peer can have of the SMB server, seen from outside: strangers cost next to nothing, frames and requests have a largest
size, and who does not log on is shown out."""

import asyncio
import os
import pathlib
import resource
import socket
import struct
import unittest

import harness
import ntlm
import smb_client as smb
from client import Connection, Disconnected
from test_torture import sanitizer

STRANGERS = 1000
MOST_BYTES_EACH = 12 * 1024
IDLE_SESSIONS = 1000
MOST_BYTES_IDLE = 64 << 20  # Of the whole server.
MOST_SECONDS_EACH = 0.0005  # Of the server's threads, with what the kernel does for them.
LARGEST = 8 << 20
FRAME_OVER = (8 << 20) + 65536 + 52 + 1  # One more than a frame may have.
STRANGERS_FRAME_OVER = 17 * 1024 + 1


def make_frame(command, message_id, body, session=0):
    header = struct.pack("<4sHHIHHIIQQQ16s", b"\xfeSMB", 64, 1, 0, command, 1, 0, 0, message_id, 0, session, bytes(16))
    return (len(header) + len(body)).to_bytes(4, "big") + header + body


NEGOTIATE = make_frame(smb.NEGOTIATE, 0, struct.pack("<HHHHI16sIHHH", 36, 1, 1, 0, 0, bytes(16), 0, 0, 0, 0x0210))
LOGON = make_frame(smb.SESSION_SETUP, 1, struct.pack("<HBBIIHHQ", 25, 0, 1, 0, 0, 88, 32, 0) + ntlm.first_message())


def receive(peer):
    """A whole frame; nothing at the end."""
    try:
        head = peer.recv(4, socket.MSG_WAITALL)
    except ConnectionResetError:
        return b""
    return peer.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL) if len(head) == 4 else b""


class SmbLimits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server("--inMemoryPersistence")
        cls.addClassCleanup(cls.server.stop)

    def stranger(self):
        peer = socket.create_connection(("127.0.0.1", smb.port_of(self.server)), timeout=60)
        self.addCleanup(peer.close)
        return peer

    def begin_logon(self):
        peer = self.stranger()
        for frame in (NEGOTIATE, LOGON):
            peer.sendall(frame)
            self.assertTrue(receive(peer))
        return peer

    def cost(self, server=None):
        """Bytes of memory and seconds of work."""
        process = pathlib.Path(f"/proc/{(server or self.server).process.pid}")
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        pages = int((process / "statm").read_text().split()[1])
        return pages * resource.getpagesize(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @unittest.skipIf(sanitizer(), "sanitizers take memory and time for themselves")
    def test_strangers_cost_little(self):
        kept = [self.begin_logon() for _ in range(STRANGERS // 10)]  # What is made once is there.
        memory, seconds = self.cost()
        kept += [self.begin_logon() for _ in range(STRANGERS)]
        more_memory, more_seconds = self.cost()
        self.assertLess((more_memory - memory) / STRANGERS, MOST_BYTES_EACH)
        self.assertLess((more_seconds - seconds) / STRANGERS, MOST_SECONDS_EACH)
        for peer in kept:
            peer.close()

    @unittest.skipIf(sanitizer(), "sanitizers take memory for themselves")
    def test_idle_sessions_take_little_memory(self):
        asyncio.run(self.idle_sessions())

    async def idle_sessions(self):
        """On a server that keeps its data on disk, as those do that have so many."""
        server = harness.Server()
        self.addCleanup(server.stop)
        rest = Connection.to(server.url("File"), harness.ACCOUNT, harness.KEY)
        await rest.request("PUT", "/idle", {"restype": "share"})
        rest.close()
        drives = [smb.SmbConnection("127.0.0.1", smb.port_of(server), harness.ACCOUNT, harness.KEY, "idle")
                  for _ in range(IDLE_SESSIONS)]
        for drive in drives:
            await drive.open()
        self.assertLess(self.cost(server)[0], MOST_BYTES_IDLE)
        for drive in drives:
            self.assertTrue((await drive.echo()).ok)
        self.assertLess(self.cost(server)[0], MOST_BYTES_IDLE)
        for drive in drives:
            drive.close()

    def test_frames_of_strangers_are_short(self):
        for length, answered in ((STRANGERS_FRAME_OVER - 1, True), (STRANGERS_FRAME_OVER, False)):
            peer = self.stranger()
            peer.sendall(length.to_bytes(4, "big"))
            if answered:
                peer.sendall(NEGOTIATE[4:].ljust(length, b"\0"))
            self.assertEqual(bool(receive(peer)), answered)

    def test_requests_and_frames_have_a_largest_size(self):
        asyncio.run(self.requests_and_frames())

    async def requests_and_frames(self):
        rest = Connection.to(self.server.url("File"), harness.ACCOUNT, harness.KEY)
        await rest.request("PUT", "/limits", {"restype": "share"})
        rest.close()
        drive = smb.SmbConnection("127.0.0.1", smb.port_of(self.server), harness.ACCOUNT, harness.KEY, "limits")
        file = (await drive.create("file", disposition=smb.CREATE_NEW)).file
        self.assertEqual((await drive.write(file, 0, bytes(LARGEST))).status, "SUCCESS")
        self.assertEqual((await drive.write(file, 0, bytes(LARGEST + 1))).status, "INVALID_PARAMETER")
        self.assertEqual(len((await drive.read(file, 0, LARGEST)).data), LARGEST)
        self.assertEqual((await drive.read(file, 0, LARGEST + 1)).status, "INVALID_PARAMETER")
        with self.assertRaises(Disconnected):
            await drive.request(smb.ECHO, bytes(FRAME_OVER - 64))
        drive.close()


if __name__ == "__main__":
    unittest.main()
