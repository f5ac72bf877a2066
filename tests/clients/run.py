"""Runs the suite of one client against servers of its own and reports it as JSON: run.py CLIENT REPORT [NAME-PART].

Installs the client first (tools/clients.py). One that cannot be had is reported as left out, with the reason."""

import asyncio
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "py"), str(ROOT / "tools")]

import clients  # noqa: E402
import harness  # noqa: E402
from client import Connection  # noqa: E402

RUN_TIMEOUT_S = 1200  # of one program
RUST_CONTAINERS = 64  # More than the tests take.
DRIVER = "org.apache.hadoop.fs.azurebfs."


class Counts:
    def __init__(self):
        self.passed, self.failed = 0, []

    def add(self, name, passed):
        if passed:
            self.passed += 1
        else:
            self.failed.append(name)


def environment_of(flat, lake):
    """What tests are told: the account, and the endpoints of an account without and of one with directories."""
    return {"KYANITE_ACCOUNT": harness.ACCOUNT, "KYANITE_KEY": harness.KEY, "KYANITE_CONNECTION": flat.connection_string,
            "KYANITE_BLOB": flat.blob_url, "KYANITE_QUEUE": flat.url("Queue"), "KYANITE_TABLE": flat.url("Table"),
            "KYANITE_FILE": flat.url("File"), "KYANITE_LAKE": lake.blob_url}


def lines_of(command, environment, folder=None):
    """The lines that a program prints, passed on as they come; the last one is its exit code."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env={**os.environ, **environment}, cwd=folder)
    watchdog = threading.Timer(RUN_TIMEOUT_S, process.kill)
    watchdog.start()
    for line in process.stdout:
        print(line, end="", flush=True)
        yield line.rstrip("\n")
    watchdog.cancel()
    yield process.wait()


def count_lines(counts, pattern, passed, command, environment):
    """Counts lines of a test program: `pattern` finds the verdict and the name of a test."""
    code = None
    for line in lines_of(command, environment):
        code = line
        found = isinstance(line, str) and re.match(pattern, line)
        if found:
            counts.add(found["name"], found["verdict"] == passed)
    if code != 0 and not counts.failed:
        counts.failed.append(f"(exit code {code})")


def run_junit(counts, client, options, environment, properties=(), expected=()):
    """JUnit's console launcher. `properties` are for the Java machine. `expected` are tests that are known to fail: one that
    does not is told as well."""
    with tempfile.TemporaryDirectory(prefix="kyanite-junit-") as reports:
        path = os.pathsep.join([str(client.source), str(client.place / "classes"), f"{client.place / 'lib'}/*"])
        # Some tests look into the Java machine itself.
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.lang.reflect")]
        command = ["java", "-Xmx1g", *opened, *(f"-D{name}={value}" for name, value in properties), "-cp", path,
                   "org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--details=tree",
                   "--disable-ansi-colors", f"--reports-dir={reports}", *options]
        code = [*lines_of(command, environment, reports)][-1]  # Tests leave files where they run.
        seen = 0
        for report in pathlib.Path(reports).glob("TEST-*.xml"):
            for case in xml.etree.ElementTree.parse(report).iter("testcase"):
                seen += 1
                if case.find("skipped") is None:
                    name = f"{case.get('classname', '').rsplit('.', 1)[-1]}.{case.get('name').removesuffix('()')}"
                    passed = case.find("failure") is None and case.find("error") is None
                    counts.add(f"{name} (passes now)" if passed and name in expected else name, passed != (name in expected))
    if not seen:
        counts.failed.append(f"(no test ran: exit code {code})")


def run_java(client, counts, environment, part):
    run_junit(counts, client, ["--scan-classpath", str(client.place / "classes"),
                               *([f"--include-methodname=.*{re.escape(part)}.*"] if part else [])], environment)


def run_go(client, counts, environment, part):
    command = [str(client.place / "suite"), "-test.v", "-test.timeout=10m", *([f"-test.run={part}"] if part else [])]
    count_lines(counts, r"--- (?P<verdict>PASS|FAIL): (?P<name>\S+)", "PASS", command, environment)


def run_rust(client, counts, environment, part):
    for endpoint in (environment["KYANITE_BLOB"], environment["KYANITE_LAKE"]):
        asyncio.run(make_containers(endpoint))
    command = ["cargo", "test", "--offline", "--locked", "--manifest-path", str(client.source / "Cargo.toml"), part or ""]
    count_lines(counts, r"test (?P<name>\S+) \.\.\. (?P<verdict>ok|FAILED)", "ok", command,
                {**environment, **client.environment()})


async def make_containers(endpoint):
    connection = Connection.to(endpoint, harness.ACCOUNT, harness.KEY)
    for number in range(RUST_CONTAINERS):
        await connection.request("PUT", f"/rust-{number}", {"restype": "container"})
    connection.close()


def run_unittest(client, counts, environment, part, python=sys.executable):
    for script in sorted(client.source.glob("test_*.py")):
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            command = [python, str(ROOT / "tests" / "py" / "run.py"), str(script), report.name, *([part] if part else [])]
            code = [*lines_of(command, environment)][-1]
            said = pathlib.Path(report.name).read_text()
        if not said:
            counts.failed.append(f"({script.name}: exit code {code})")
            continue
        counts.passed += json.loads(said)["passed"]
        counts.failed += json.loads(said)["failed"]


def run_python(client, counts, environment, part):
    run_unittest(client, counts, environment, part, str(client.place / "venv" / "bin" / "python3"))


def run_azcopy(client, counts, environment, part):
    run_unittest(client, counts, {**environment, "AZCOPY": str(client.place / "azcopy")}, part)


def run_hadoop(client, counts, environment, part):
    """Which of the driver's own tests are run, and how those end that do not pass, is said in two tables."""
    classes = (client.source / "classes.txt").read_text().split()
    rows = [line.split("\t") for line in (client.source / "outcomes.tsv").read_text().splitlines() if line[:1] not in ("", "#")]
    chosen = [name for name in classes if part in name] or classes
    options = [f"--select-class={DRIVER}{name}" for name in chosen]
    options += [f"--exclude-methodname=.*\\.{re.escape(name).replace(re.escape('.'), '#')}" for name, outcome, _ in rows
                if outcome == "not run"]
    if chosen is classes and part:
        options.append(f"--include-methodname=.*{re.escape(part)}.*")
    properties = {"kyanite.endpoint": urllib.parse.urlsplit(environment["KYANITE_LAKE"]).netloc, "kyanite.key": harness.KEY}
    run_junit(counts, client, options, environment, properties.items(),
              {name for name, outcome, _ in rows if outcome == "fail"})


def first_line(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text).strip().split("\n")[0][:200]


def main():
    name, report, part = sys.argv[1], pathlib.Path(sys.argv[2]), (sys.argv[3:] or [""])[0]
    client, counts = clients.CLIENTS[name], Counts()
    try:
        client.install()
    except clients.Absent as why:
        print(f"left out: {why}")
        report.write_text(json.dumps({"passed": 0, "failed": [], "left out": first_line(str(why))}))
        return 0
    except clients.Broken as why:
        print(why)
        report.write_text(json.dumps({"passed": 0, "failed": ["(does not build)"]}))
        return 1
    flat, lake = harness.Server(), harness.Server("--setting", "hierarchicalNamespace=true")
    try:
        globals()[f"run_{name}"](client, counts, environment_of(flat, lake), part)
    finally:
        for server in (flat, lake):
            try:
                server.stop()
            except AssertionError as why:
                counts.failed.append(str(why))
    report.write_text(json.dumps({"passed": counts.passed, "failed": counts.failed}))
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
