"""Drives under torture: clients that have files open over SMB, and work on the same files over REST meanwhile.

What is written through a handle is promised by FLUSH, by CLOSE, by a WRITE that is written through, and by whatever REST shows or
changes of the file. Until then a crash may take it, but only everything since some instant: a later write is never there without
an earlier one of the same file. So of every file the model has all contents since the last that was promised, in order, and after
a crash it must have one of them. Names, renames and deletions are promised by their replies.
"""

import dataclasses
import os

import smb_client as smb
from files import DIRECTORY, SHARE, difference, read_tree
from owner import Owner, Wrong, expect

MOST_ENTRIES = 16
MOST_HANDLES = 5
MOST_UNPROMISED = 12  # Contents of one file.
LONGEST = 200_000
LARGE = 64 * 1024  # From here on a write is in extents before its file knows of it.


@dataclasses.dataclass
class Promises:
    """What the server promises now, and whether one before it may have broken off."""

    every_write: bool = False
    crashed: bool = False


@dataclasses.dataclass
class Handle:
    file: bytes
    guid: bytes | None = None  # Of a handle that survives its connection,
    key: bytes = b""  # and of its lease.


def written(content, offset, data):
    return content[:offset].ljust(offset, b"\0") + data + content[offset + len(data):]


def without(world, path):
    return {other: contents for other, contents in world.items() if other != path}


