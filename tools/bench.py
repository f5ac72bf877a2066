"""./dev bench: what Kyanite does on this machine, each figure beside the floor or the rival measured in the same run.

Rival and Kyanite take turns, round by round, and the ratio is the median of the rounds' ratios: what else the machine does
meanwhile hits both. Figures of different machines, or of different runs, are not to be compared; ratios are.
"""

import argparse
import asyncio
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "torture"), str(ROOT / "tests" / "py")]

from bench_servers import Kyanite, Nginx
from client import Connection
from harness import ACCOUNT, KEY

CONTAINER = "bench"
SHARE = "bench"
RANGE_FILES, RANGE_FILE_BYTES = 256, 16 * 1024 * 1024  # As the load generator has them.
SMALL = 4 * 1024
LARGE = 64 * 1024 * 1024
SERVER_CORE, CLIENT_CORE = 0, 1
GET_CONNECTIONS = 32
PUT_CONNECTIONS = 64
BUSY_LOAD_PER_CORE = 0.3  # Above this figures are marked as measured on a busy machine.


class Bench:
    def __init__(self, build, quick):
        self.binary = build / "kyanite"
        self.programs = build / "tests" / "load"
        self.rounds, self.seconds = (3, 1.0) if quick else (7, 2.0)
        self.rows = []

    def program(self, name, *arguments, core=None):
        pin = ["taskset", "-c", str(core)] if core is not None and os.cpu_count() > 1 else []
        done = subprocess.run([*pin, str(self.programs / name), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        if result["errors"] or not result["count"]:
            raise RuntimeError(f"{name} {arguments}: {result}")
        return result

    def load(self, port, connections, *arguments, core=None):
        return self.program("load", "--port", port, "--connections", connections, "--seconds", self.seconds, *arguments,
                            core=core)

    def take_turns(self, rival, ours):
        """Each a function of the round's number; after one unmeasured turn of each. Returns two lists of results."""
        rival(-1), ours(-1)
        results = [(rival(turn), ours(turn)) for turn in range(self.rounds)]
        return [first for first, _ in results], [second for _, second in results]

    def row(self, what, unit, ours, rival, against, target, at_least=True, notes=""):
        """`ours` and `rival` are lists of one figure per round; a single target without a rival compares ours with it."""
        ratios = [mine / its for mine, its in zip(ours, rival)] if rival else []
        judged = statistics.median(ratios or ours)
        self.rows.append({
            "what": what, "unit": unit, "ours": statistics.median(ours), "against": against,
            "denominator": statistics.median(rival) if rival else None,
            "ratio": judged if rival else None, "ratios": ratios, "target": target, "at_least": at_least,
            "met": judged >= target if at_least else judged <= target, "notes": notes})
        print(self.line(self.rows[-1]), flush=True)

    @staticmethod
    def line(row):
        sign = ">=" if row["at_least"] else "<="
        ratio = f"{row['ratio']:.2f}" if row["ratio"] is not None else ""
        denominator = f"{row['denominator']:,.1f} ({row['against']})" if row["denominator"] is not None else ""
        met = "met" if row["met"] else "NOT MET"
        return f"{row['what']:<34}{row['ours']:>12,.1f} {row['unit']:<7}{denominator:<34}{ratio:>7}  {sign} {row['target']:<6}{met:<9}{row['notes']}"

    # What is measured.

    def get_small_and_large(self):
        files = {"small": os.urandom(SMALL), "large": os.urandom(LARGE)}
        signed = ["--account", ACCOUNT, "--key", KEY]
        with Nginx(files, SERVER_CORE) as nginx, Kyanite(self.binary, SERVER_CORE, ["--threads", "1"]) as kyanite:
            for name, content in files.items():
                put(kyanite.port, name, content)

            put_file(kyanite.file_port, "small", files["small"])

            def get(server, connections, path, *arguments, port=None):
                before = server.cpu_seconds()
                result = self.load(port or server.port, connections, "--get", path, *arguments, core=CLIENT_CORE)
                result["cpu_s"] = server.cpu_seconds() - before
                return result

            for name, connections in (("small", GET_CONNECTIONS), ("large", 1)):
                rival, ours = self.take_turns(
                    lambda _: get(nginx, connections, f"/{name}"),
                    lambda _: get(kyanite, connections, f"/{ACCOUNT}/{CONTAINER}/{name}", *signed))
                if name == "small":
                    self.row("GET 4 KiB, 32 connections", "req/s", rates(ours), rates(rival), "nginx", 0.8,
                             notes=f"CPU {cpu_us(ours):.1f} us/req, nginx {cpu_us(rival):.1f}; p99 {median(ours, 'p99_us'):.0f} us")
                else:
                    self.row("GET 64 MiB, per CPU second", "GiB/s", gib_per_cpu(ours), gib_per_cpu(rival), "nginx", 0.9,
                             notes=f"wall {median(ours, 'rate') / 16:.2f} GiB/s, nginx {median(rival, 'rate') / 16:.2f}")

            rival, ours = self.take_turns(
                lambda _: get(nginx, GET_CONNECTIONS, "/small"),
                lambda _: get(kyanite, GET_CONNECTIONS, f"/{ACCOUNT}/{SHARE}/small", *signed, port=kyanite.file_port))
            self.row("Get File 4 KiB, 32 connections", "req/s", rates(ours), rates(rival), "nginx", 0.8,
                     notes=f"CPU {cpu_us(ours):.1f} us/req, nginx {cpu_us(rival):.1f}; p99 {median(ours, 'p99_us'):.0f} us")

    def durable_puts(self):
        signed = ["--account", ACCOUNT, "--key", KEY]
        with Kyanite(self.binary) as kyanite, tempfile.TemporaryDirectory(prefix="kyanite-bench-") as scratch:
            create_container(kyanite.port)

            def put_many(turn, connections):
                prefix = f"/{ACCOUNT}/{CONTAINER}/put{connections}x{turn}"
                before = kyanite.cpu_seconds()
                result = self.load(kyanite.port, connections, "--put", prefix, "--size", SMALL, *signed)
                result["cpu_s"] = kyanite.cpu_seconds() - before
                return result

            rival, ours = self.take_turns(
                lambda turn: self.program("rocksdb_writes", f"{scratch}/db{turn}", PUT_CONNECTIONS, SMALL, self.seconds),
                lambda turn: put_many(turn, PUT_CONNECTIONS))
            self.row("Put Blob 4 KiB, 64 connections", "req/s", rates(ours), rates(rival), "RocksDB, 64 threads", 0.6,
                     notes=f"CPU {cpu_us(ours):.1f} us/req; p50 {median(ours, 'p50_us'):.0f} us, p99 {median(ours, 'p99_us'):.0f} us")

            create_range_files(kyanite.file_port)

            def put_ranges(_):
                before = kyanite.cpu_seconds()
                result = self.load(kyanite.file_port, PUT_CONNECTIONS, "--range", f"/{ACCOUNT}/{SHARE}", "--size", SMALL, *signed)
                result["cpu_s"] = kyanite.cpu_seconds() - before
                return result

            rival, ours = self.take_turns(
                lambda turn: self.program("rocksdb_writes", f"{scratch}/ranges{turn}", PUT_CONNECTIONS, SMALL, self.seconds),
                put_ranges)
            self.row("Put Range 4 KiB, 64 connections", "req/s", rates(ours), rates(rival), "RocksDB, 64 threads", 0.6,
                     notes=f"CPU {cpu_us(ours):.1f} us/req; p50 {median(ours, 'p50_us'):.0f} us, p99 {median(ours, 'p99_us'):.0f} us")

            rival, ours = self.take_turns(
                lambda _: self.program("raw_sync", f"{scratch}/raw", self.seconds),
                lambda turn: put_many(turn, 1))
            self.row("Put Blob 4 KiB, 1 connection, p50", "us", [r["p50_us"] for r in ours], [r["p50_us"] for r in rival],
                     "raw fdatasync", 3.5, at_least=False)

    def start_and_rest(self):
        starts, sizes = [], []
        for _ in range(self.rounds):
            with Kyanite(self.binary) as kyanite:
                starts.append(kyanite.start_s * 1000)
                time.sleep(0.5)  # Idle means that what starts in the background has started.
                sizes.append(kyanite.resident_mib())
        self.row("Start on an empty location", "ms", starts, [], "", 200, at_least=False)
        self.row("Memory when idle", "MiB", sizes, [], "", 60, at_least=False)

    def run(self):
        self.start_and_rest()
        self.get_small_and_large()
        self.durable_puts()


def rates(results):
    return [result["rate"] for result in results]


def median(results, name):
    return statistics.median(result[name] for result in results)


def cpu_us(results):
    return statistics.median(result["cpu_s"] * 1e6 / result["count"] for result in results)


def gib_per_cpu(results):
    return [result["count"] * LARGE / 2**30 / result["cpu_s"] for result in results]


async def requests(port, *calls):
    connection = Connection("127.0.0.1", port, ACCOUNT, KEY)
    for call in calls:
        reply = await connection.request(*call)
        if reply.status not in (201, 409):
            raise RuntimeError(f"{call[:3]}: {reply.status} {reply.code}")
    connection.close()


def create_container(port):
    asyncio.run(requests(port, ("PUT", f"/{CONTAINER}", {"restype": "container"})))


def put(port, name, content):
    create_container(port)
    asyncio.run(requests(port, ("PUT", f"/{CONTAINER}/{name}", {}, {"x-ms-blob-type": "BlockBlob"}, content)))


def create_file(name, length):
    return "PUT", f"/{SHARE}/{name}", {}, {"x-ms-type": "file", "x-ms-content-length": str(length)}


def put_file(port, name, content):
    headers = {"x-ms-write": "update", "x-ms-range": f"bytes=0-{len(content) - 1}"}
    asyncio.run(requests(port, ("PUT", f"/{SHARE}", {"restype": "share"}), create_file(name, len(content)),
                         ("PUT", f"/{SHARE}/{name}", {"comp": "range"}, headers, content)))


def create_range_files(port):
    asyncio.run(requests(port, ("PUT", f"/{SHARE}", {"restype": "share"}),
                         *(create_file(number, RANGE_FILE_BYTES) for number in range(RANGE_FILES))))


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"cpu": model, "cores": os.cpu_count(), "load": os.getloadavg()[0], "kernel": platform.release()}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 rounds of 1 s instead of 7 of 2 s")
    parser.add_argument("--json", type=pathlib.Path, help="write everything measured to this file")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help=argparse.SUPPRESS)
    arguments = parser.parse_args()

    about = machine()
    busy = about["load"] > BUSY_LOAD_PER_CORE * about["cores"]
    print(f"-- {about['cores']} cores, {about['cpu']}, load {about['load']:.2f}{' (BUSY: take the figures with care)' if busy else ''}")
    print(f"{'what':<34}{'ours':>12} {'':<7}{'denominator':<34}{'ratio':>7}  {'target':<9}")
    bench = Bench(arguments.build, arguments.quick)
    bench.run()
    if arguments.json:
        text = json.dumps({"machine": about, "busy": busy, "load_after": os.getloadavg()[0], "rows": bench.rows}, indent=2)
        arguments.json.write_text(text + "\n")
    missed = [row["what"] for row in bench.rows if not row["met"]]
    print(f"{len(bench.rows) - len(missed)} of {len(bench.rows)} targets met" + (f"; not met: {', '.join(missed)}" if missed else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
