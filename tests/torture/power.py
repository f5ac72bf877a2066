"""Power cuts: the server is killed, and of what it had written since the last sync of each file some is taken back."""

import asyncio
import collections
import os
import pathlib
import struct
import time

from faults import Faults
from mode import Mode

HEADER = struct.Struct("<IIQQQQIIII")
MAGIC = 0x554E444F
BYTES, SYNC, CREATE, UNLINK, RENAME = 1, 2, 3, 4, 5
SECTOR = 512
LONGEST_UNSEEN_S = 10
UNSEEN_CODE = 97  # How the server ends then, see faults/unseen.cc.

Entry = collections.namedtuple("Entry", "number type inode offset length old_size names old")


def read_journal(path):
    data, at, entries = path.read_bytes(), 0, []
    while at + HEADER.size <= len(data):
        magic, kind, inode, offset, length, old_size, *lengths = HEADER.unpack_from(data, at)
        if magic != MAGIC:
            raise RuntimeError(f"the journal of the fault library is garbled at {at}")
        parts, end = [], at + HEADER.size
        for size in lengths:
            parts.append(data[end:end + size])
            end += size
        if end > len(data):
            break  # Killed in the midst of it, so the change was not made.
        entries.append(Entry(at, kind, inode, offset, length, old_size, [os.fsdecode(name) for name in parts[:3]], parts[3]))
        at = end
    return entries


def unsynced(entries):
    """Those that a power cut may lose: changes of bytes by file, changes of names by directory, in order."""
    files, directories = collections.defaultdict(list), collections.defaultdict(list)
    for entry in entries:
        if entry.type == SYNC:
            not_returned = set(struct.unpack(f"<{len(entry.old) // 8}Q", entry.old))
            for kind in (files, directories):
                kind[entry.inode] = [each for each in kind[entry.inode]
                                     if each.number >= entry.offset or each.number in not_returned]
        elif entry.type == BYTES:
            files[entry.inode].append(entry)
        else:
            if entry.type == CREATE:
                files[entry.offset] = []  # Another file had this inode before.
            directories[entry.inode].append(entry)
    return files, directories


class Loss:
    """Decides what a power cut takes back. `how`: everything that was not synced; a part of it, sector by sector, as disks and
    file systems write in any order; or of the last write its end."""

    HOW = ("everything", "some", "torn")

    def __init__(self, how, random):
        self.how, self._random = how, random
        self.bytes_lost = self.names_lost = 0

    def apply(self, files, directories, roots):
        paths = {path.stat().st_ino: path for root in roots for path in pathlib.Path(root).rglob("*") if path.is_file()}
        newest = max((entry for entries in files.values() for entry in entries), default=None, key=lambda entry: entry.number)
        for inode, entries in files.items():
            if inode in paths:
                self._take_back(paths[inode], entries, newest)
        for entries in directories.values():
            # File systems keep changes of names in order: the newest are lost.
            lost = {"everything": len(entries), "some": self._random.randint(0, len(entries)), "torn": 0}[self.how]
            for entry in reversed(entries[len(entries) - lost:]):
                self._undo_name(entry)

    def _take_back(self, path, entries, newest):
        kept = set()  # Sectors with something newer that reached the disk; so did all before it.
        with path.open("r+b") as file:
            for entry in reversed(entries):
                first, last = entry.offset // SECTOR, (entry.offset + entry.length - 1) // SECTOR
                sectors = range(first, last + 1) if entry.length else range(0)
                if self.how == "torn":
                    arrived = set(sectors)
                    if entry is newest and len(sectors) > 1:
                        arrived -= set(sectors[self._random.randrange(1, len(sectors)):])
                elif self.how == "some":
                    chance = self._random.choice((0, 1, 0.5, 0.9))
                    arrived = {sector for sector in sectors if self._random.random() < chance}
                else:
                    arrived = set()
                kept |= arrived
                self._undo_bytes(file, entry, [sector for sector in sectors if sector not in kept], kept)

    def _undo_bytes(self, file, entry, sectors, kept):
        size = os.fstat(file.fileno()).st_size
        end = entry.offset + entry.length
        for sector in sectors:
            begin, until = max(sector * SECTOR, entry.offset), min((sector + 1) * SECTOR, end)
            old = entry.old[begin - entry.offset:until - entry.offset] if entry.old else b""
            until = min(until, max(size, entry.old_size))
            if until <= begin:
                continue
            file.seek(begin)
            file.write(old[:until - begin].ljust(until - begin, b"\0"))
            self.bytes_lost += until - begin
        file.flush()
        size_lost = self.how == "everything" or (self.how == "some" and self._random.random() < 0.5)
        if size_lost and not any(sector * SECTOR >= entry.old_size - SECTOR + 1 for sector in kept):
            os.truncate(file.fileno(), entry.old_size)

    def _undo_name(self, entry):
        first, second, third = entry.names
        self.names_lost += 1
        if entry.type == CREATE:
            if os.path.exists(first) and os.stat(first).st_ino == entry.offset:
                os.unlink(first)
        elif entry.type == UNLINK:
            if not os.path.exists(first):
                os.link(second, first)
        elif not os.path.exists(first) and os.path.exists(second):
            os.rename(second, first)
            if third:
                os.link(third, second)


