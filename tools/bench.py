"""./dev bench: what Kyanite does on this machine, each figure beside the floor or the rival measured in the same run.

Rival and Kyanite take turns, round by round, and the ratio is the median of the rounds' ratios: what else the machine does
meanwhile hits both. Figures of different machines, or of different runs, are not to be compared; ratios are.
"""

import argparse
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "torture"), str(ROOT / "tests" / "py")]

import bench_fairness
import bench_lake
import bench_offered
import bench_rows
import bench_sizes
import bench_smb
import instructions
import plot
from bench_servers import disk_written_bytes

BUSY_LOAD_PER_CORE = 0.3  # Above this figures are marked as measured on a busy machine.
SECTIONS = {"start": bench_rows.start, "reads": bench_rows.reads, "writes": bench_rows.writes, "sizes": bench_sizes.sizes,
            "tables": bench_sizes.tables, "fairness": bench_fairness.fairness, "peers": bench_rows.peers,
            "offered": bench_offered.offered,
            "lake": bench_lake.lake, "smb": bench_smb.smb, "instructions": instructions.section}
NOT_QUICK = ("offered", "lake", "smb", "instructions")  # Left out by --quick unless they are named.
COSTS = {"p50_us": "p50 us", "p99_us": "p99 us", "p999_us": "p99.9 us", "cpu_us": "CPU us", "written": "written B"}


def costs_of(results, requests):
    """Medians of the rounds; CPU time and bytes written are for each request, latencies for what is timed as one. Bytes are
    those of the whole machine's disk."""
    def median(figure):
        return statistics.median(figure(result) for result in results)
    latencies = {name: median(lambda result: result[name]) for name in ("p50_us", "p99_us", "p999_us")}
    return {**latencies, "cpu_us": median(lambda result: result["cpu_s"] * 1e6 / result["count"] / requests),
            "written": median(lambda result: result["written"] / result["count"] / requests)}


