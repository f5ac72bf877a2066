"""What programs do more rarely on a mount, and what befalls mounts: shares, snapshots and keys that go, servers that are killed.
Checks as those of kernel_guest.py."""

import calendar
import ctypes
import errno
import fcntl
import mmap
import os
import stat
import struct
import time

from kernel_mount import QUOTA_GIB, Mounted, Wrong, ask, at_once, fails, libc, same, within

CHECKS = ["channels", "locks_in_a_snapshot", "full_directory", "symbolic_links", "attributes", "renames_with_flags",
          "what_there_is_not", "ranges", "holes_and_data", "direct", "large_directory", "copies_between_shares", "copies_refused",
          "share_deleted", "snapshot_deleted", "quota_lowered", "key_replaced", "killed_while_busy"]

MANY = 5_000
AT_FDCWD = -100
NOREPLACE, EXCHANGE = 1, 2
FICLONE = 0x40049409
KEEP_SIZE, PUNCH_HOLE, COLLAPSE, ZERO, INSERT = 1, 2, 8, 16, 32
HIDDEN, ARCHIVE = 0x2, 0x20
# How the client tells of what is not there any more: of a share, also that one might try again.
GONE = (errno.ENOENT, errno.EIO, errno.EBADF, errno.ESTALE, errno.EREMCHG, errno.EAGAIN)
UNIX_EPOCH = 11_644_473_600  # In the seconds of FILETIME.


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "a system call failed")
    return result


def file_time(second):
    return (second + UNIX_EPOCH) * 10_000_000


def snapshot_now():
    """The option that mounts it."""
    second = ask("snapshot")
    return f"vers=3.1.1,snapshot={file_time(calendar.timegm(time.strptime(second, '%Y-%m-%dT%H:%M:%S')))}"


def channels(here, _):
    """Further connections are made, and what goes by any of them arrives."""
    with Mounted("several", "vers=3.1.1,multichannel,max_channels=3") as mount:
        def count():
            with open("/proc/fs/cifs/DebugData") as about:
                return about.read().count("\tChannel: ")
        within(10, "two further channels", lambda: count() == 2)
        data = os.urandom(4 << 20)
        (mount / here.name / "file").write_bytes(data)
        same((here / "file").read_bytes() == data, True, "what was written is right")
        same((mount / here.name / "file").read_bytes() == data, True, "what is read is right")
        (mount / here.name / "file").unlink()


def locks_in_a_snapshot(here, _):
    (here / "file").write_text("then")
    option = snapshot_now()
    with Mounted("shown", option) as one, Mounted("again", option) as other:
        with open(one / here.name / "file", "rb") as mine, open(other / here.name / "file", "rb") as theirs:
            for file in (mine, theirs):
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 10, 0)
                fcntl.lockf(file, fcntl.LOCK_UN, 10, 0)
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(file, fcntl.LOCK_UN)
            same((mine.read(), theirs.read()), (b"then", b"then"), "what they read")
    (here / "file").unlink()


def full_directory(here, there):
    """One tries again and again to remove it: the other, who uses it, never notices."""
    (here / "full").mkdir()
    (here / "full" / "stays").touch()

    def remove():
        for _ in range(150):
            fails(errno.ENOTEMPTY, os.rmdir, here / "full")
        return 1

    def use():
        for i in range(60):
            path = there / "full" / f"file-{i}"
            path.write_text(str(i))
            same(sorted(os.listdir(there / "full")), sorted(["stays", path.name]), "the names")
            same(path.read_text(), str(i), "the file")
            path.unlink()
        return 1
    at_once(remove, use)
    (here / "full" / "stays").unlink()
    (here / "full").rmdir()


def symbolic_links(here, _):
    with Mounted("links", "vers=3.1.1,mfsymlinks") as one, Mounted("more", "vers=3.1.1,mfsymlinks,actimeo=0") as other:
        mine, theirs = one / here.name, other / here.name
        (mine / "file").write_text("text")
        os.symlink("file", mine / "link")
        os.symlink("link", mine / "chain")
        os.symlink("nowhere", mine / "dangling")
        for seen in (mine, theirs):
            same(os.readlink(seen / "link"), "file", "where it leads")
            same((seen / "chain").read_text(), "text", "what is at the end of a chain")
            same(stat.S_ISLNK(os.lstat(seen / "dangling").st_mode), True, "that it is a link")
            fails(errno.ENOENT, os.stat, seen / "dangling")
        os.rename(mine / "link", mine / "moved")
        within(10, "it is renamed", lambda: sorted(os.listdir(theirs)) == ["chain", "dangling", "file", "moved"])
        same(os.readlink(theirs / "moved"), "file", "where it leads now")
        fails(errno.ENOENT, os.stat, theirs / "chain")
        fails(errno.EEXIST, os.symlink, "other", mine / "moved")
        for name in ("chain", "dangling", "moved", "file"):
            (mine / name).unlink()


