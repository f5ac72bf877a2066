"""Runs tests of smbtorture (Debian's samba-testsuite): each is a process of its own, with a time limit, on a share of its own.

  smbtorture.py [--only REGEX] [--record]     prints how each test ended, and how many of each group passed
  --record writes what it found into smbtorture.tsv, where reasons that stand there already stay

smbtorture.tsv says how each test is expected to end, and why where that is not "pass". What is not relevant here, because
Azure Files does not have it either, is there as well and is not run.

Tests run in places: each has a server and, for root, a network namespace, where tests may block connections as they like. A
test that does not end as expected is run once more, alone, and that counts: many of them measure time. Those that block
connections are run up to three times more: where the block cuts off the acknowledgement of the reply before it, which
clients' kernels send late, TCP has lost a packet, and holds back what the test wants to see first."""

import argparse
import collections
import concurrent.futures
import contextlib
import datetime
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "py"))

from azure.storage.fileshare import ShareServiceClient  # noqa: E402
from harness import ACCOUNT, KEY, Server  # noqa: E402

TABLE = HERE / "smbtorture.tsv"
TIMEOUT_S = 200  # The longest, smb2.notify.mask, takes a minute on an idle machine.
AT_ONCE = 6  # Most of them wait most of the time.
NOT_RUN = "not run"
# These block connections of their own, which only root can do.
BLOCKING = re.compile(r"smb2\.(multichannel\.(leases\.test[24]|oplocks\.test[23])|oplock\.batch22b|replay\.dhv2-pending3)")
OTHER_ACCOUNT = "otheraccount1"
OTHER_KEY = "b3RoZXI="

Expected = collections.namedtuple("Expected", "outcome reason")
Ended = collections.namedtuple("Ended", "outcome output")


def read_table():
    """By test, in the order of the file."""
    rows = (line.split("\t") for line in TABLE.read_text().splitlines() if line and not line.startswith("#"))
    return {name: Expected(outcome, reason[0] if reason else "") for name, outcome, *reason in rows}


def can_run(name):
    return os.geteuid() == 0 or not BLOCKING.match(name)


def outcome_of(output):
    """Of what smbtorture prints: one line for each test that a name stands for."""
    words = re.findall(r"^(success|failure|error|skip): ", output, re.MULTILINE)
    if not words or "failure" in words or "error" in words:
        return "fail"
    return "pass" if "success" in words else "skip"


class Runner:
    """A server, and tests of it, in the network namespace of this process."""

    def __init__(self):
        accounts = f"{ACCOUNT}:{KEY};{OTHER_ACCOUNT}:{OTHER_KEY}"
        # Some tests know no other port.
        port = ["--smbPort", "445"] if os.geteuid() == 0 else []
        self.server = Server(*port, env={"AZURITE_ACCOUNTS": accounts})
        self.port = int(re.search(r"^  SMB +smb://127\.0\.0\.1:(\d+)/", self.server.output, re.MULTILINE)[1])
        self.numbers = itertools.count()
        self.shares = ShareServiceClient(self.server.url("File"),
                                         credential={"account_name": ACCOUNT, "account_key": KEY})

    def options(self, name, share):
        yield f"share2={share}"
        yield f"user2name={OTHER_ACCOUNT}"
        yield f"user2password={OTHER_KEY}"
        if os.geteuid() == 0:
            yield "use_iptables=yes"
        if name.startswith("smb2.twrp."):
            client = self.shares.get_share_client(share)
            client.get_file_client("old.txt").upload_file(b"old")
            client.create_directory("subdir").get_file_client("hardlink").upload_file(b"only one name")
            taken = datetime.datetime.fromisoformat(client.create_snapshot()["snapshot"][:19])
            yield "twrp_share=" + share
            yield "twrp_file=old.txt"
            yield "twrp_snapshot=" + taken.strftime("@GMT-%Y.%m.%d-%H.%M.%S")

    def run(self, name):
        share = f"torture{next(self.numbers)}"
        self.shares.create_share(share)
        command = ["smbtorture", f"//127.0.0.1/{share}", "-p", str(self.port), f"-U{ACCOUNT}%{KEY}", "--fullname",
                   *("--option=torture:" + option for option in self.options(name, share)), name]
        with tempfile.TemporaryFile() as printed:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            try:
                process.wait(TIMEOUT_S)
                in_time = True
            except subprocess.TimeoutExpired:
                in_time = False
            # Some tests have clients in processes of their own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            printed.seek(0)
            output = printed.read().decode(errors="replace")
        self.shares.delete_share(share, delete_snapshots=True)
        return Ended(outcome_of(output) if in_time else "time-out", output)