class PowerCut(Mode):
    name = "power-cut"

    def __init__(self, seed):
        super().__init__(seed)
        self.faults = Faults(self.run, journal=True)

    def cut(self, how):
        """What the disk is after the power went. The server is dead already."""
        entries = read_journal(self.faults.journal)
        files, directories = unsynced(entries)
        loss = Loss(how, self.random)
        loss.apply(files, directories, [self.run.location, self.faults.keep])
        self.note("bytes lost", loss.bytes_lost)
        self.note("names lost", loss.names_lost)
        self.note("unsynced writes", sum(map(len, files.values())))
        for kept in self.faults.keep.iterdir():
            kept.unlink()
        os.truncate(self.faults.journal, 0)

    async def cycle(self):
        problems = await self.run.load_and_kill()
        self.report.cycles += 1
        if self.random.random() < 0.2:
            await self.run.kill_while_starting()
        self.cut(self.random.choice(Loss.HOW))
        if self.random.random() < 0.2:
            await self.run.kill_while_starting()
            self.cut(self.random.choice(Loss.HOW))
        self.run.start()
        return problems + await self.run.verify()

    async def self_test(self):
        """A disk that says synced and has nothing must cost acknowledged writes."""
        problems = await self.cycle()
        self.faults["lie"] = 1
        await self.run.load_and_kill()
        self.cut("everything")
        try:
            self.run.start()
            noticed = await self.run.verify()
        except RuntimeError as error:
            noticed = [str(error)]
        print(f"   a disk that lies: {noticed[0][:150] if noticed else 'NOT NOTICED'}", flush=True)
        return problems + ([] if noticed else ["syncs that did nothing went unnoticed"]) + await self.write_unseen()

    async def write_unseen(self):
        """A server that writes by a call which the fault library does not know must not get away with it."""
        self.run.abandon()
        self.faults.set(lie=0, writes=0)
        self.run.environment["KYANITE_FAULTS_PLANT_UNSEEN"] = "1"
        self.run.start()
        async with self.run.load():  # What the clients find wrong does not matter: the disk has lied to them.
            until = time.monotonic() + LONGEST_UNSEEN_S
            while self.run.server.process.poll() is None and time.monotonic() < until:
                await asyncio.sleep(0.02)
        noticed = self.faults["unseen"] == 1 and self.run.server.process.poll() == UNSEEN_CODE
        print(f"   a write past the fault library: {self.run.server.log().splitlines()[-1] if noticed else 'NOT NOTICED'}", flush=True)
        self.faults["unseen"] = 0
        return [] if noticed else ["a write that the fault library did not see went unnoticed"]
