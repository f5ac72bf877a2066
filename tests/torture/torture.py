"""Kills the server with -9 at random moments under load, starts it again, and checks that it kept every promise.

A promise is a reply: each acknowledged write must be there, byte for byte and with its ETag; a write whose reply never came
must have happened wholly or not at all. The seed decides who does what, in which order, and after how many replies the kill
comes; the interleaving of the clients and the exact instant of the kill are the machine's.
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

import sabotage
from client import Disconnected
from owner import Wrong
from trial import Run

ENOUGH_FOR_COVERAGE = 10_000  # Acknowledged writes after which every operation must have been among them.


async def torture(run, cycles, seconds):
    run.start()
    await run.prepare()
    problems = await run.count_together()
    began = time.monotonic()
    while not problems and run.report.cycles < cycles and time.monotonic() - began < seconds:
        problems = await run.cycle()
        if run.report.cycles % 10 == 0:
            print(f"   cycle {run.report.cycles}: {run.report.acknowledged} writes acknowledged", flush=True)
    if not problems and run.report.acknowledged > ENOUGH_FOR_COVERAGE:
        problems = [f"no client ever had this acknowledged: {service} {name}" for service, name in run.coverage.missing()]
    return problems


def summary(report, seconds):
    starts = sorted(report.starts_s[1:]) or [0]
    return {
        "cycles": report.cycles,
        "seconds": round(seconds, 1),
        "acknowledged": report.acknowledged,
        "rightly_refused": report.refused,
        "without_reply": report.in_flight,
        "restart_s": {"median": round(statistics.median(starts), 3), "slowest": round(starts[-1], 3)},
    }


async def main():
    parser = argparse.ArgumentParser(prog="./dev torture", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cycles", type=int, default=200, help="kills (default 200)")
    parser.add_argument("--seconds", type=float, default=600, help="begin no cycle after so many seconds (default 600)")
    parser.add_argument("--seed", type=int, default=None, help="as printed by an earlier run")
    parser.add_argument("--self-test", action="store_true", help="damage the data on purpose and see that it is noticed")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"-- torture, seed {seed}", flush=True)

    run = Run(seed)
    began = time.monotonic()
    try:
        if arguments.self_test:
            problems = await sabotage.self_test(run)
        else:
            problems = await torture(run, arguments.cycles, arguments.seconds)
    except (Wrong, Disconnected, RuntimeError) as error:
        problems = [str(error)]
    run.end()
    figures = summary(run.report, time.monotonic() - began)
    print(f"   {figures}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"seed": seed, "failures": problems, **figures}, indent=2) + "\n")
    for problem in problems:
        print(f"FAILED {problem}")
    if problems:
        print(f"The data is left in {run.scratch}; --seed {seed} repeats the choices of this run.")
        return 1
    run.discard()
    print("all damage was noticed" if arguments.self_test else "every promise was kept")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