def attributes(here, there):
    """What Windows knows of a file, as extended attributes of the client. There are no others."""
    file = here / "file"
    file.write_text("text")

    def bits(base):
        return struct.unpack("<I", os.getxattr(base / "file", "user.cifs.dosattrib"))[0] & (HIDDEN | ARCHIVE)
    same(bits(here), ARCHIVE, "the attributes")
    os.setxattr(file, "user.cifs.dosattrib", struct.pack("<I", HIDDEN | ARCHIVE))
    for base in (here, there):
        within(10, "it is hidden", lambda: bits(base) == HIDDEN | ARCHIVE)
    made = file_time(1_100_000_000)
    os.setxattr(file, "user.cifs.creationtime", struct.pack("<Q", made))
    # A client that knows another time keeps it.
    with Mounted("new", "vers=3.1.1") as new:
        for base in (here, new / here.name):
            same(struct.unpack("<Q", os.getxattr(base / "file", "user.cifs.creationtime"))[0], made, "the time of its making")
    fails(errno.EOPNOTSUPP, os.setxattr, file, "user.x", b"value")
    # As on Windows, who empties a hidden file must say that it is hidden, which this client does not; but it may cut it.
    fails(errno.EACCES, os.open, file, os.O_WRONLY | os.O_TRUNC)
    same((there / "file").read_text(), "text", "what was not emptied")
    os.truncate(file, 2)
    same((there / "file").read_text(), "te", "what was cut")
    file.unlink()


def rename_with(flags, one, other):
    checked(libc.renameat2(AT_FDCWD, bytes(one), AT_FDCWD, bytes(other), flags))


def renames_with_flags(here, there):
    (here / "one").write_text("one")
    (here / "other").write_text("other")
    fails(errno.EEXIST, rename_with, NOREPLACE, here / "one", here / "other")
    fails(errno.EINVAL, rename_with, EXCHANGE, here / "one", here / "other")
    same(((there / "one").read_text(), (there / "other").read_text()), ("one", "other"), "what was not renamed")
    rename_with(NOREPLACE, here / "one", here / "new")
    same(sorted(os.listdir(there)), ["new", "other"], "the names")
    same((there / "new").read_text(), "one", "what was renamed")
    (here / "new").unlink()
    (here / "other").unlink()


def what_there_is_not(here, there):
    (here / "file").write_text("text")
    fails(errno.EOPNOTSUPP, os.open, here, os.O_TMPFILE | os.O_RDWR)
    fails(errno.EOPNOTSUPP, os.link, here / "file", here / "hard")
    fails(errno.EPERM, os.mkfifo, here / "fifo")
    fails(errno.EOPNOTSUPP, os.symlink, "file", here / "soft")
    with open(here / "file", "rb") as source, open(here / "clone", "wb") as target:
        fails(errno.EOPNOTSUPP, fcntl.ioctl, target.fileno(), FICLONE, source.fileno())
    same(sorted(os.listdir(there)), ["clone", "file"], "the names")
    fails(errno.EOPNOTSUPP, Mounted("persistent", "vers=3.1.1,persistenthandles").__enter__)
    same((there / "file").read_text(), "text", "the file")
    for name in ("clone", "file"):
        (here / name).unlink()


def allocate(file, mode, offset, length):
    act = libc.fallocate
    act.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    checked(act(file.fileno(), mode, offset, length))


def ranges(here, there):
    """What fallocate does, or says that it does not."""
    with open(here / "file", "w+b", buffering=0) as file:
        data = bytearray(os.urandom(300_000))
        file.write(data)

        def compare(what):
            os.fsync(file)
            same(os.pread(file.fileno(), len(data) + 10, 0) == data, True, f"after {what} it is right")
            same((there / "file").read_bytes() == data, True, f"after {what} the other finds it right")
        allocate(file, ZERO, 70_000, 50_000)
        data[70_000:120_000] = bytes(50_000)
        compare("zeros")
        allocate(file, 0, 250_000, 150_000)
        data.extend(bytes(100_000))
        compare("room at the end")
        for mode, what in ((COLLAPSE, "a cut"), (INSERT, "a gap")):
            try:
                allocate(file, mode, 65_536, 65_536)
            except OSError as error:
                same(errno.errorcode[error.errno], "EOPNOTSUPP", f"the error of {what}")
            else:
                data[65_536:65_536 if mode == INSERT else 131_072] = bytes(65_536) if mode == INSERT else b""
            compare(what)
        fails(errno.EOPNOTSUPP, allocate, file, PUNCH_HOLE | KEEP_SIZE, 10_000, 5_000)
        fails(errno.ENOSPC, allocate, file, 0, QUOTA_GIB << 30, 1 << 20)
        compare("what was refused")
    (here / "file").unlink()


