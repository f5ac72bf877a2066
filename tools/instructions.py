"""Instructions per request, counted by valgrind: a figure that a busy machine does not move, so ./dev check can hold every
change against the last one that was meant.

    instructions.py             counts and prints beside what tools/instructions.json has
    instructions.py --check     fails when a request takes more than SLACK above it
    instructions.py --update    writes what was counted to tools/instructions.json

The release server runs with one event loop under callgrind. Each operation is sent FEW and then MANY times over one connection
by the load generator; the difference is what the requests take, without start-up, connections and what the counting itself adds.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "torture"), str(ROOT / "tests" / "py")]

from bench_calls import (AT, ENTITY, MESSAGE, RANGE_FILE_BYTES, RANGE_FILES, SIGNED, SMALL, TABLE, create_container, create_file,
                         create_queue, create_share, put, put_file, requests)
from bench_servers import Kyanite

BASELINE = ROOT / "tools" / "instructions.json"
SLACK = 0.05
FEW, MANY, ROUNDS = 20, 270, 3
REQUEST_THREADS = ("net", "committer", "syncer")
SECONDS = 60  # Ends a run that got stuck; the count ends it before.


class Counted:
    """A server under callgrind."""

    def __init__(self, build):
        self.load_program = build / "tests" / "load" / "load"
        # Addresses that are the same in every run make the database's random numbers the same.
        self.server = Kyanite(build / "kyanite", flags=["--threads", "1"],
                              under=["env", "MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1", "setarch", "--addr-no-randomize",
                                     "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--quiet"])

    def load(self, service, count, *arguments):
        done = subprocess.run([str(self.load_program), "--port", str(self.server.ports[service]), "--connections", "1",
                               "--seconds", str(SECONDS), "--count", str(count), *map(str, arguments)],
                              capture_output=True, text=True)
        if done.returncode != 0 or json.loads(done.stdout)["count"] != count:
            raise RuntimeError(f"load {arguments}: {done.stdout}{done.stderr}")

    def instructions(self):
        """So far, of the threads that answer requests. The others follow the clock, not the requests."""
        process = self.server.process.pid
        done = subprocess.run(["vgdb", f"--pid={process}", "status internal"], capture_output=True, text=True)
        by_thread = dict(re.findall(r"^events-(\d+): (\d+)$", done.stdout, re.MULTILINE))
        if done.returncode != 0 or not by_thread:
            raise RuntimeError(f"vgdb: {done.stdout}{done.stderr}")
        # Valgrind numbers threads as they begin, and so does the system.
        tasks = sorted(pathlib.Path(f"/proc/{process}/task").iterdir(), key=lambda task: int(task.name))
        names = {str(number): (task / "comm").read_text().strip() for number, task in enumerate(tasks, 1)}
        return sum(int(count) for thread, count in by_thread.items() if names[thread] in REQUEST_THREADS)

    def per_request(self, service, arguments, first):
        """`first`: names from there on are free."""
        before = self.instructions()
        self.load(service, FEW, *arguments(first))
        between = self.instructions()
        self.load(service, MANY, *arguments(first + FEW))
        few, many = between - before, self.instructions() - between
        return round((many - few) / (MANY - FEW))


def operations():
    """What, service, and the load generator's arguments by the number of the first name."""
    return (("Get Blob 4 KiB", "blob", lambda _: [*SIGNED, "--get", f"{AT}/small"]),
            ("Put Blob 4 KiB", "blob", lambda first: [*SIGNED, "--put", AT, "--size", SMALL, "--first", first]),
            ("Get Entity", "table", lambda _: [*TABLE, "--get", f"{AT}(PartitionKey='b4',RowKey='b456bcfc34c2cb2c')"]),
            ("Insert Entity", "table", lambda first: [*TABLE, "--insert", AT, "--size", ENTITY, "--first", first]),
            ("Put Message", "queue", lambda _: [*SIGNED, "--messages", f"{AT}/messages", "--size", MESSAGE]),
            ("Get and Delete Message", "queue", lambda _: [*SIGNED, "--consume", f"{AT}/messages"]),
            ("Get File 4 KiB", "file", lambda _: [*SIGNED, "--get", f"{AT}/small"]),
            ("Put Range 4 KiB", "file", lambda first: [*SIGNED, "--range", AT, "--size", SMALL, "--first", first]))


def prepare(counted):
    ports = counted.server.ports
    put(ports["blob"], "small", os.urandom(SMALL))
    create_container(ports["blob"])
    create_queue(ports["queue"])
    create_share(ports["file"])
    put_file(ports["file"], "small", os.urandom(SMALL))
    requests(ports["file"], *(create_file(number, RANGE_FILE_BYTES) for number in range(RANGE_FILES)))
    counted.load("table", 1, *TABLE, "--create", f"{AT.rsplit('/', 1)[0]}/Tables")
    counted.load("table", 1, *TABLE, "--insert", AT, "--size", ENTITY)


def measure(build):
    counted = Counted(build)
    with counted.server:
        prepare(counted)
        figures = {}
        for what, service, arguments in operations():
            counted.load(service, FEW, *arguments(1_000))  # Warms up.
            figures[what] = min(counted.per_request(service, arguments, 10_000 * turn) for turn in range(1, ROUNDS + 1))
        return figures


def compare(figures, baseline):
    """Lines of a table, and what takes more than it may."""
    lines, complaints = [f"{'instructions per request':<30}{'now':>10}{'baseline':>10}{'ratio':>8}"], []
    for what, now in figures.items():
        before = baseline.get(what)
        lines.append(f"{what:<30}{now:>10,}{before or 0:>10,}{now / before if before else 0:>8.3f}")
        if before is None:
            complaints.append(f"{what}: {now:,} instructions, and no baseline; run ./dev check --update-instructions")
        elif now > before * (1 + SLACK):
            complaints.append(f"{what}: {now:,} instructions, {now / before - 1:+.1%} of {before:,}. If that is meant, "
                              "run ./dev check --update-instructions")
    return lines, complaints


def read_baseline():
    return json.loads(BASELINE.read_text()) if BASELINE.exists() else {}


def section(bench):
    """As a section of ./dev bench."""
    baseline = read_baseline()
    for what, now in measure(bench.binary.parent).items():
        before = [baseline[what]] if what in baseline else []
        bench.row(f"{what}, instructions", "", [now], before, "baseline", 1 + SLACK, at_least=False)


def check(build=ROOT / "build" / "release"):
    """The complaints, for ./dev check. Writes vary by a few hundredths, so whoever is over the limit may try again."""
    figures, baseline = measure(build), read_baseline()
    if compare(figures, baseline)[1]:
        again = measure(build)
        figures = {what: min(now, again[what]) for what, now in figures.items()}
    return compare(figures, baseline)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    arguments = parser.parse_args()
    if arguments.check:
        complaints = check(arguments.build)
        print("\n".join(complaints))
        return 1 if complaints else 0
    figures = measure(arguments.build)
    print("\n".join(compare(figures, read_baseline())[0]))
    if arguments.update:
        BASELINE.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
