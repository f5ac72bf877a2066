"""What runs in the kernel that kernel.py boots, as its first process: mounts a share and does with it what programs do.

The root of the guest is the host's, read-only. What it tells goes out on the console, a line each: "ok WAY CHECK", "FAIL WAY
CHECK: WHY", and "ask WORD" for what only the host can do, which answers with a line."""

import calendar
import ctypes
import errno
import fcntl
import hashlib
import mmap
import os
import random
import struct
import time
import traceback

import kernel_rare
from kernel_mount import QUOTA_GIB, Mounted, Wrong, ask, at_once, fails, libc, same, start_machine, within

# How the share is mounted, by the names under which the checks are told.
WAYS = {
    "2.1": "vers=2.1",
    "3.0": "vers=3.0",
    "3.0-seal": "vers=3.0,seal",
    "3.1.1": "vers=3.1.1",
    "3.1.1-seal": "vers=3.1.1,seal",
    "3.1.1-none": "vers=3.1.1,cache=none",
    "3.1.1-loose": "vers=3.1.1,cache=loose",
}
# What is done in every way, and what is done in one.
EVERYWHERE = ["files", "append", "truncate", "rename", "unlink", "directories"]
ONCE = ["many_names", "names", "locks", "mapped", "two_mounts", "open_files_seen_elsewhere", "held_handles", "space",
        "holes", "copy_range", "times", "directory_times", "random_changes", "appenders", "winners", "counter",
        "replaced_while_open", "strange_names", "deep", "changing_listing", "kinds_of_locks", "far_offsets", "subfolder", "rest", "rest_and_locks", "snapshot",
        "killed_server", *kernel_rare.CHECKS]
FULL_WAY = "3.1.1"
CHECKS = [(way, check) for way in WAYS for check in EVERYWHERE + (ONCE if way == FULL_WAY else [])]

# --- Checks: what is done in a directory, seen by one mount as `here` and by another as `there` ---

def files(here, there):
    data = os.urandom(300_000)
    (here / "file").write_bytes(data)
    same((here / "file").read_bytes(), data, "what was written")
    same((there / "file").read_bytes(), data, "what the other mount reads")
    with open(here / "file", "r+b") as file:
        file.seek(100_001)
        file.write(b"middle")
    same((there / "file").read_bytes(), data[:100_001] + b"middle" + data[100_007:], "what was changed in the middle")
    same((here / "file").stat().st_size, len(data), "the length")
    (here / "file").unlink()


def append(here, there):
    for i in range(20):
        with open(here / "log", "a") as file:
            file.write(f"line {i}\n")
    same((there / "log").read_text(), "".join(f"line {i}\n" for i in range(20)), "the lines")
    (here / "log").unlink()


def truncate(here, there):
    (here / "file").write_bytes(b"x" * 10_000)
    for size in (5_000, 0, 70_000):
        os.truncate(here / "file", size)
        same((there / "file").stat().st_size, size, "the length")
    same((there / "file").read_bytes(), bytes(70_000), "what a longer file has")
    (here / "file").unlink()


def rename(here, there):
    (here / "a").write_text("a")
    (here / "b").write_text("b")
    os.rename(here / "a", here / "c")
    same((there / "c").read_text(), "a", "the renamed file")
    os.rename(here / "c", here / "b")
    same(sorted(os.listdir(there)), ["b"], "what is left")
    same((there / "b").read_text(), "a", "what replaced the other")
    (here / "full").mkdir()
    (here / "full" / "inner").write_text("inner")
    os.rename(here / "full", here / "moved")
    same((there / "moved" / "inner").read_text(), "inner", "what was in a directory that moved")
    fails(errno.ENOENT, os.rename, here / "none", here / "b")
    (here / "moved" / "inner").unlink()
    (here / "moved").rmdir()
    (here / "b").unlink()


def unlink(here, there):
    (here / "file").write_text("still here")
    with open(here / "file") as file:
        (here / "file").unlink()
        same(file.read(), "still here", "what is open and removed")
    within(10, "the name is gone", lambda: not (there / "file").exists())
    fails(errno.ENOENT, os.unlink, here / "file")