def holes_and_data(here, there):
    """Wherever holes are said to be, what is data is found."""
    places = (0, 4 << 20, 9 << 20)
    with open(here / "file", "w+b", buffering=0) as file:
        for place in places:
            os.pwrite(file.fileno(), b"data", place)
        os.fsync(file)
    with open(there / "file", "rb", buffering=0) as file:
        end = os.fstat(file.fileno()).st_size
        same(end, places[-1] + 4, "the length")
        at, found = 0, set()
        while at < end:
            try:
                begin = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                same(errno.errorcode[error.errno], "ENXIO", "the error behind all data")
                break
            at = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
            found |= {place for place in places if begin <= place and place + 4 <= at}
        same(found, set(places), "the data that was found")
        fails(errno.ENXIO, os.lseek, file.fileno(), end, os.SEEK_DATA)
        same(os.lseek(file.fileno(), end - 1, os.SEEK_HOLE), end, "the hole at the end")
    (here / "file").unlink()


def direct(here, there):
    """Past the client's cache."""
    with mmap.mmap(-1, 1 << 20) as memory:
        memory[:] = os.urandom(1 << 20)
        file = os.open(here / "file", os.O_CREAT | os.O_RDWR | os.O_DIRECT)
        same(os.pwritev(file, [memory], 0), 1 << 20, "what was written")
        same((there / "file").read_bytes() == memory[:], True, "what the other reads is right")
        wanted = memory[:]
        memory[:] = bytes(1 << 20)
        same(os.preadv(file, [memory], 0), 1 << 20, "what was read")
        same(memory[:] == wanted, True, "what was read is right")
        os.close(file)
    (here / "file").unlink()


