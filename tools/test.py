"""Runs the test suites of a build, two at a time, and ends with one line: N passed, N failed.

Suites are named unit/FOLDER_test (GoogleTest programs of the build), js/NAME (tests/js/NAME.test.mjs, Node.js's own
runner) and py/NAME (tests/py/test_NAME.py, unittest); with --smb only smb/NAME (tests/smb/test_NAME.py), with --packages only packages/NAME
(tests/packages/test_NAME.py), with --clients only clients/NAME (folders of tests/clients). Black-box suites start servers of their own
from KYANITE_BINARY.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import clients

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITES_AT_ONCE = 2
SUITE_TIMEOUT_S = 900
CLIENT_TIMEOUT_S = 3600  # Installing and building it among it, the first time.
TAIL_LINES = 60


class Suite:
    """One program to run: its name, its command, and where its report goes. `slow` ones are left out by --quick."""

    def __init__(self, name, command, report, slow=False, timeout=SUITE_TIMEOUT_S):
        self.name, self.command, self.report, self.slow, self.timeout = name, command, report, slow, timeout
        self.passed, self.failures, self.output, self.seconds = 0, [], "", 0.0
        self.left_out = ""  # Why it could not run here.

    def run(self, environment):
        self.report.unlink(missing_ok=True)
        began = time.monotonic()
        # A process group of its own, so that a time-out ends the servers a suite has started as well.
        process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            self.failures.append(f"(stopped after {self.timeout} s)")
        self.output = output.decode(errors="replace")
        self.seconds = time.monotonic() - began
        (self.report.parent / (self.report.stem + ".log")).write_text(self.output)
        if self.report.exists():
            self.read_report()
        if process.returncode != 0 and not self.failures:
            self.failures.append(f"(exit code {process.returncode})")
        return self

    def read_report(self):
        if self.report.suffix == ".json":
            report = json.loads(self.report.read_text())
            self.passed += report["passed"]
            self.failures += report["failed"]
            self.left_out = report.get("left out", "")
            return
        try:
            cases = xml.etree.ElementTree.parse(self.report).iter("testcase")
        except xml.etree.ElementTree.ParseError:
            self.failures.append("(unreadable report)")
            return
        for case in cases:
            name = f"{case.get('classname', '')}.{case.get('name', '')}".lstrip(".")
            if case.find("failure") is not None or case.find("error") is not None:
                self.failures.append(name)
            elif case.find("skipped") is None and case.get("status") != "notrun":
                self.passed += 1


def find_suites(build, test, apart):
    reports = build / "reports"
    reports.mkdir(exist_ok=True)
    if apart in ("smb", "packages"):
        yield from find_python_suites(apart, reports, test)
        return
    if apart == "clients":
        yield from find_clients(reports, test)
        return
    for program in sorted(build.glob("*_test")):
        report = reports / f"{program.name}.xml"
        command = [str(program), f"--gtest_output=xml:{report}", "--gtest_brief=1"]
        yield Suite(f"unit/{program.name}", command + ([f"--gtest_filter=*{test}*"] if test else []), report)
    for script in sorted((ROOT / "tests" / "js").glob("*.test.mjs")):
        name = script.name.removesuffix(".test.mjs")
        report = reports / f"js-{name}.xml"
        command = ["node", "--test", "--test-reporter=spec", "--test-reporter-destination=stdout",
                   "--test-reporter=junit", f"--test-reporter-destination={report}"]
        yield Suite(f"js/{name}", [*command, *([f"--test-name-pattern={test}"] if test else []), str(script)], report)
    yield from find_python_suites("py", reports, test)


def find_python_suites(folder, reports, test):
    for script in sorted((ROOT / "tests" / folder).glob("test_*.py")):
        name = script.stem.removeprefix("test_")
        report = reports / f"{folder}-{name}.json"
        command = [sys.executable, str(ROOT / "tests" / "py" / "run.py"), str(script), str(report)]
        yield Suite(f"{folder}/{name}", command + ([test] if test else []), report, slow=True)


def find_clients(reports, test):
    for name in clients.CLIENTS:
        report = reports / f"clients-{name}.json"
        command = [sys.executable, str(ROOT / "tests" / "clients" / "run.py"), name, str(report)]
        yield Suite(f"clients/{name}", command + ([test] if test else []), report, slow=True, timeout=CLIENT_TIMEOUT_S)


def environment_of(build, quick):
    environment = dict(os.environ, KYANITE_BINARY=str(build / "kyanite"))
    environment["ASAN_OPTIONS"] = "detect_stack_use_after_return=1:strict_string_checks=1"
    environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
    environment["TSAN_OPTIONS"] = f"suppressions={ROOT / 'tools' / 'tsan.supp'}:history_size=7"
    if quick:
        environment["KYANITE_QUICK"] = "1"
    return environment


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    apart = parser.add_mutually_exclusive_group()
    for each in ("smb", "packages", "clients"):
        apart.add_argument(f"--{each}", dest="apart", action="store_const", const=each)
    arguments = parser.parse_args()

    wanted, _, test = arguments.only.partition(":")
    suites = [suite for suite in find_suites(arguments.build, test, arguments.apart)
              if wanted in suite.name and not (arguments.quick and suite.slow)]
    suites.sort(key=lambda suite: not suite.slow)  # The longest first, so that none is left running alone at the end.
    environment = environment_of(arguments.build, arguments.quick)
    with concurrent.futures.ThreadPoolExecutor(SUITES_AT_ONCE) as pool:
        for done in concurrent.futures.as_completed([pool.submit(suite.run, environment) for suite in suites]):
            suite = done.result()
            verdict = f"{len(suite.failures)} FAILED, {suite.passed} passed" if suite.failures else f"{suite.passed} passed"
            verdict = f"left out: {suite.left_out}" if suite.left_out else verdict
            print(f"   {suite.name}: {verdict} ({suite.seconds:.1f} s)", flush=True)

    failing = [suite for suite in suites if suite.failures]
    for suite in failing:
        print(f"\n== {suite.name}, its last {TAIL_LINES} lines:")
        print("\n".join(suite.output.splitlines()[-TAIL_LINES:]))
    for suite in failing:
        for name in suite.failures:
            print(f"FAILED {suite.name}: {name}")
    passed = sum(suite.passed for suite in suites)
    failed = sum(len(suite.failures) for suite in suites)
    print(f"{passed} passed, {failed} failed", flush=True)
    left_out = any(suite.left_out for suite in suites)
    return 0 if (passed or left_out) and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
