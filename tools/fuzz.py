"""./dev fuzz: runs every fuzzer for a while and says what it found. Inputs that reached new code are kept in build/corpus and
are where the next run begins; tests/corpus has the first ones. corpus_test runs those, and changes of them, in every build.
What a fuzzer failed on is kept in build/found, with the command that repeats it."""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOUND = ROOT / "build" / "found"
MOST_INPUT_BYTES = 16 * 1024
MOST_MEMORY_MIB = 2048
LONGEST_INPUT_S = 10
LONGEST_END_S = 120  # To load what earlier runs have kept, and to end.
PLANTED = ("check", "read", "overflow", "memory", "hang")  # As in tests/fuzz/planted_fuzz.cc.
LONGEST_PLANTED_S = 60
# A story of requests, or a session, takes so many edges that counting how rare each is took nine tenths of the time; and as threads keep what
# they will use again, each would be searched for leaks. Those of a whole run are still reported.
STORIES = ("front_fuzz", "drive_session_fuzz")
STORY_OPTIONS = ["-entropic=0", "-detect_leaks=0"]


@dataclasses.dataclass
class Outcome:
    fuzzer: pathlib.Path
    inputs: int = 0
    edges: int = 0  # Of the control flow of what is fuzzed, how many were taken.
    kept: int = 0  # Inputs that together take them.
    failure: str = ""  # The end of the fuzzer's log, if it did not end well.
    reproducer: pathlib.Path | None = None

    def __str__(self):
        reached = f"{self.inputs:,} inputs, {self.edges:,} edges reached by {self.kept:,} of them"
        return f"   {self.fuzzer.name}: {reached}, {'FAILED' if self.failure else 'nothing found'}"

    def replay(self):
        return [str(self.fuzzer), f"-timeout={LONGEST_INPUT_S}", str(self.reproducer)]

    def advice(self):
        if not self.reproducer:
            return "   It left no input; the log above says how it ended."
        seeds = seeds_of(self.fuzzer).relative_to(ROOT)
        return (f"   The input is {relative(self.reproducer)}. To repeat it:\n"
                f"     {' '.join(relative(part) for part in self.replay())}\n"
                f"   Once mended, a copy of it in {seeds} is run by every ./dev test.")


def relative(path):
    return str(path).removeprefix(f"{ROOT}/")


def seeds_of(fuzzer):
    return ROOT / "tests" / "corpus" / fuzzer.name.removesuffix("_fuzz")


def dictionary():
    """The words of the protocol, from the sources that know them: what a fuzzer of requests puts in."""
    words = set()
    for folder in ("auth", "blob", "datalake", "file", "headers", "queue", "service", "table", "wire"):
        for path in (ROOT / "src" / folder).glob("*.cc"):
            if not re.search(r"_(test|fuzz)\.cc$", path.name):
                words |= set(re.findall(r'"([\w$][\w$.-]{2,47})"', path.read_text()))
    file = ROOT / "build" / "fuzz.dict"
    file.write_text("".join(f'"{word}"\n' for word in sorted(words)))
    return file


def fuzzers(build):
    """Those of src/, and those of whole requests. The planted one is for --self-test."""
    sources = [*(ROOT / "src").rglob("*_fuzz.cc"), *(ROOT / "tests" / "fuzz").glob("*_fuzz.cc")]
    return [build / name for name in sorted(path.stem for path in sources) if name != "planted_fuzz"]


def run(fuzzer, seconds, arguments, environment=None):
    """Runs one fuzzer. The arguments are options and folders with inputs, of which the first one takes those that are worth
    keeping."""
    FOUND.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [str(fuzzer), f"-max_total_time={seconds}", f"-max_len={MOST_INPUT_BYTES}", f"-rss_limit_mb={MOST_MEMORY_MIB}",
             f"-timeout={LONGEST_INPUT_S}", "-print_final_stats=1", f"-artifact_prefix={FOUND}/{fuzzer.name}-",
             *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            env={**os.environ, **(environment or {})}, timeout=seconds + LONGEST_END_S)
    except subprocess.TimeoutExpired:
        return Outcome(fuzzer, failure=f"did not end within {seconds + LONGEST_END_S} s")
    return outcome(fuzzer, done.returncode, done.stderr)


def outcome(fuzzer, code, log):
    """What a fuzzer that ended so has found. One that says nothing about its inputs has failed, whatever its code."""
    result = Outcome(fuzzer)
    if inputs := re.search(r"stat::number_of_executed_units:\s*(\d+)", log):
        result.inputs = int(inputs[1])
    if reached := re.findall(r"cov: (\d+) .*corp: (\d+)/", log):
        result.edges, result.kept = map(int, reached[-1])
    if written := re.search(r"Test unit written to (.+)", log):
        result.reproducer = pathlib.Path(written[1])
    if code != 0 or not result.inputs:
        result.failure = "\n".join(log.splitlines()[-40:]) or f"ended with {code} and without a word"
    return result


def fuzz(chosen, minutes):
    """Runs these fuzzers, as many at once as there are processors. How many failed."""
    began = time.monotonic()
    jobs = min(len(os.sched_getaffinity(0)), len(chosen))
    seconds = max(1, round(minutes * 60 * jobs / len(chosen)))
    protocol_words = dictionary()

    def one(fuzzer):
        corpus = ROOT / "build" / "corpus" / fuzzer.name
        corpus.mkdir(parents=True, exist_ok=True)
        options = STORY_OPTIONS if fuzzer.name in STORIES else []
        words = [f"-dict={protocol_words}"] if fuzzer.name == "front_fuzz" else []
        return run(fuzzer, seconds, [*options, *words, corpus, seeds_of(fuzzer)])

    inputs = failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for each in concurrent.futures.as_completed([pool.submit(one, fuzzer) for fuzzer in chosen]):
            result = each.result()
            inputs += result.inputs
            failed += bool(result.failure)
            lines = [result.failure, str(result), result.advice()] if result.failure else [str(result)]
            print("\n".join(lines), flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed ({inputs:,} inputs in {time.monotonic() - began:.0f} s)")
    return failed


def self_test(build):
    """Fuzzes what has faults. How many were missed, or were found with an input that does not show them again."""
    missed = 0
    for fault in PLANTED:
        environment = {"KYANITE_PLANTED": fault}
        with tempfile.TemporaryDirectory(prefix="kyanite-fuzz-") as corpus:
            found = run(build / "planted_fuzz", LONGEST_PLANTED_S, [corpus], environment)
        shown = found.failure and found.reproducer and subprocess.run(
            found.replay(), stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, **environment}).returncode != 0
        if found.reproducer:
            found.reproducer.unlink()
        print(f"   planted {fault}: {f'found after {found.inputs:,} inputs, and again' if shown else 'NOT FOUND'}", flush=True)
        missed += not shown
    print(f"{len(PLANTED) - missed} passed, {missed} failed")
    return missed


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2, help="for all fuzzers together (2)")
    parser.add_argument("--only", default="", help="fuzzers whose name contains this")
    parser.add_argument("--self-test", action="store_true", help="fuzz what has faults and see that they are found")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "asan-ubsan", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.self_test:
        return 1 if self_test(arguments.build) else 0
    chosen = [fuzzer for fuzzer in fuzzers(arguments.build) if arguments.only in fuzzer.name]
    if not chosen:
        parser.error(f"no fuzzer's name contains '{arguments.only}'")
    return 1 if fuzz(chosen, arguments.minutes) else 0


if __name__ == "__main__":
    sys.exit(main())
