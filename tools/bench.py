"""./dev bench: what Kyanite does on this machine, each figure beside the floor or the rival measured in the same run.

Rival and Kyanite take turns, round by round, and the ratio is the median of the rounds' ratios: what else the machine does
meanwhile hits both. Figures of different machines, or of different runs, are not to be compared; ratios are.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "torture"), str(ROOT / "tests" / "py")]

import bench_rows

BUSY_LOAD_PER_CORE = 0.3  # Above this figures are marked as measured on a busy machine.


class Bench:
    def __init__(self, build, quick):
        self.binary = build / "kyanite"
        self.programs = build / "tests" / "load"
        self.azurite = ROOT / "build" / "azurite" / "node_modules" / "azurite" / "dist" / "src" / "azurite.js"
        self.rounds, self.seconds = (3, 1.0) if quick else (7, 2.0)
        self.quick = quick
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

    def load(self, port, connections, *arguments, core=None, seconds=None):
        return self.program("load", "--port", port, "--connections", connections, "--seconds", seconds or self.seconds,
                            *arguments, core=core)

    def take_turns(self, rival, ours):
        """Each a function of the round's number; after one unmeasured turn of each. Returns two lists of results."""
        rival(-1), ours(-1)
        results = [(rival(turn), ours(turn)) for turn in range(self.rounds)]
        return [first for first, _ in results], [second for _, second in results]

    def row(self, what, unit, ours, rival, against, target=None, at_least=True, notes=""):
        """`ours` and `rival` are lists of one figure per round; without a rival the target is compared with ours. Rows
        without a target stand for comparison only."""
        ratios = [mine / its for mine, its in zip(ours, rival)] if rival else []
        judged = statistics.median(ratios or ours)
        self.rows.append({
            "what": what, "unit": unit, "ours": statistics.median(ours), "against": against,
            "denominator": statistics.median(rival) if rival else None,
            "ratio": judged if rival else None, "ratios": ratios, "target": target, "at_least": at_least,
            "met": target is None or (judged >= target if at_least else judged <= target), "notes": notes})
        print(self.line(self.rows[-1]), flush=True)

    @staticmethod
    def line(row):
        ratio = f"{row['ratio']:.2f}" if row["ratio"] is not None else ""
        denominator = f"{row['denominator']:,.1f} ({row['against']})" if row["denominator"] is not None else ""
        target = f"{'>=' if row['at_least'] else '<='} {row['target']}" if row["target"] is not None else ""
        met = "" if row["target"] is None else "met" if row["met"] else "NOT MET"
        return f"{row['what']:<36}{row['ours']:>12,.1f} {row['unit']:<7}{denominator:<34}{ratio:>7}  {target:<9}{met:<9}{row['notes']}"


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"cpu": model, "cores": os.cpu_count(), "load": os.getloadavg()[0], "kernel": platform.release()}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 rounds of 1 s instead of 7 of 2 s, a tenth of the objects")
    parser.add_argument("--only", choices=bench_rows.SECTIONS, action="append", help="this section; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="write everything measured to this file")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help=argparse.SUPPRESS)
    arguments = parser.parse_args()

    about = machine()
    busy = about["load"] > BUSY_LOAD_PER_CORE * about["cores"]
    print(f"-- {about['cores']} cores, {about['cpu']}, load {about['load']:.2f}{' (BUSY: take the figures with care)' if busy else ''}")
    print(f"{'what':<36}{'ours':>12} {'':<7}{'denominator':<34}{'ratio':>7}  {'target':<9}")
    bench = Bench(arguments.build, arguments.quick)
    for name in arguments.only or bench_rows.SECTIONS:
        bench_rows.SECTIONS[name](bench)
    if arguments.json:
        text = json.dumps({"machine": about, "busy": busy, "load_after": os.getloadavg()[0], "rows": bench.rows}, indent=2)
        arguments.json.write_text(text + "\n")
    judged = [row for row in bench.rows if row["target"] is not None]
    missed = [row["what"] for row in judged if not row["met"]]
    print(f"{len(judged) - len(missed)} of {len(judged)} targets met" + (f"; not met: {', '.join(missed)}" if missed else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
