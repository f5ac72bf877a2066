"""What checks in the kernel that kernel.py boots have at hand: mounts, comparisons, and the host, which is asked on the console."""

import ctypes
import errno
import fcntl
import os
import pathlib
import socket
import struct
import sys
import time
import traceback

MODULES = pathlib.Path("/usr/lib/uml/modules")
SERVER = "10.77.0.1"
GUEST = "10.77.0.2"
SHARE = "share"
QUOTA_GIB = 5

libc = ctypes.CDLL(None, use_errno=True)


class Wrong(Exception):
    """Something is not as it should be."""


def same(got, wanted, what=""):
    if got != wanted:
        raise Wrong(f"{what or 'it'} is {str(got)[:200]!r}, not {str(wanted)[:200]!r}")


def fails(number, act, *arguments):
    try:
        act(*arguments)
    except OSError as error:
        return same(errno.errorcode[error.errno], errno.errorcode[number], "the error")
    raise Wrong(f"{act.__name__} did not fail")


def within(seconds, what, holds):
    """Waits until it holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Wrong(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def ask(word):
    print(f"ask {word}", flush=True)
    return sys.stdin.readline().strip()


def at_once(*works):
    """Runs functions in processes of their own; each returns a number, which are returned."""
    readers = []
    for work in works:
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                told = str(work())
            except Exception as error:  # Whatever it is, whoever waits is told.
                told = f"line {traceback.extract_tb(error.__traceback__)[-1].lineno}: {error!r}"
            os.write(writer, told.encode())
            os._exit(0)
        os.close(writer)
        readers.append(reader)
    told = []
    for reader in readers:
        with open(reader) as answer:
            told.append(answer.read())
    for _ in works:
        os.wait()
    for each in told:
        if not each.isdecimal():
            raise Wrong(f"a process failed: {each}")
    return [int(number) for number in told]


# --- The machine ---

def load_module(name):
    """With those it depends on. What is not a module is in the kernel."""
    folder = next(MODULES.iterdir())
    needs = dict(line.split(":") for line in (folder / "modules.dep").read_text().splitlines())
    file = next((path for path in needs if path.rsplit("/", 1)[-1] == name + ".ko"), None)
    if file is None:
        return
    for path in [*reversed(needs[file].split()), file]:
        with open(folder / path, "rb") as module:
            if libc.syscall(313, module.fileno(), b"", 0) != 0 and ctypes.get_errno() != errno.EEXIST:  # finit_module
                raise OSError(ctypes.get_errno(), f"{path} cannot be loaded")


def mount(source, target, kind, options="", flags=0):
    if libc.mount(source.encode(), str(target).encode(), kind.encode(), flags, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"{target} cannot be mounted with {options}")


def set_address():
    """As "ip address add" and "ip link set up" do."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for name, address in (("lo", "127.0.0.1"), ("eth0", GUEST)):
            request = struct.pack("16sHH4s8x", name.encode(), socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, 0x8916, request)  # SIOCSIFADDR
            fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", name.encode(), 1 | 64))  # SIOCSIFFLAGS: up, running


def start_machine():
    for target, kind in (("/proc", "proc"), ("/tmp", "tmpfs"), ("/mnt", "tmpfs")):
        mount("none", target, kind)
    for name in ("cmac", "gcm", "ccm", "hmac", "md5", "sha256_generic", "sha512_generic", "ecb", "ctr", "ghash-generic",
                 "aes_generic", "nls_utf8", "cifs"):
        load_module(name)
    set_address()


class Mounted:
    """The share, as a client of its own, or unless `alone` as one together with all others that are not."""

    def __init__(self, name, options, folder="", share=SHARE, user="KYANITE", alone=True):
        self.path = pathlib.Path("/mnt") / name
        self.share, self.user = share, user
        self.options = ("nosharesock," if alone else "") + options
        self.source = f"//{SERVER}/{share}/{folder}".rstrip("/")

    def __enter__(self):
        self.path.mkdir(exist_ok=True)
        account, key = os.environ[self.user + "_ACCOUNT"], os.environ[self.user + "_KEY"]
        mount(self.source, self.path, "cifs",
              f"ip={SERVER},unc=\\\\{SERVER}\\{self.share},user={account},pass={key},hard,{self.options}")
        return self.path

    def __exit__(self, *_):
        if libc.umount2(str(self.path).encode(), 0) != 0:
            raise OSError(ctypes.get_errno(), f"{self.path} cannot be unmounted")