class Bench:
    def __init__(self, build, quick):
        self.binary = build / "kyanite"
        self.programs = build / "tests" / "load"
        self.azurite = ROOT / "build" / "azurite" / "node_modules" / "azurite" / "dist" / "src" / "azurite.js"
        self.rounds, self.seconds = (3, 0.4) if quick else (7, 2.0)
        self.size_rounds, self.size_seconds = (3, 0.15) if quick else (3, 0.5)
        self.levels = (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
        self.quick = quick
        self.rows = []

    def program(self, name, *arguments, core=None):
        """One run of a program; its result, with what the disk wrote meanwhile."""
        before = disk_written_bytes()
        pin = ["taskset", "-c", str(core)] if core is not None and os.cpu_count() > 1 else []
        done = subprocess.run([*pin, str(self.programs / name), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        if result["errors"] or not result["count"]:
            raise RuntimeError(f"{name} {arguments}: {result}")
        return {**result, "written": disk_written_bytes() - before}

    def load(self, port, connections, *arguments, core=None, seconds=None):
        return self.program("load", "--port", port, "--connections", connections, "--seconds", seconds or self.seconds,
                            *arguments, core=core)

    def take_turns(self, rival, ours):
        """Each a function of the round's number; after one unmeasured turn of each. Returns two lists of results."""
        rival(-1), ours(-1)
        results = [(rival(turn), ours(turn)) for turn in range(self.rounds)]
        return [first for first, _ in results], [second for _, second in results]

    def row(self, what, unit, ours, rival, against, target=None, at_least=True, costs=None, sizes=None):
        """`ours` and `rival` are lists of one figure per round; without a rival the target is compared with ours. Rows
        without a target stand for comparison only. `costs`: the results of both, one a round, or what costs_of() made of
        them. `sizes`: microseconds by the number of objects."""
        ratios = [mine / its for mine, its in zip(ours, rival)] if rival else []
        judged = statistics.median(ratios or ours)
        mine, its = [side if isinstance(side, dict) else costs_of(side, 1) for side in costs] if costs else ({}, {})
        self.rows.append({
            "what": what, "unit": unit, "ours": statistics.median(ours), "against": against,
            "denominator": statistics.median(rival) if rival else None,
            "ratio": judged if rival else None, "ratios": ratios, "target": target, "at_least": at_least,
            "met": target is None or (judged >= target if at_least else judged <= target),
            "costs": mine, "rival_costs": its, "sizes": sizes or {}})
        print(line(self.rows[-1]), flush=True)

    def rate_row(self, what, ours, rival, against, target=None, requests=1, rival_requests=1):
        """Requests a second; `requests` of them were counted as one."""
        self.row(what, "req/s", [result["rate"] * requests for result in ours],
                 [result["rate"] * rival_requests for result in rival], against, target,
                 costs=(costs_of(ours, requests), costs_of(rival, rival_requests)))


def heading():
    costs = "".join(f"{name + ' (ratio)':>19}" for name in COSTS.values())
    return f"{'what':<42}{'ours':>11} {'':<6}{'denominator':<33}{'ratio':>6}  {'target':<8}{'':<8}{costs}"


def line(row):
    ratio = f"{row['ratio']:.2f}" if row["ratio"] is not None else ""
    denominator = f"{row['denominator']:,.1f} ({row['against']})" if row["denominator"] is not None else ""
    target = f"{'>=' if row['at_least'] else '<='} {row['target']}" if row["target"] is not None else ""
    met = "" if row["target"] is None else "met" if row["met"] else "NOT MET"
    text = f"{row['what']:<42}{row['ours']:>11,.1f} {row['unit']:<6}{denominator:<33}{ratio:>6}  {target:<8}{met:<8}"
    for name in COSTS if row["costs"] else ():
        its = row["rival_costs"].get(name)
        compared = f"({row['costs'][name] / its:.2f})" if its else ""
        text += f"{row['costs'][name]:>11,.1f} {compared:<7}"
    if row["sizes"]:
        text += "  p50 us " + ", ".join(f"{level:,}: {value:,.0f}" for level, value in row["sizes"].items())
    return text.rstrip()


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"cpu": model, "cores": os.cpu_count(), "load": os.getloadavg()[0], "kernel": platform.release()}


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.4 s instead of 7 of 2 s, at most 100,000 objects")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="this section; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="write everything measured to this file; adds to what it has")
    parser.add_argument("--plot", type=pathlib.Path, help="draw what the file of --json has into this folder")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help=argparse.SUPPRESS)
    return parser.parse_args()


def write_json(path, about, sections):
    """Sections measured earlier stay: a whole run may be made in parts."""
    known = json.loads(path.read_text())["sections"] if path.exists() else {}
    path.write_text(json.dumps({"machine": about, "sections": {**known, **sections}}, indent=2) + "\n")


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that servers end and their data vanishes.
    if arguments.plot and not arguments.only:
        plot.draw(json.loads(arguments.json.read_text()), arguments.plot)
        return 0
    about, began = machine(), time.monotonic()
    busy = about["load"] > BUSY_LOAD_PER_CORE * about["cores"]
    print(f"-- {about['cores']} cores, {about['cpu']}, load {about['load']:.2f}"
          + (" (BUSY: take the figures with care)" if busy else ""))
    print(heading())
    sections = {}
    for name in arguments.only or [name for name in SECTIONS if not (arguments.quick and name in NOT_QUICK)]:
        bench = Bench(arguments.build, arguments.quick)
        SECTIONS[name](bench)
        sections[name] = {"quick": arguments.quick, "busy": busy, "rows": bench.rows}
        if arguments.json:
            write_json(arguments.json, about, sections)
    if arguments.plot:
        plot.draw(json.loads(arguments.json.read_text()), arguments.plot)
    judged = [row for section in sections.values() for row in section["rows"] if row["target"] is not None]
    missed = [row["what"] for row in judged if not row["met"]]
    print(f"{len(judged) - len(missed)} of {len(judged)} targets met in {time.monotonic() - began:.0f} s"
          + (f"; not met: {', '.join(missed)}" if missed else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