def directories(here, there):
    (here / "one" / "two" / "three").mkdir(parents=True)
    fails(errno.EEXIST, os.mkdir, here / "one")
    fails(errno.ENOTEMPTY, os.rmdir, here / "one")
    same(os.listdir(there / "one" / "two"), ["three"], "what the other mount lists")
    for name in ("one/two/three", "one/two", "one"):
        (here / name).rmdir()
    same(os.listdir(here), [], "what is left")


def many_names(here, there):
    names = {f"name-{i:04}" for i in range(2_000)}
    for name in names:
        (here / name).touch()
    same(set(os.listdir(there)), names, "the listing")
    with os.scandir(there) as entries:
        same(len({entry.inode() for entry in entries}), 2_000, "the number of inodes")
    for name in names:
        (here / name).unlink()
    same(os.listdir(there), [], "the listing in the end")


def names(here, there):
    wanted = ["ä ö ü", "with space", "UPPER", "dots..in..it", "日本", "x" * 200]
    for name in wanted:
        (here / name).write_text(name)
    same(sorted(os.listdir(there)), sorted(wanted), "the names")
    same((there / "upper").read_text(), "UPPER", "a name in another case")
    for name in wanted:
        (here / name).unlink()


def locks(here, there):
    (here / "file").write_bytes(bytes(100))
    with open(here / "file", "r+b") as mine, open(there / "file", "r+b") as theirs:
        fcntl.lockf(mine, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
        fails(errno.EACCES, fcntl.lockf, theirs, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
        fcntl.lockf(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
        fcntl.lockf(mine, fcntl.LOCK_UN, 10, 0)
        fcntl.lockf(theirs, fcntl.LOCK_SH | fcntl.LOCK_NB, 10, 0)
        # One that waits gets it as soon as it is free.
        waiting = os.fork()
        if waiting == 0:
            fcntl.lockf(mine, fcntl.LOCK_EX, 10, 0)
            os._exit(0)
        fcntl.lockf(theirs, fcntl.LOCK_UN, 10, 0)
        same(os.waitpid(waiting, 0)[1], 0, "how the one that waited ended")
    (here / "file").unlink()


def mapped(here, there):
    (here / "file").write_bytes(b"." * 20_000)
    with open(here / "file", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[8_190:8_200] = b"0123456789"
        memory.flush()
        same(memory[:3], b"...", "what is mapped")
    same((there / "file").read_bytes()[8_189:8_201], b".0123456789.", "what was written by way of memory")
    (here / "file").unlink()


def two_mounts(here, there):
    for i in range(30):
        one, other = (here, there) if i % 2 else (there, here)
        (one / "ping").write_text(f"{i}")
        same((other / "ping").read_text(), f"{i}", "what the other has just written")
    (here / "ping").unlink()
    within(10, "the other sees that it is gone", lambda: not (there / "ping").exists())


def open_files_seen_elsewhere(here, there):
    with open(here / "file", "wb", buffering=0) as writer:
        writer.write(b"first")
        os.fsync(writer)
        with open(there / "file", "rb", buffering=0) as reader:
            same(reader.read(100), b"first", "what is flushed")
            writer.write(b" second")
            os.fsync(writer)
            within(10, "what was written later", lambda: os.pread(reader.fileno(), 100, 0) == b"first second")
    (here / "file").unlink()


def held_handles(here, there):
    """The client keeps handles for a second after programs have closed them: nobody else may notice."""
    (here / "kept").mkdir()
    (here / "kept" / "file").write_text("x")
    same((here / "kept" / "file").read_text(), "x", "what was written")
    os.rename(there / "kept", there / "moved")
    same((here / "moved" / "file").read_text(), "x", "what moved")
    (there / "moved" / "file").unlink()
    (there / "moved").rmdir()
    within(10, "the first mount sees that it is gone", lambda: not (here / "moved").exists())


def space(here, _):
    about = os.statvfs(here)
    same(about.f_frsize * about.f_blocks, QUOTA_GIB << 30, "the size of the share")
    free = about.f_bavail
    with open(here / "large", "wb") as file:
        file.write(os.urandom(8 << 20))
    within(15, "there is less room", lambda: os.statvfs(here).f_bavail < free)
    (here / "large").unlink()
    with open(here / "too-large", "wb") as file:
        fails(errno.ENOSPC, write_beyond, file, QUOTA_GIB << 30)
    (here / "too-large").unlink()


def write_beyond(file, offset):
    os.pwrite(file.fileno(), b"x" * 4096, offset)
    os.fsync(file)


def holes(here, there):
    with open(here / "file", "wb") as file:
        file.seek(1 << 20)
        file.write(b"end")
    same((there / "file").read_bytes(), bytes(1 << 20) + b"end", "a file with a hole")
    with open(here / "file", "r+b") as file:
        file.write(b"y" * 100_000)
        file.flush()
        punch = libc.fallocate64 if hasattr(libc, "fallocate64") else libc.fallocate
        punch.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
        if punch(file.fileno(), 3, 10_000, 20_000) != 0:  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
            # Sparse files are not offered, so that the client may refuse; but then it must not do it either.
            same(ctypes.get_errno(), errno.EOPNOTSUPP, "the error")
            expected = b"y" * 100_000
        else:
            expected = b"y" * 10_000 + bytes(20_000) + b"y" * 70_000
    same((there / "file").read_bytes()[:100_000], expected, "what is left around a hole")
    (here / "file").unlink()


def copy_range(here, there):
    data = os.urandom(3 << 20)
    (here / "from").write_bytes(data)
    with open(here / "from", "rb") as source, open(here / "to", "wb") as target:
        done = 0
        while done < len(data):
            copied = os.copy_file_range(source.fileno(), target.fileno(), len(data) - done)
            if copied == 0:
                raise Wrong("nothing more is copied")
            done += copied
    same((there / "to").read_bytes(), data, "the copy")
    (here / "from").unlink()
    (here / "to").unlink()


def times(here, there):
    (here / "file").write_text("x")
    os.utime(here / "file", (1_000_000_000, 1_100_000_000))
    same(int((there / "file").stat().st_mtime), 1_100_000_000, "the time that was set")
    before = (here / "file").stat().st_mtime
    (here / "file").write_text("y")
    within(10, "a write makes it newer", lambda: (there / "file").stat().st_mtime > before)
    (here / "file").unlink()


def directory_times(here, there):
    """They tell what came, went and was moved, and stay as somebody set them."""
    for name in ("one", "two"):
        (here / name).mkdir()
    file = here / "one" / "file"
    changes = (("making a file", lambda: file.write_text("x"), ("one",)),
               ("making a directory", (here / "one" / "folder").mkdir, ("one",)),
               ("moving", lambda: file.rename(here / "two" / "file"), ("one", "two")),
               ("removing", (here / "two" / "file").unlink, ("two",)),
               ("removing a directory", (here / "one" / "folder").rmdir, ("one",)))
    for what, change, changed in changes:
        for name in ("one", "two"):
            os.utime(here / name, (1_000_000_000, 1_100_000_000))
        change()
        for mount in (here, there):
            for name in changed:
                within(10, f"{what} is told by {name}", lambda: (mount / name).stat().st_mtime > 1_200_000_000)
        for name in {"one", "two"} - set(changed):
            same(int((there / name).stat().st_mtime), 1_100_000_000, f"after {what} the time of {name}")
    for name in ("one", "two"):
        (here / name).rmdir()


def random_changes(here, there):
    """Reads, writes, cuts and mapped memory in any order, compared with bytes in memory; now and then by the other mount."""
    for seed in range(4):
        dice, wanted, steps = random.Random(seed), bytearray(), []
        file = os.open(here / "file", os.O_RDWR | os.O_CREAT)

        def put(offset, data):
            wanted.extend(bytes(max(0, offset - len(wanted))))
            wanted[offset:offset + len(data)] = data

        for _ in range(120):
            act = dice.choice(("write", "write", "read", "cut", "map", "copy", "other reads", "other writes", "sync"))
            offset, length = dice.randrange(500_000), dice.choice((1, 512, 5_000, 70_000, 200_000))
            steps = [*steps[-3:], (act, offset, length)]
            if act == "write":
                data = dice.randbytes(length)
                os.pwrite(file, data, offset)
                put(offset, data)
            elif act == "cut":
                os.ftruncate(file, offset)
                put(offset, b"")
                del wanted[offset:]
            elif act == "map" and len(wanted) > length:
                offset %= len(wanted) - length
                data = dice.randbytes(length)
                with mmap.mmap(file, len(wanted)) as memory:
                    memory[offset:offset + length] = data
                put(offset, data)
            elif act == "copy" and len(wanted) > 2 * length:
                source, target = dice.randrange(length), len(wanted) - length
                os.fsync(file)
                copied = os.copy_file_range(file, file, min(length, target - source), source, target)
                put(target, bytes(wanted[source:source + copied]))
            elif act == "other reads":
                os.fsync(file)
                same((there / "file").read_bytes() == wanted, True, f"what the other reads is right (seed {seed}: {steps})")
            elif act == "other writes":
                data = dice.randbytes(length)
                os.close(file)
                with open(there / "file", "r+b", buffering=0) as other:
                    os.pwrite(other.fileno(), data, offset)
                put(offset, data)
                file = os.open(here / "file", os.O_RDWR)
            elif act == "sync":
                os.fsync(file)
            same(os.pread(file, length, offset) == wanted[offset:offset + length], True, f"what is read is right (seed {seed}: {steps})")
        os.close(file)
        same((here / "file").read_bytes() == wanted, True, f"the file is right in the end (seed {seed})")
        same(ask(f"hash {here.name}/file"), hashlib.sha256(wanted).hexdigest(), f"what the server has in the end (seed {seed})")
        # The other mount may not know yet that the file is shorter: the client keeps the greater length while a handle for writing
        # waits to be closed. With Samba the same seeds end with the same lengths.
        same((there / "file").read_bytes()[:len(wanted)] == wanted, True, f"to the other it begins as it should (seed {seed})")
        (here / "file").unlink()


def appenders(here, there):
    """What one appends comes behind what the other has appended, by turns."""
    (here / "log").touch()
    for i in range(40):
        for who in (here, there):
            with open(who / "log", "ab", buffering=0) as file:
                file.write(f"{who == here} {i}\n".encode())
    same((here / "log").read_text(), "".join(f"True {i}\nFalse {i}\n" for i in range(40)), "the lines")
    (here / "log").unlink()


def winners(here, there):
    """Of several who make a file that must not be there one succeeds."""
    def make(base):
        won = 0
        for i in range(60):
            try:
                os.close(os.open(base / f"name-{i}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                won += 1
            except FileExistsError:
                pass
        return won
    same(sum(at_once(*(lambda base=base: make(base) for base in (here, there, here, there)))), 60, "the number that were made")
    for i in range(60):
        (here / f"name-{i}").unlink()


def counter(here, there):
    """Who has the lock counts one further than whoever had it before, on whichever mount."""
    (here / "file").write_text("0")

    def count(base):
        for _ in range(40):
            with open(base / "file", "r+") as file:
                fcntl.lockf(file, fcntl.LOCK_EX)
                number = int(file.read())
                file.seek(0)
                file.write(str(number + 1))
                file.flush()
                os.fsync(file)
                fcntl.lockf(file, fcntl.LOCK_UN)
        return 40
    same(sum(at_once(lambda: count(here), lambda: count(there), lambda: count(here))), 120, "the number of counts")
    same((there / "file").read_text(), "120", "the count")
    (here / "file").unlink()


def replaced_while_open(here, there):
    """Windows does not replace a file that is open: the one that was to take its place is still there."""
    for holder in (here, there):
        (here / "new").write_text("new")
        (here / "old").write_text("old")
        with open(holder / "old") as file:
            fails(errno.EACCES, os.rename, here / "new", here / "old")
            same(file.read(), "old", "what is open")
        same((here / "new").read_text(), "new", "what was not renamed")
        # The client has removed the other one, which goes when it is closed.
        within(10, "the name is free", lambda: not (there / "old").exists())
        os.rename(here / "new", here / "old")
        within(10, "the other sees the new one", lambda: (there / "old").exists())
        same((there / "old").read_text(), "new", "what was renamed")
        (here / "old").unlink()


def strange_names(here, there):
    letters = [chr(code) for code in range(1, 0x7F) if chr(code) not in "/\\"]
    wanted = [f"a{letter}b" for letter in letters if not letter.isupper()]
    wanted += ["\U0001F600" * 60, "\U0010FFFF", "\u00e9", "e\u0301", "\u0130", "\u0131", "\u00df", "\ufffd", "x" * 255, "\u65e5" * 85]
    wanted += ["dot.", "dots..", "space ", "dot .", " first", ".first", "...", "..first", "~", "aux.txt", "lpt9.x", "con1", "a~1"]
    for name in wanted:
        with open(here / name, "w", newline="") as file:
            file.write(name)
    same(sorted(os.listdir(there)), sorted(wanted), "the names")
    for name in wanted:
        with open(there / name, newline="") as file:
            same(file.read(), name, f"what {name!r} has")
        (here / name).unlink()
    fails(errno.ENAMETOOLONG, os.mkdir, here / ("x" * 256))
    for name in ("con", "NUL", "com1"):
        fails(errno.ENOENT, os.mkdir, here / name)


def deep(here, there):
    names = ["directory"] * 200
    path = here
    for name in names:
        path /= name
        path.mkdir()
    (path / "file").write_text("deep")
    same(there.joinpath(*names, "file").read_text(), "deep", "what is far below")
    (path / "file").unlink()
    for _ in names:
        path.rmdir()
        path = path.parent


def changing_listing(here, there):
    """What stays is listed once, whatever comes and goes meanwhile; and a place in a listing can be gone back to."""
    stay = {f"s{i:04}" for i in range(1_500)}
    go = [f"g{i:03}" for i in range(300)]
    for name in (*stay, *go):
        (here / name).touch()
    seen = []
    with os.scandir(there) as entries:
        for entry in entries:
            seen.append(entry.name)
            if len(seen) % 10 == 0 and go:
                name = go.pop()
                (here / name).unlink()
                (here / f"new-{name}").touch()
                os.rename(here / f"new-{name}", here / f"a{name}")
    same(len(seen), len(set(seen)), "the number of names, each counted once,")
    same(stay - set(seen), set(), "what is missing")
    for name in os.listdir(there):
        (here / name).unlink()


def kinds_of_locks(here, there):
    """flock, and locks of open files rather than of processes."""
    (here / "file").write_bytes(bytes(100))
    with open(here / "file", "r+b") as mine, open(there / "file", "r+b") as theirs:
        fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fails(errno.EACCES, fcntl.flock, theirs, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(mine, fcntl.LOCK_UN)
        for file in (mine, theirs):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        for file in (mine, theirs):
            fcntl.flock(file, fcntl.LOCK_UN)

        def of_file(file, kind, start, length):
            return fcntl.fcntl(file, 37, struct.pack("hhqqi4x", kind, 0, start, length, 0))  # F_OFD_SETLK
        of_file(mine, fcntl.F_WRLCK, 0, 50)
        fails(errno.EACCES, of_file, theirs, fcntl.F_WRLCK, 49, 10)
        of_file(theirs, fcntl.F_WRLCK, 50, 1 << 60)
        fails(errno.EACCES, of_file, mine, fcntl.F_RDLCK, 1 << 59, 1)
    (here / "file").unlink()


def far_offsets(here, there):
    places = (0, (1 << 32) - 3, (1 << 32) + 70_000)
    with open(here / "file", "wb", buffering=0) as file:
        for place in places:
            os.pwrite(file.fileno(), b"there", place)
        os.fsync(file)
        with open(there / "file", "rb", buffering=0) as other:
            same([os.pread(other.fileno(), 5, place) for place in places], [b"there"] * 3, "what is far behind")
            same(os.pread(other.fileno(), 4, 1 << 31), bytes(4), "what is between")
            same(os.fstat(other.fileno()).st_size, places[-1] + 5, "the length")
        fails(errno.ENOSPC, os.ftruncate, file.fileno(), (QUOTA_GIB << 30) + 1)
    same((there / "file").stat().st_size, places[-1] + 5, "the length after a cut that was refused")
    (here / "file").unlink()


def subfolder(here, there):
    """A directory of the share is mounted, and one that is not there is refused."""
    (here / "inner").mkdir()
    (here / "inner" / "file").write_text("x")
    inside = f"{here.name}/inner"
    with Mounted("sub", f"vers=3.1.1,prefixpath={inside}", inside) as inner:
        same(os.listdir(inner), ["file"], "what is in it")
        os.rename(inner / "file", inner / "moved")
    same((there / "inner" / "moved").read_text(), "x", "what was renamed there")
    missing = Mounted("sub", f"vers=3.1.1,prefixpath={here.name}/missing", f"{here.name}/missing")
    fails(errno.ENOENT, missing.__enter__)
    (here / "inner" / "moved").unlink()
    (here / "inner").rmdir()


def rest(here, there):
    """REST reads what a client has only in its cache, and a client does not read what it had before REST wrote."""
    path = f"{here.name}/file"
    with open(here / "file", "w+b", buffering=0) as file:
        for i in range(10):
            file.seek(0)
            file.write(f"client {i}".encode())
            same(ask(f"get {path}"), f"client {i}", "what REST reads")
            same(ask(f"put {path} server{i}."), "done", "the answer of REST")
            within(10, "what REST has written", lambda: os.pread(file.fileno(), 8, 0) == f"server{i}.".encode())
        same(ask(f"delete {path}"), "SharingViolation", "the deletion of what is open")
    same(ask(f"delete {path}"), "done", "the deletion of what is closed")
    within(10, "it is gone", lambda: not (here / "file").exists() and not (there / "file").exists())


def rest_and_locks(here, there):
    path = f"{here.name}/file"
    (here / "file").write_text("x" * 10)
    with open(here / "file", "r+b") as mine:
        fcntl.lockf(mine, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 0)
        same(ask(f"put {path} y"), "FileLockConflict", "the answer to a write")
        same(ask(f"get {path}"), "FileLockConflict", "the answer to a read")
        fcntl.lockf(mine, fcntl.LOCK_UN, 5, 0)
        same(ask(f"put {path} y"), "done", "the answer without a lock")
    same((there / "file").read_text(), "y" + "x" * 9, "the file")
    (here / "file").unlink()


def snapshot(here, there):
    (here / "file").write_text("then")
    (here / "gone").write_text("there")
    second = ask("snapshot")
    (here / "file").write_text("now")
    (here / "gone").unlink()
    file_time = (calendar.timegm(time.strptime(second, "%Y-%m-%dT%H:%M:%S")) + 11_644_473_600) * 10_000_000
    with Mounted("snapshot", f"vers=3.1.1,snapshot={file_time}") as shown:
        same((shown / here.name / "file").read_text(), "then", "the file in the snapshot")
        same(sorted(os.listdir(shown / here.name)), ["file", "gone"], "the names in the snapshot")
        fails(errno.EROFS, os.unlink, shown / here.name / "gone")
    same((there / "file").read_text(), "now", "the file")
    (here / "file").unlink()


def killed_server(here, there):
    """What is synced is there after the server was killed, and mounts find it again."""
    with open(here / "file", "wb", buffering=0) as file:
        file.write(b"synced")
        os.fsync(file)
    same(ask("kill"), "done", "the answer of the host")

    def read_again():
        try:
            return (here / "file").read_bytes() == b"synced" and (there / "file").read_bytes() == b"synced"
        except OSError:
            return False
    within(60, "what was synced is there", read_again)
    (here / "file").unlink()


def main():
    start_machine()
    only = os.environ.get("KYANITE_ONLY", "")
    for way, options in WAYS.items():
        wanted = [check for each, check in CHECKS if each == way and only in f"{way}.{check}"]
        if not wanted:
            continue
        try:
            with Mounted("a", options) as first, Mounted("b", options + ",actimeo=0") as second:
                # Who caches loosely does not ask what others have done.
                other = first if "cache=loose" in options else second
                for check in wanted:
                    run_check(way, check, first, other)
        except OSError as error:
            for check in wanted:
                print(f"FAIL {way} {check}: {error}", flush=True)


def run_check(way, check, first, second):
    folder = f"{way}-{check}"
    began = time.monotonic()
    try:
        (first / folder).mkdir()
        act = getattr(kernel_rare, check) if check in kernel_rare.CHECKS else globals()[check]
        act(first / folder, second / folder)
        (first / folder).rmdir()
        print(f"ok {way} {check} ({time.monotonic() - began:.1f} s)", flush=True)
    except Exception as error:  # Whatever it is, the next check is run.
        where = traceback.extract_tb(error.__traceback__)[1 if isinstance(error, Wrong) else -1]
        print(f"FAIL {way} {check}: line {where.lineno}: {error!r}".replace("\n", " "), flush=True)


if __name__ == "__main__":
    try:
        main()
    finally:
        print("over", flush=True)
        libc.sync()
        libc.reboot(0x4321FEDC)  # Power off.
