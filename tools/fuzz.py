"""./dev fuzz: runs every fuzzer for a while and says what it found. Inputs that reached new code are kept in build/corpus and
are where the next run begins; tests/corpus has the first ones. corpus_test runs those, and changes of them, in every build."""

import argparse
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_INPUT_BYTES = 16 * 1024
MOST_MEMORY_MIB = 2048


def fuzzers(build):
    names = sorted(path.stem for path in (ROOT / "src").rglob("*_fuzz.cc"))
    return [build / name for name in names]


def run(fuzzer, seconds):
    """True when nothing was found."""
    corpus = ROOT / "build" / "corpus" / fuzzer.name
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = ROOT / "tests" / "corpus" / fuzzer.name.removesuffix("_fuzz")
    done = subprocess.run(
        [str(fuzzer), f"-max_total_time={seconds}", f"-max_len={MOST_INPUT_BYTES}", f"-rss_limit_mb={MOST_MEMORY_MIB}",
         "-timeout=10", "-print_final_stats=1", f"-artifact_prefix={corpus.parent}/{fuzzer.name}-", str(corpus), str(seeds)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode == 0 and runs:
        print(f"   {fuzzer.name}: {int(runs[1]):,} inputs, nothing found", flush=True)
        return True
    print("\n".join(done.stderr.splitlines()[-40:]))
    print(f"   {fuzzer.name}: FAILED; the input is in build/corpus", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2, help="for all fuzzers together (2)")
    parser.add_argument("--only", default="", help="fuzzers whose name contains this")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "fuzz", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    chosen = [fuzzer for fuzzer in fuzzers(arguments.build) if arguments.only in fuzzer.name]
    seconds = max(1, round(arguments.minutes * 60 / max(1, len(chosen))))
    began = time.monotonic()
    failed = sum(not run(fuzzer, seconds) for fuzzer in chosen)
    print(f"{len(chosen) - failed} passed, {failed} failed ({time.monotonic() - began:.0f} s)")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