class DriveClient(Owner):
    """The state is the tree: by path the contents that the file may have after a crash, the last of them what it has without
    one."""

    def __init__(self, number, report, promises):
        super().__init__(f"drive{number:02}", report, {})
        self._promises = promises
        self._handles = {}  # By path.
        self._next = 0

    async def create(self, connection):
        await expect(connection.rest, 201, "PUT", f"/{SHARE}/{self.name}", {"restype": "directory"})

    async def run(self, connection, random):
        self._handles = {}
        try:
            await super().run(connection, random)
        finally:
            connection.close()

    async def step(self, ends, random):
        await random.choice((
            self.make, self.make, self.make_directory, self.write, self.write, self.write, self.write, self.write, self.write,
            self.write_through, self.resize, self.zero, self.flush, self.close, self.close, self.empty, self.rename, self.rename,
            self.rename_directory, self.delete, self.delete_on_close, self.hang_up, self.read, self.list, self.put_range,
            self.get))(ends, random)

    # --- What changes are made of ---

    async def _done(self, reply, what, status="SUCCESS"):
        if reply.status != status:
            raise Wrong(f"{self.name}: {what}: {reply.status}, not {status}")
        return reply

    async def _change(self, after, sending, what):
        """Sends a change that must be accepted."""
        self.pending = [after]
        reply = await self._done(await sending, what)
        self._settle(after)
        return reply

    def _settle(self, after):
        self.pending, self.state = [], after
        self._acknowledged()

    def _acknowledged(self, what="changes over SMB"):
        self._report.acknowledged += 1
        self._report.notes[what] = self._report.notes.get(what, 0) + 1

    def _newest(self, path):
        return self.state[path][-1]

    def _promised(self, path):
        """The file has what it has, whatever happens."""
        self.state = {**self.state, path: self.state[path][-1:]}

    def _files(self):
        return sorted(path for path, contents in self.state.items() if contents is not DIRECTORY)

    def _directories(self):
        return [self.name] + sorted(path for path, contents in self.state.items() if contents is DIRECTORY)

    def _fresh(self, random):
        self._next += 1
        return f"{random.choice(self._directories())}/{random.choice('abc')}{self._next}"

    async def _opened(self, ends, path, random, lasting=True):
        """A handle of the file, which is open already or is opened; one that survives its connection only if it is `lasting`."""
        if path not in self._handles:
            for other in sorted(self._handles)[:max(0, len(self._handles) - MOST_HANDLES + 1)]:
                await self._close(ends, other)
            self._handles[path] = await self._open(ends, path, random, smb.OPEN, lasting=lasting)
        return self._handles[path].file

    async def _open(self, ends, path, random, disposition, options=0, lasting=True):
        handle = Handle(b"")
        if lasting and random.random() < 0.3:
            handle.guid, handle.key = os.urandom(16), os.urandom(16)
        contexts = [smb.durable(handle.guid), smb.lease(handle.key)] if handle.guid else []
        options |= smb.NON_DIRECTORY_FILE
        reply = await self._done(await ends.drive.create(path, disposition=disposition, options=options, contexts=contexts),
                                 f"opening {path}")
        handle.file = reply.file
        if disposition == smb.OPEN and reply.length != len(self._newest(path)):
            raise Wrong(f"{path} has {reply.length} bytes when it is opened, not {len(self._newest(path))}")
        return handle

    async def _close(self, ends, path):
        handle = self._handles.pop(path)
        await self._done(await ends.drive.close_file(handle.file), f"closing {path}")
        self._promised(path)

    # --- Changes ---

    async def make(self, ends, random):
        if len(self.state) < MOST_ENTRIES:
            path = self._fresh(random)
            self.pending = [{**self.state, path: (b"",)}]
            handle = await self._open(ends, path, random, smb.CREATE_NEW)
            self._settle({**self.state, path: (b"",)})
            self._handles[path] = handle

    async def make_directory(self, ends, random):
        if len(self.state) < MOST_ENTRIES:
            path = self._fresh(random)
            reply = await self._change({**self.state, path: DIRECTORY}, ends.drive.create(
                path, disposition=smb.CREATE_NEW, options=smb.DIRECTORY_FILE), f"making {path}")
            await self._done(await ends.drive.close_file(reply.file), f"closing {path}")

    async def _alter(self, path, content, sending, what, promised=False):
        """A change of one file's content."""
        after = {**self.state, path: (*self.state[path], content)}
        await self._change(after, sending, f"{what} {path}")
        if promised:
            self._promised(path)

    async def write(self, ends, random, through=False):
        if not self._files():
            return
        path = random.choice(self._files())
        if len(self.state[path]) > MOST_UNPROMISED:
            await self._flush(ends, path, random)
        file = await self._opened(ends, path, random)
        content = self._newest(path)
        length = random.randrange(LARGE, LONGEST) if random.random() < 0.1 else random.randrange(1, 9000)
        offset = min(random.randrange(len(content) + 5000), LONGEST)
        data = random.randbytes(length)
        await self._alter(path, written(content, offset, data), ends.drive.write(file, offset, data, through), "writing to",
                          promised=through or self._promises.every_write)

    async def write_through(self, ends, random):
        await self.write(ends, random, through=True)

    async def resize(self, ends, random):
        if self._files():
            path = random.choice(self._files())
            file = await self._opened(ends, path, random)
            length = random.randrange(2 * len(self._newest(path)) + 100) % LONGEST
            content = self._newest(path)[:length].ljust(length, b"\0")
            await self._alter(path, content, ends.drive.set_length(file, length), "resizing")

    async def zero(self, ends, random):
        files = [path for path in self._files() if self._newest(path)]
        if files:
            path = random.choice(files)
            file = await self._opened(ends, path, random)
            begin = random.randrange(len(self._newest(path)))
            end = random.randrange(begin, len(self._newest(path))) + 1
            await self._alter(path, written(self._newest(path), begin, bytes(end - begin)), ends.drive.zero(file, begin, end),
                              "zeros in")

    async def flush(self, ends, random):
        if self._handles:
            await self._flush(ends, random.choice(sorted(self._handles)), random)

    async def _flush(self, ends, path, random):
        file = await self._opened(ends, path, random)
        await self._done(await ends.drive.flush(file), f"flushing {path}")
        self._promised(path)
        self._acknowledged("flushes")

    async def close(self, ends, random):
        if self._handles:
            await self._close(ends, random.choice(sorted(self._handles)))
            self._acknowledged("closes")

    async def empty(self, ends, random):
        """By opening it anew."""
        if self._files():
            path = random.choice(self._files())
            disposition = random.choice((smb.OVERWRITE, smb.OVERWRITE_IF, smb.SUPERSEDE))
            if path in self._handles:
                await self._close(ends, path)
            self.pending = [{**self.state, path: (*self.state[path], b"")}]
            self._handles[path] = await self._open(ends, path, random, disposition)
            self._settle({**self.state, path: (b"",)})

    async def rename(self, ends, random):
        """A file, to a fresh name or over another one."""
        if not self._files():
            return
        source = random.choice(self._files())
        others = [path for path in self._files() if path != source]
        replaces = bool(others) and random.random() < 0.4
        target = random.choice(others) if replaces else self._fresh(random)
        file = await self._opened(ends, source, random)
        if target in self._handles:
            await self._close(ends, target)
        after = {**without(self.state, source), target: self.state[source]}
        await self._change(after, ends.drive.rename(file, target, replaces), f"renaming {source} to {target}")
        self._handles[target] = self._handles.pop(source)

    async def rename_directory(self, ends, random):
        """With all below it, of which nothing may be open."""
        if len(self._directories()) < 2:
            return
        source, target = random.choice(self._directories()[1:]), self._fresh(random)
        if target.startswith(f"{source}/"):
            return
        for path in [path for path in self._handles if path.startswith(f"{source}/")]:
            await self._close(ends, path)
        opened = await self._done(await ends.drive.create(source, options=smb.DIRECTORY_FILE), f"opening {source}")
        after = {target + path[len(source):] if path == source or path.startswith(f"{source}/") else path: contents
                 for path, contents in self.state.items()}
        await self._change(after, ends.drive.rename(opened.file, target), f"renaming {source} to {target}")
        await self._done(await ends.drive.close_file(opened.file), f"closing {target}")

    def _may_go(self):
        return [path for path in sorted(self.state) if not any(other.startswith(f"{path}/") for other in self.state)]

    async def delete(self, ends, random):
        """A file or an empty directory: marked, and gone with its last handle. Should the connection end before, the server
        closes the handle, so the mark may be enough."""
        if not self._may_go():
            return
        path = random.choice(self._may_go())
        if self.state[path] is DIRECTORY:
            file = (await self._done(await ends.drive.create(path, options=smb.DIRECTORY_FILE), f"opening {path}")).file
        else:
            if path in self._handles and self._handles[path].guid:
                await self._close(ends, path)
            file = await self._opened(ends, path, random, lasting=False)
            del self._handles[path]
        self.pending = [without(self.state, path)]
        await self._done(await ends.drive.set_deletion(file), f"marking {path}")
        if random.random() < 0.3:
            await self._done(await ends.drive.set_deletion(file, False), f"keeping {path}")
            self.pending = []
            await self._done(await ends.drive.close_file(file), f"closing {path}")
            if self.state[path] is not DIRECTORY:
                self._promised(path)
            return
        await self._change(without(self.state, path), ends.drive.close_file(file), f"closing {path}")

    async def delete_on_close(self, ends, random):
        if not self._files():
            return
        path = random.choice(self._files())
        if path in self._handles:
            await self._close(ends, path)
        gone = without(self.state, path)
        self.pending = [gone]
        handle = await self._open(ends, path, random, smb.OPEN, smb.DELETE_ON_CLOSE, lasting=False)
        if random.random() < 0.5:
            content = written(self._newest(path), 0, random.randbytes(100))
            self.pending = [gone, {**self.state, path: (*self.state[path], content)}]
            await self._done(await ends.drive.write(handle.file, 0, content[:100]), f"writing to {path}")
            self.state = self.pending[1]
        await self._change(gone, ends.drive.close_file(handle.file), f"closing {path}")

    async def hang_up(self, ends, random):
        """Loses the connection and comes back; handles that can survive that do, with all that was written through them."""
        if random.random() < 0.7:
            return
        before, handles, self._handles = ends.drive.session, self._handles, {}
        if not before:
            return
        ends.drive.close()
        await ends.drive.open(before)
        for path, handle in handles.items():
            if not handle.guid:
                continue
            reply = await ends.drive.create(path, contexts=[smb.reconnect(handle.file, handle.guid), smb.lease(handle.key)])
            if reply.ok:
                handle.file = reply.file
                self._handles[path] = handle
                self._acknowledged("handles regained")
            elif reply.status != "OBJECT_NAME_NOT_FOUND":  # It had lost its lease before.
                raise Wrong(f"{self.name}: coming back to {path}: {reply.status}")

    async def put_range(self, ends, random):
        """Over REST, whatever is open. What was written before is stored with it."""
        files = [path for path in self._files() if self._newest(path)]
        if not files:
            return
        path = random.choice(files)
        start = random.randrange(len(self._newest(path)))
        data = random.randbytes(random.randrange(1, min(len(self._newest(path)) - start, 5000) + 1))
        after = {**self.state, path: (*self.state[path], written(self._newest(path), start, data))}
        self.pending = [after]
        await expect(ends.rest, 201, "PUT", f"/{SHARE}/{path}", {"comp": "range"}, {
            "x-ms-write": "update", "x-ms-range": f"bytes={start}-{start + len(data) - 1}"}, data)
        self._settle(after)
        self._promised(path)

    # --- Reading ---

    async def read(self, ends, random):
        if self._handles:
            path = random.choice(sorted(self._handles))
            if await ends.drive.read_all(self._handles[path].file) != self._newest(path):
                raise Wrong(f"{path} does not read as it was written")

    async def get(self, ends, random):
        """What REST shows is stored."""
        if self._files():
            path = random.choice(self._files())
            if (await expect(ends.rest, 200, "GET", f"/{SHARE}/{path}")).body != self._newest(path):
                raise Wrong(f"{path} does not read over REST as it was written over SMB")
            self._promised(path)

    async def list(self, ends, random):
        directory = random.choice(self._directories())
        seen = {f"{directory}/{name}": None if is_directory else length
                for name, is_directory, length in await list_directory(ends.drive, directory)}
        wanted = {path: None if contents is DIRECTORY else len(contents[-1])
                  for path, contents in self.state.items() if path.rpartition("/")[0] == directory}
        if seen != wanted:
            raise Wrong(f"{directory} lists {seen}, not {wanted}")

    async def observe(self, connection):
        seen = await read_tree(connection.rest, self.name)
        if await read_drive(connection.drive, self.name) != seen:
            raise Wrong(f"{self.name}: SMB and REST do not show the same")
        return seen

    def shown(self, state):
        return newest(state)

    async def check(self, connection):
        seen = await self.observe(connection)
        worlds, self.pending, before = [self.state, *self.pending], [], self.state
        self.state = {path: DIRECTORY if content is DIRECTORY else (content,) for path, content in seen.items()}
        if any(self._fits(world, seen) for world in worlds):
            return None
        return f"{self.name} {'after a crash' if self._promises.crashed else 'without a crash'}: " + "; or ".join(
            misfit(world, seen) for world in worlds)

    def _fits(self, world, seen):
        if world.keys() != seen.keys():
            return False
        oldest = 0 if self._promises.crashed else -1
        return all(seen[path] is DIRECTORY if contents is DIRECTORY else seen[path] in contents[oldest:]
                   for path, contents in world.items())