def serve_place():
    """Names of tests come as lines of standard input, how each ended goes out as lines of JSON."""
    if os.geteuid() == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    runner = Runner()
    try:
        for line in sys.stdin:
            print(json.dumps(runner.run(line.rstrip("\n"))), flush=True)
    finally:
        runner.server.stop()


class Places:
    """Processes that run tests, each with a server of its own."""

    def __init__(self, count=AT_ONCE):
        command = [*(["unshare", "--net"] if os.geteuid() == 0 else []), sys.executable, str(HERE / "smbtorture.py"), "--place"]
        self.free = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                     for _ in range(count)]
        self.all = list(self.free)
        self.lock = threading.Lock()

    def run(self, name):
        with self.lock:
            place = self.free.pop()
        place.stdin.write(name + "\n")
        place.stdin.flush()
        line = place.stdout.readline()
        if not line:
            raise RuntimeError(f"the server of {name} did not survive it: {place.wait()}")
        with self.lock:
            self.free.append(place)
        return Ended(*json.loads(line))

    def close(self):
        """Fails if a server did not end as it should."""
        for place in self.all:
            place.stdin.close()
        ends = [place.wait() for place in self.all]
        for place in self.all:
            place.stdout.close()
        if any(ends):
            raise RuntimeError(f"places ended with {ends}")

    def run_all(self, expected, told=lambda name, ended: None):
        """How each ended, by name. `told` is called when that is certain."""
        ended = {}
        with concurrent.futures.ThreadPoolExecutor(len(self.all)) as pool:
            running = {pool.submit(self.run, name): name for name in expected}
            for done in concurrent.futures.as_completed(running):
                name = running[done]
                ended[name] = done.result()
                if ended[name].outcome == expected[name].outcome:
                    told(name, ended[name])
        for name in expected:
            if ended[name].outcome == expected[name].outcome:
                continue
            for _ in range(3 if BLOCKING.match(name) else 1):
                ended[name] = self.run(name)
                if ended[name].outcome == expected[name].outcome:
                    break
            told(name, ended[name])
        return ended


def record(ended):
    before = read_table() if TABLE.exists() else {}
    head = [line for line in TABLE.read_text().splitlines() if line.startswith("#")] if TABLE.exists() else []
    rows = dict(before)
    for name, end in ended.items():
        reason = before[name].reason if name in before and before[name].outcome == end.outcome else ""
        rows[name] = Expected(end.outcome, reason)
    lines = ["\t".join((name, *(word for word in row if word))) for name, row in sorted(rows.items())]
    TABLE.write_text("\n".join([*head, *lines]) + "\n")


def print_groups(ended):
    groups = collections.defaultdict(collections.Counter)
    for name, end in ended.items():
        groups[name.split(".")[1]][end.outcome] += 1
    for group, counts in sorted(groups.items()):
        others = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()) if outcome != "pass")
        print(f"{group}: {counts['pass']} of {sum(counts.values())}{' (' + others + ')' if others else ''}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--output", help="a folder for what each test printed")
    parser.add_argument("--place", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.place:
        return serve_place()
    expected = {name: row for name, row in read_table().items()
                if row.outcome != NOT_RUN and re.search(arguments.only, name) and can_run(name)}

    def tell(name, end):
        was = "" if end.outcome == expected[name].outcome else f"   (expected: {expected[name].outcome})"
        print(f"{end.outcome:9}{name}{was}", flush=True)
        if arguments.output:
            os.makedirs(arguments.output, exist_ok=True)
            (pathlib.Path(arguments.output) / name).write_text(end.output)

    places = Places()
    try:
        ended = places.run_all(expected, tell)
    finally:
        places.close()
    if arguments.record:
        record(ended)
    print_groups(ended)
    counts = collections.Counter(end.outcome for end in ended.values())
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 0 if all(end.outcome == expected[name].outcome for name, end in ended.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
