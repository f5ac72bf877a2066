"""Crowds: thousands of connections that do nothing, send a byte now and then, or hardly read, over HTTP and SMB, while others work.
The work goes on, every promise is kept, and memory stays within bounds."""

import asyncio
import os
import pathlib
import resource
import socket
import urllib.parse

import harness
import smb_client
from mode import Mode
from owner import expect

SPARE = 500  # Descriptors for everything else.
MIB = 1 << 20
# How much the server's memory may grow: by what the work needs, and by what one more connection may cost.
WORK_MIB, EACH_KIB = 100, 16
BIG = "/torture-crowd/big"
BIG_BYTES = 8 * MIB
DRIVE = "torture-crowd"
REPLIES = 400
# One in so many is logged on over SMB and has a file open. Half of these ask for it over and over and hardly read.
DRIVES_IN = 50
BIG_READS = 4
# What replies that nobody reads may take: of one connection of SMB, and of a peer.
UNREAD_DRIVE_MIB, UNREAD_OF_PEER_MIB = 40, 160


class Crowd(Mode):
    name = "connections"

    def __init__(self, seed, connections=10_000):
        super().__init__(seed)
        self.connections = connections
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = connections + SPARE if most == resource.RLIM_INFINITY else min(most, connections + SPARE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
        self.connections = min(connections, wanted - SPARE)
        self.work_mib = WORK_MIB
        self._crowd, self._drives, self._unread = [], [], []

    async def prepare(self):
        await super().prepare()
        connection = self.run.connect()
        await expect(connection, 201, "PUT", "/torture-crowd", {"restype": "container"}, {"x-ms-blob-public-access": "blob"})
        await expect(connection, 201, "PUT", BIG, headers={"x-ms-blob-type": "BlockBlob"}, body=os.urandom(BIG_BYTES))
        await expect(self.run.connect("File"), 201, "PUT", f"/{DRIVE}", {"restype": "share"})
        drive = self._drive()
        opened = await drive.create("big", disposition=smb_client.CREATE_NEW)
        await drive.write(opened.file, 0, os.urandom(BIG_BYTES))
        await drive.close_file(opened.file)
        drive.close()

    def _drive(self):
        return smb_client.SmbConnection("127.0.0.1", smb_client.port_of(self.run.server), harness.ACCOUNT, harness.KEY, DRIVE)

    async def gather_drives(self):
        for number in range(-(-self.connections // DRIVES_IN)):
            drive = self._drive()
            self._drives.append(drive)
            opened = await drive.create("big", access=smb_client.READ_DATA)
            if number % 2:
                self._unread.append(await drive.ask_and_hardly_read(opened.file, BIG_BYTES, BIG_READS))
        self.run.standing_drives = len(self._drives)

    async def gather(self):
        """A third each: idle, slow in asking, slow in reading."""
        where = urllib.parse.urlsplit(self.run.server.url("Blob"))
        loop = asyncio.get_running_loop()
        for number in range(self.connections):
            each = socket.socket()
            each.setblocking(False)
            # A small window, or the kernel would read in our place.
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await loop.sock_connect(each, (where.hostname, where.port))
            self._crowd.append(each)
            if number % 3 == 2:
                request = f"GET /{harness.ACCOUNT}{BIG} HTTP/1.1\r\nhost: {where.netloc}\r\nx-ms-version: 2023-11-03\r\n\r\n"
                await loop.sock_sendall(each, request.encode())

    async def annoy(self):
        """A byte to and a few from those that are slow, over and over."""
        text = f"GET /{harness.ACCOUNT}{BIG} HTTP/1.1\r\nx-nothing: {'x' * 4000}".encode()
        at = 0
        while True:
            for each in self._unread:
                try:
                    await asyncio.wait_for(each.read(100), 0.001)
                except TimeoutError:
                    pass
            for number, each in enumerate(self._crowd):
                try:
                    if number % 3 == 1:
                        each.send(text[at:at + 1])
                    elif number % 3 == 2:
                        each.recv(100)
                except BlockingIOError:
                    pass
                except OSError:
                    self.note("dropped by the server")
                if number % 100 == 0:
                    await asyncio.sleep(0)
            at = (at + 1) % len(text)
            await asyncio.sleep(0.1)

    def memory_mib(self):
        status = pathlib.Path(f"/proc/{self.run.server.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def may_grow_mib(self):
        unread = min(len(self._unread) * UNREAD_DRIVE_MIB, UNREAD_OF_PEER_MIB)
        return self.work_mib + self.connections * EACH_KIB / 1024 + unread

    async def cycle(self, replies=REPLIES):
        before = self.memory_mib()
        await self.gather()
        await self.gather_drives()
        annoying = asyncio.create_task(self.annoy())
        acknowledged = self.report.acknowledged
        problems = await self.load_and_stop(replies)
        self.report.cycles += 1
        if self.report.acknowledged - acknowledged < replies:
            problems.append(f"only {self.report.acknowledged - acknowledged} replies beside {self.connections} connections")
        problems += await self.run.verify()
        after = self.memory_mib()
        self.report.notes.update(connections=self.connections, memory_mib=round(max(after, self.report.notes.get("memory_mib", 0))))
        if after - before > self.may_grow_mib():
            problems.append(f"{self.connections} connections: memory grew from {before:.0f} to {after:.0f} MiB, "
                            f"by more than {self.may_grow_mib():.0f}")
        annoying.cancel()
        for each in self._crowd:
            each.close()
        for each in self._drives:
            each.close()
        self._crowd, self._drives, self._unread = [], [], []
        self.run.standing_drives = 0
        return problems

    async def self_test(self):
        """A server that takes more memory than it may: it would have to shrink."""
        problems = await self.cycle()
        self.work_mib = -1000 - self.connections
        noticed = [complaint for complaint in await self.cycle() if "memory" in complaint]
        print(f"   too much memory: {noticed[0][:150] if noticed else 'NOT NOTICED'}", flush=True)
        return problems + ([] if noticed else ["too much memory went unnoticed"])