def newest(world):
    """By path what the file has without a crash."""
    return {path: DIRECTORY if contents is DIRECTORY else contents[-1] for path, contents in world.items()}


def misfit(world, seen):
    """How a tree is not what it may be, in words."""
    latest = newest(world)
    ages = {path: f"{len(world[path]) - 1 - world[path].index(content)} writes behind" if content in world[path] else "as it never was"
            for path, content in seen.items() if world.get(path) and content != latest[path]}
    return f"{difference(seen, latest)} {ages}"


async def list_directory(drive, path):
    opened = await drive.create(path, access=smb.READ_DATA | smb.READ_ATTRIBUTES, options=smb.DIRECTORY_FILE)
    if not opened.ok:
        raise Wrong(f"opening {path}: {opened.status}")
    found = await drive.list(opened.file)
    await drive.close_file(opened.file)
    if isinstance(found, smb.Reply):
        raise Wrong(f"listing {path}: {found.status}")
    return found


async def read_drive(drive, path):
    """As read_tree(), over SMB."""
    tree = {}
    for name, is_directory, length in await list_directory(drive, path):
        below = f"{path}/{name}"
        if is_directory:
            tree[below] = DIRECTORY
            tree.update(await read_drive(drive, below))
            continue
        opened = await drive.create(below, access=smb.READ_DATA)
        tree[below] = await drive.read_all(opened.file) if opened.ok else opened.status
        if opened.ok:
            await drive.close_file(opened.file)
        if len(tree[below]) != length:
            raise Wrong(f"{below} is listed with {length} bytes and has {len(tree[below])}")
    return tree