def large_directory(here, there):
    def make(base, begin):
        for i in range(begin, MANY, 2):
            os.close(os.open(base / f"name-{i:05}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        return 1

    def remove(base):
        """Both go through all of it, so that each meets names that the other has removed."""
        for name in os.listdir(base):
            try:
                os.unlink(base / name)
            except FileNotFoundError:
                pass
        return 1
    at_once(lambda: make(here, 0), lambda: make(there, 1))
    wanted = [f"name-{i:05}" for i in range(MANY)]
    same(sorted(os.listdir(there)) == wanted, True, "the listing is right")
    with Mounted("numbered", "vers=3.1.1,noserverino") as other:
        same(sorted(os.listdir(other / here.name)) == wanted, True, "the listing with numbers of the client's own is right")
    at_once(lambda: remove(here), lambda: remove(there))
    same((os.listdir(here), os.listdir(there)), ([], []), "what is left")


def copy(source, target, length, to=0):
    """How much was copied."""
    done = 0
    while done < length:
        copied = os.copy_file_range(source.fileno(), target.fileno(), length - done, done, to + done)
        if copied == 0:
            break
        done += copied
    return done


def copies_between_shares(here, there):
    """A copy is there when the share is gone that it was made from."""
    same(ask("share second"), "done", "the answer of the host")
    data = os.urandom(3 << 20)
    with Mounted("first", "vers=3.1.1", alone=False) as first:
        with Mounted("second", "vers=3.1.1", share="second", alone=False) as second:
            (second / "from").write_bytes(data)
            with open(second / "from", "rb") as source, open(first / here.name / "to", "wb") as target:
                same(copy(source, target, len(data)), len(data), "what was copied")
            with open(second / "from", "rb") as source, open(first / here.name / "part", "wb") as target:
                same(copy(source, target, 1 << 20, 1 << 20), 1 << 20, "what was copied of a part")
            same((first / here.name / "to").read_bytes() == data, True, "the copy is right")
    same(ask("unshare second"), "done", "the answer of the host")
    same((there / "to").read_bytes() == data, True, "what is left of it is right")
    same((there / "part").read_bytes() == bytes(1 << 20) + data[:1 << 20], True, "what is left of a part is right")
    for name in ("to", "part"):
        (here / name).unlink()


def copies_refused(here, there):
    """Beyond the quota, and of what is not there any more."""
    (here / "from").write_bytes(b"x" * 200_000)
    with open(here / "from", "r+b") as source, open(here / "to", "w+b") as target:
        fails(errno.ENOSPC, copy, source, target, 100_000, QUOTA_GIB << 30)
        same(os.fstat(target.fileno()).st_size, 0, "the length of what was not copied")
        os.truncate(there / "from", 50_000)

        def shorter():
            os.ftruncate(target.fileno(), 0)
            try:
                return copy(source, target, 200_000) <= 50_000
            except OSError:
                return True
        within(10, "no more is copied than there is", shorter)
    within(10, "the copy is no longer", lambda: (there / "to").stat().st_size <= 50_000)
    same((there / "to").read_bytes().strip(b"x"), b"", "what was copied")
    for name in ("from", "to"):
        (here / name).unlink()


def refused_within(seconds, act, *numbers):
    """With one of these errors, however the client finds out."""
    told = []

    def is_refused():
        try:
            act()
        except OSError as error:
            told.append(errno.errorcode[error.errno])
            return error.errno in numbers
        return False
    try:
        within(seconds, "it is refused", is_refused)
    except Wrong as wrong:
        raise Wrong(f"{wrong}, but {sorted(set(told))}") from None


def share_deleted(_, there):
    same(ask("share going"), "done", "the answer of the host")
    with Mounted("going", "vers=3.1.1,actimeo=0", share="going") as going:
        (going / "file").write_text("text")
        with open(going / "file", "r+b", buffering=0) as file:
            same(file.read(4), b"text", "what is read")
            same(ask("unshare going"), "done", "the answer of the host")
            refused_within(20, lambda: (going / "new").touch(), *GONE)
            refused_within(20, lambda: os.listdir(going), *GONE)
    same(isinstance(os.listdir(there), list), True, "the other share is there")


def snapshot_deleted(here, _):
    (here / "file").write_text("then")
    with Mounted("shown", snapshot_now() + ",actimeo=0,cache=none") as shown:
        with open(shown / here.name / "file", "rb", buffering=0) as file:
            same(file.read(10), b"then", "what is read")
            same(ask("forget"), "done", "the answer of the host")
            refused_within(20, lambda: os.pread(file.fileno(), 10, 0), *GONE)
        refused_within(20, lambda: (shown / here.name / "file").read_text(), *GONE)
    same((here / "file").read_text(), "then", "the file itself")
    (here / "file").unlink()


def quota_lowered(here, there):
    part = 32 << 20
    (here / "part").write_bytes(os.urandom(part))
    with open(here / "part", "rb") as source, open(here / "large", "wb") as target:
        for to in range(0, 1 << 30, part):
            same(copy(source, target, part, to), part, "what was copied")
    try:
        same(ask("quota 1"), "done", "the answer of the host")
        within(20, "there is no room", lambda: os.statvfs(there).f_bavail == 0)
        with open(there / "more", "wb", buffering=0) as file:
            def write():
                file.write(b"x" * 100_000)
                os.fsync(file)
            fails(errno.ENOSPC, write)
    finally:
        same(ask(f"quota {QUOTA_GIB}"), "done", "the answer of the host")
    (there / "more").write_text("there is room")
    for name in ("large", "more", "part"):
        (here / name).unlink()


def key_replaced(_, __):
    """Who has the old key is told so, and does not wait for ever."""
    mounted = Mounted("other", "vers=3.1.1,actimeo=0", user="OTHER")
    with mounted as mount:
        (mount / "file").write_text("text")
        same(ask("rekey bmV3"), "done", "the answer of the host")
        try:
            refused_within(30, lambda: (mount / "new").touch(), errno.EACCES)
        finally:
            same(ask("rekey b3RoZXI="), "done", "the answer of the host")
        within(30, "it goes on with the key as it was", lambda: reads(mount / "file") == "text")
        (mount / "file").unlink()


def reads(path):
    try:
        return path.read_text()
    except OSError:
        return None


def killed_while_busy(here, there):
    """Files are open for both, with locks and with what was not written yet: both go on."""
    synced = os.urandom(100_000)
    with open(here / "mine", "w+b", buffering=0) as mine, open(there / "theirs", "w+b", buffering=0) as theirs:
        for file in (mine, theirs):
            file.write(synced)
            os.fsync(file)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 100, 0)
            os.pwrite(file.fileno(), b"dirty", 100_000)
        same(ask("kill"), "done", "the answer of the host")

        def goes_on(file):
            try:
                os.fsync(file)
                return os.pread(file.fileno(), 200_000, 0) == synced + b"dirty"
            except OSError:
                return False
        for file in (mine, theirs):
            within(60, "what was written is there", lambda: goes_on(file))
        with open(there / "mine", "r+b", buffering=0) as other:
            fails(errno.EACCES, fcntl.lockf, other, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
        for file in (mine, theirs):
            fcntl.lockf(file, fcntl.LOCK_UN, 100, 0)
        for base, file in ((there, "mine"), (here, "theirs")):
            within(60, "the other finds it", lambda: reads_bytes(base / file) == synced + b"dirty")
    for name in ("mine", "theirs"):
        (here / name).unlink()


def reads_bytes(path):
    try:
        return path.read_bytes()
    except OSError:
        return None
