"""The section of ./dev bench that holds the SMB server against Samba: the same client asks both for the same."""

import contextlib
import json
import os
import pwd
import subprocess
import time

from bench_calls import NAME, create_share
from bench_rows import CLIENT_CORE, SERVER_CORE
from bench_servers import Kyanite, Samba, pinned
from harness import ACCOUNT, KEY

LARGE_MIB = 256       # as the load generator has it
WINDOW = 8            # pieces of 1 MiB in flight, as many as Windows has
LEAST_SECONDS = 1.0   # of a round: processor time of many processes is told in steps of 10 ms
SMALL_FILES = 1_000
SMALL_CONNECTIONS = 16
LISTED = 10_000
IDLE_SESSIONS = 1_000
LARGE, SMALLS, MANY = "large", "smalls", "many"


def user_of(server):
    return ACCOUNT if isinstance(server, Kyanite) else pwd.getpwuid(os.getuid()).pw_name


class Client:
    """A run of the load generator whose connections last as long as this."""

    def __init__(self, bench, server, mode, *arguments, core=None):
        command = [str(bench.programs / "smb_load"), "--port", str(server.smb_port), "--user", user_of(server),
                   "--password", KEY, "--share", NAME, "--mode", mode, *map(str, arguments)]
        self.server = server
        self.process = subprocess.Popen(pinned(core, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.line()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args}: {self.process.communicate()[1].strip()}")
        return line

    def run(self):
        """What it measured, with the processor time that the server took for it."""
        before = self.server.cpu_seconds()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        result = json.loads(self.line())
        cpu_s = self.server.cpu_seconds() - before
        if result["errors"] or not result["count"]:
            raise RuntimeError(f"{self.process.args}: {result}")
        return {**result, "cpu_s": cpu_s, "written": 0}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()


def once(bench, server, mode, *arguments, core=None):
    with Client(bench, server, mode, *arguments, core=core) as client:
        return client.run()


def timed(bench, server, mode, *arguments, core=None):
    return once(bench, server, mode, "--seconds", max(bench.seconds, LEAST_SECONDS), *arguments, core=core)


def prepare(bench, server):
    once(bench, server, "write", "--file", LARGE, "--count", 1, "--keep", 1)
    once(bench, server, "read", "--file", f"{LARGE}.0", "--window", WINDOW, "--count", LARGE_MIB)  # Into the page cache.
    once(bench, server, "create", "--directory", SMALLS, "--count", SMALL_FILES, "--window", 64)
    once(bench, server, "create", "--directory", MANY, "--size", 0, "--count", LISTED, "--window", 64)


def mib_row(bench, what, ours, rival, target):
    """Of pieces of 1 MiB: how many a second, and what the servers' processors did for each."""
    bench.row(what, "MiB/s", [result["rate"] for result in ours], [result["rate"] for result in rival], "Samba", target,
              costs=(ours, rival))
    bench.row(f"{what}, CPU of a MiB", "us", *([result["cpu_s"] * 1e6 / result["count"] for result in results]
                                               for results in (ours, rival)), "Samba", 1.0, at_least=False)


def reads(bench, name, kyanite, samba):
    def take_turns(mode, *arguments):
        rival, ours = bench.take_turns(*(lambda _, server=server: timed(bench, server, mode, *arguments, core=CLIENT_CORE)
                                         for server in (samba, kyanite)))
        return ours, rival

    mib_row(bench, f"Read 256 MiB{name}", *take_turns("read", "--file", f"{LARGE}.0", "--window", WINDOW), 1.0)
    for what, mode, arguments in (
            ("Open, read and close 4 KiB", "open",
             ["--directory", SMALLS, "--files", SMALL_FILES, "--connections", SMALL_CONNECTIONS]),
            ("List 10,000 entries", "list", ["--directory", MANY, "--files", LISTED])):
        bench.rate_row(f"{what}{name}", *take_turns(mode, *arguments), "Samba", 1.0)


def writes(bench, name, kyanite, samba, against):
    """`against`: how Samba was set, and what the creation of small files is to reach of it; large files only once."""
    def take_turns(mode, arguments):
        rival, ours = bench.take_turns(*(lambda turn, server=server: timed(bench, server, mode, *arguments(turn))
                                         for server in (samba, kyanite)))
        return ours, rival

    if against == "Samba":
        mib_row(bench, f"Write 256 MiB and flush{name}",
                *take_turns("write", lambda turn: ["--file", f"written{turn}", "--window", WINDOW]), 0.8)
    bench.rate_row(f"Create, write and close 4 KiB{name}",
                   *take_turns("create", lambda turn: ["--directory", f"new{time.monotonic_ns()}", "--connections",
                                                       SMALL_CONNECTIONS]), against, 0.7 if against == "Samba" else 2.0)


def rounds(bench, name, encrypts):
    flags = ["--setting", "smbEncryption=required" if encrypts else "smbEncryption=off"]

    @contextlib.contextmanager
    def kyanite(core=None, *more):
        with Kyanite(bench.binary, core, [*flags, *more]) as server:
            create_share(server.ports["file"])
            yield server

    def samba(core=None, **options):
        return Samba(pwd.getpwuid(os.getuid()).pw_name, KEY, core, encrypts, **options)

    with samba(SERVER_CORE) as rival, kyanite(SERVER_CORE, "--threads", "1") as ours:
        for server in (rival, ours):
            prepare(bench, server)
        reads(bench, name, ours, rival)
    with samba() as rival, samba(syncs=True) as synced, kyanite() as ours:
        writes(bench, name, ours, rival, "Samba")
        writes(bench, name, ours, synced, "synced Samba")


def idle(bench):
    with Kyanite(bench.binary) as kyanite:
        create_share(kyanite.ports["file"])
        with Client(bench, kyanite, "idle", "--connections", IDLE_SESSIONS):
            bench.row("Memory with 1,000 idle sessions", "MiB", [kyanite.resident_mib()], [], "", 64, at_least=False)


def smb(bench):
    idle(bench)
    try:
        Samba(pwd.getpwuid(os.getuid()).pw_name, KEY).stop()
    except RuntimeError as error:
        print(f"-- Samba cannot be started, so the comparison with it is left out: {error}")
        return
    rounds(bench, "", encrypts=False)
    rounds(bench, ", encrypted", encrypts=True)
