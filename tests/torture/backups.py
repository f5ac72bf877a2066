"""Backups: a running server is backed up under load, again and again to the same place, and now and then the backup is killed in its
midst. What is restored from it must be what the clients were told up to the instant that was kept: no more and no less."""

import asyncio
import atexit
import copy
import datetime
import re
import shutil
import subprocess
import time

import harness
from azure.storage.blob import generate_container_sas
from client import Connection
from mode import Mode
from owner import Wrong

KILLED = 0.3  # of all backups
SLOWEST_BACKUP_S = 120
PATIENCE_S = 60
BOX = "backups"  # The container, where they go to one.


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:]


class Backups(Mode):
    name = "backup"

    def __init__(self, seed):
        super().__init__(seed)
        self.target, self.restored = self.run.scratch / "backup", self.run.scratch / "restored"
        self.model = None  # What the last whole backup has.
        self.other = None  # The server that it is on, where it is on one.

    def command(self, *words):
        return [harness.BINARY, *map(str, words)]

    def run_command(self, *words):
        done = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SLOWEST_BACKUP_S,
                              check=False)
        if done.returncode != 0:
            raise Wrong(f"kyanite {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-500:]}")
        return done.stdout

    def copy_of(self, crew):
        """As it is now, but for what all share: the server that copies come from, and the figures."""
        return copy.deepcopy(crew, {id(crew.source): crew.source, id(self.report): self.report})

    async def listed(self):
        """The list of the last whole backup."""
        path = self.target / "BACKUP"
        return path.read_bytes() if path.exists() else None

    async def clear_away(self):
        """What a backup that was killed leaves behind to keep others out."""

    async def spoil(self):
        """One bit of the largest extent of the backup."""
        extent = max((self.target / "files").glob("extents_*"), key=lambda path: path.stat().st_size)
        extent.write_bytes(flipped(extent.read_bytes()))

    async def back_up(self, load):
        """Keeps an instant in which no request is under way, so that the model of it is exact. The copying goes on under load."""
        await self.clear_away()
        before = await self.listed()
        async with load.gate.silence():
            process = await asyncio.create_subprocess_exec(*self.command("backup", self.target, "-l", self.run.location, "--rate", "0"),
                                                           stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
            async with asyncio.timeout(PATIENCE_S):
                line = await process.stdout.readline()
            model = self.copy_of(self.run.crew)
        killed = before is not None and self.random.random() < KILLED
        if killed:
            await asyncio.sleep(self.random.random() * 0.05)
            if process.returncode is None:
                process.kill()
        async with asyncio.timeout(SLOWEST_BACKUP_S):
            _, complaint = await process.communicate()
        if process.returncode != 0 and not killed:
            raise Wrong(f"the backup ended with {process.returncode}: {line.decode()}{complaint.decode()}")
        # One that was killed may just have come to its end.
        if await self.listed() != before:
            self.model = model
            self.note("backups")
        else:
            self.note("backups killed")

    async def cycle(self):
        async with self.run.load() as load:
            await load.replies(self.random.randrange(1, 1500))
            await self.back_up(load)
            if self.random.random() < 0.3:
                await asyncio.to_thread(self.run_command, "check", "-l", self.run.location, "--config", self.run.scratch / "config.json", "--rate", "0")
                self.note("checks under load")
            await load.replies(self.random.randrange(1, 300))
        problems = load.problems
        self.report.cycles += 1
        problems += await self.verify_restored(self.model)
        return problems + await self.run.verify()

    async def verify_restored(self, model):
        """Of the last whole backup, by a server of its own."""
        shutil.rmtree(self.restored, ignore_errors=True)
        self.run_command("restore", self.target, self.restored)
        self.run_command("check", "-l", self.restored, "--config", self.run.scratch / "config.json")
        run, live = self.run, (self.run.server, self.run.crew)
        run.server, run.crew = harness.Server(*run.flags(), location=str(self.restored)), self.copy_of(model)
        run.crew.promises.crashed = True  # What was written over SMB and not promised may be missing.
        began = time.monotonic()
        try:
            problems = await run.verify()
        finally:
            run.server.stop()
            run.server, run.crew = live
        self.note("seconds of verifying", round(time.monotonic() - began, 1))
        return [f"restored: {problem}" for problem in problems]

    async def self_test(self):
        """A backup of an earlier time is not taken for the last one, and damage in one is found."""
        if problems := await self.cycle():
            return problems
        await self.load_and_stop(300)
        if not await self.verify_restored(self.run.crew):
            return ["a backup that lacks the last writes went unnoticed"]
        await self.spoil()
        for words in (("restore", self.target, self.run.scratch / "another"), ("check", self.target)):
            try:
                self.run_command(*words)
            except Wrong:
                continue
            return [f"a wrong bit in a backup went unnoticed by kyanite {words[0]}"]
        return []


class FarBackups(Backups):
    """The same to a container of another server."""

    name = "far-backup"

    async def prepare(self):
        self.other = harness.Server()
        atexit.register(self.other.stop)
        expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
        sas = generate_container_sas(harness.ACCOUNT, BOX, account_key=harness.KEY, permission="racwdl", expiry=expiry)
        self.target = f"{self.other.blob_url}/{BOX}?{sas}"
        await self.at_other("PUT", "", {"restype": "container"})
        return await super().prepare()

    async def at_other(self, method, name, *rest):
        connection = Connection.to(self.other.blob_url, harness.ACCOUNT, harness.KEY)
        try:
            return await connection.request(method, f"/{BOX}{name}", *rest)
        finally:
            connection.close()

    async def listed(self):
        reply = await self.at_other("GET", "/BACKUP")
        return reply.body if reply.status == 200 else None

    async def clear_away(self):
        await self.at_other("PUT", "/lock", {"comp": "lease"}, {"x-ms-lease-action": "break", "x-ms-lease-break-period": "0"})

    async def spoil(self):
        listed = (await self.at_other("GET", "", {"restype": "container", "comp": "list", "prefix": "files/extents_"})).body.decode()
        sizes = zip(re.findall("<Name>([^<]*)</Name>", listed), map(int, re.findall(r"<Content-Length>(\d+)<", listed)))
        name = max(sizes, key=lambda each: each[1])[0]
        content = (await self.at_other("GET", f"/{name}")).body
        await self.at_other("PUT", f"/{name}", None, {"x-ms-blob-type": "BlockBlob"}, flipped(content))
