"""Runs tests of smbtorture (Debian's samba-testsuite): each is a process of its own, with a time limit, on a share of its own.

  smbtorture.py [--only REGEX] [--record]     starts a server; prints how each test ended
  --record writes what it found into smbtorture.tsv, where reasons that stand there already stay

smbtorture.tsv says how each test is expected to end, and why where that is not "pass". What is not relevant here, because
Azure Files does not have it either, is there as well and is not run."""

import argparse
import collections
import concurrent.futures
import contextlib
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "py"))

from azure.storage.fileshare import ShareServiceClient  # noqa: E402
from harness import ACCOUNT, KEY, Server  # noqa: E402

TABLE = HERE / "smbtorture.tsv"
TIMEOUT_S = 60
AT_ONCE = 4
NOT_RUN = "not run"

Expected = collections.namedtuple("Expected", "outcome reason")
Ended = collections.namedtuple("Ended", "outcome output")


def read_table():
    """By test, in the order of the file."""
    rows = (line.split("\t") for line in TABLE.read_text().splitlines() if line and not line.startswith("#"))
    return {name: Expected(outcome, reason[0] if reason else "") for name, outcome, *reason in rows}


def smb_port(server):
    return int(re.search(r"^  SMB +smb://127\.0\.0\.1:(\d+)/", server.output, re.MULTILINE)[1])


def outcome_of(output):
    """Of what smbtorture prints: one line for each test that a name stands for."""
    words = re.findall(r"^(success|failure|error|skip): ", output, re.MULTILINE)
    if not words or "failure" in words or "error" in words:
        return "fail"
    return "pass" if "success" in words else "skip"


class Runner:
    def __init__(self, server):
        self.port = smb_port(server)
        self.numbers = itertools.count()
        self.shares = ShareServiceClient(server.url("File"), credential={"account_name": ACCOUNT, "account_key": KEY})

    def run(self, name):
        share = f"torture{next(self.numbers)}"
        self.shares.create_share(share)
        command = ["smbtorture", f"//127.0.0.1/{share}", "-p", str(self.port), f"-U{ACCOUNT}%{KEY}", "--fullname",
                   "--option=torture:share2=" + share, name]
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
        self.shares.delete_share(share)
        return Ended(outcome_of(output) if in_time else "time-out", output)

    def run_all(self, names, told=lambda name, ended: None):
        """How each ended, by name. `told` is called as they end."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            running = {pool.submit(self.run, name): name for name in names}
            ended = {}
            for done in concurrent.futures.as_completed(running):
                ended[running[done]] = done.result()
                told(running[done], done.result())
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--output", help="a folder for what each test printed")
    arguments = parser.parse_args()
    table = read_table()
    names = [name for name, row in table.items() if row.outcome != NOT_RUN and re.search(arguments.only, name)]
    server = Server()
    try:
        def tell(name, end):
            was = "" if end.outcome == table[name].outcome else f"   (expected: {table[name].outcome})"
            print(f"{end.outcome:9}{name}{was}", flush=True)
            if arguments.output:
                os.makedirs(arguments.output, exist_ok=True)
                (pathlib.Path(arguments.output) / name).write_text(end.output)
        ended = Runner(server).run_all(names, tell)
    finally:
        server.stop()
    if arguments.record:
        record(ended)
    counts = collections.Counter(end.outcome for end in ended.values())
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 0 if all(end.outcome == table[name].outcome for name, end in ended.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
