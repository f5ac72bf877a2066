"""Makes the server's life hard and checks that it kept every promise.

A promise is a reply: each acknowledged write must be there, byte for byte and with its ETag; a write whose reply never came
must have happened wholly or not at all. Without an option the server is killed with -9 at random moments under load. The
seed decides who does what, in which order, and after how many replies something happens; the interleaving of the clients and
the exact instants are the machine's.
"""

import argparse
import asyncio
import json
import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "py"))

from backups import Backups, FarBackups
from bad import BadDisk
from client import Disconnected
from clocks import ClockJumps
from crowd import Crowd
from descriptors import Descriptors
from full import DiskFull
from kills import Kills
from lost import LostParts
from owner import Wrong
from power import PowerCut

MODES = (Kills, PowerCut, DiskFull, BadDisk, LostParts, Descriptors, ClockJumps, Crowd, Backups, FarBackups)
HELP = {
    PowerCut: "kill the server and take back what it had not synced, wholly, in part, or with the last write torn",
    DiskFull: "let the disk have no room for a while",
    BadDisk: "let reads fail or deliver a wrong bit",
    LostParts: "lose, cut or exchange parts of the data directory between two starts",
    Descriptors: "let the server open nothing for a while",
    ClockJumps: "set the clock forward and back",
    Crowd: "with thousands of idle and slow connections",
    Backups: "back the server up under load, kill some of the backups, and verify what is restored",
    FarBackups: "the same to a container of another server",
}


async def torture(mode, cycles, seconds):
    """Cycles until one finds something or the time is over."""
    began = time.monotonic()
    problems = await mode.prepare() or []
    while not problems and mode.report.cycles < cycles and (mode.report.cycles == 0 or time.monotonic() - began < seconds):
        problems = await mode.checked_cycle()
        if mode.report.cycles % 10 == 0:
            print(f"   cycle {mode.report.cycles}: {mode.report.acknowledged} writes acknowledged", flush=True)
    return problems


async def prove(mode):
    """Whether the mode notices what it is there to notice."""
    return await mode.prepare() or await mode.self_test()


def summary(report, seconds):
    starts = sorted(report.starts_s[1:]) or [0]
    return {
        "cycles": report.cycles,
        "seconds": round(seconds, 1),
        "acknowledged": report.acknowledged,
        "rightly_refused": report.refused,
        "answered_with_an_error": report.unavailable,
        "without_reply": report.in_flight,
        "restart_s": {"median": round(statistics.median(starts), 3), "slowest": round(starts[-1], 3)},
        **report.notes,
    }


async def run_mode(mode, work):
    """Figures and problems of one mode. Its data is gone afterwards, unless there were problems."""
    began = time.monotonic()
    try:
        problems = await work(mode)
        mode.run.end()
    except (Wrong, Disconnected, RuntimeError, AssertionError) as error:
        problems = [str(error)]
        mode.run.abandon()
    figures = summary(mode.report, time.monotonic() - began)
    print(f"   {figures}", flush=True)
    for problem in problems:
        print(f"FAILED {mode.name}: {problem}")
    if problems:
        print(f"The data is left in {mode.run.scratch}; --seed {mode.run.seed} repeats the choices of this run.")
    else:
        mode.run.discard()
    return {**figures, "failures": problems}


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev torture", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cycles", type=int, default=200, help="of each way of torture (default 200)")
    parser.add_argument("--seconds", type=float, default=600, help="begin no cycle after so many seconds (default 600)")
    parser.add_argument("--minutes", type=float, help="every way in turn, for so many minutes together")
    parser.add_argument("--seed", type=int, default=None, help="as printed by an earlier run")
    parser.add_argument("--self-test", action="store_true", help="do damage on purpose and see that it is noticed")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    for mode, text in HELP.items():
        parser.add_argument(f"--{mode.name}", dest="modes", action="append_const", const=mode, help=text)
    parser.add_argument("--crowd", type=int, default=10_000, help="how many connections --connections has (default 10000)")
    return parser.parse_args()


async def main():
    arguments = parse_arguments()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    modes = MODES if arguments.minutes else arguments.modes or [Kills]
    seconds = arguments.minutes * 60 / len(modes) if arguments.minutes else arguments.seconds
    figures = {}
    for kind in modes:
        print(f"-- torture: {kind.name}, seed {seed}", flush=True)
        mode = Crowd(seed, arguments.crowd) if kind is Crowd else kind(seed)
        work = prove if arguments.self_test else lambda each: torture(each, arguments.cycles, seconds)
        figures[kind.name] = await run_mode(mode, work)
    if arguments.json:
        arguments.json.write_text(json.dumps({"seed": seed, **figures}, indent=2) + "\n")
    if any(each["failures"] for each in figures.values()):
        return 1
    print("all damage was noticed" if arguments.self_test else "every promise was kept")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
