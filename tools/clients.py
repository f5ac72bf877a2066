"""Installs the clients of tests/clients under build/clients, for ./dev test --clients.

Each folder of tests/clients is one client, pinned by its lock file. Installing has two steps, and each is done again only when
what it is made of has changed. Fetching takes the client from its registry: a machine that has no such registry, or not the
tools to ask it with, leaves that suite out. Building compiles client and tests: what does not compile is a failure."""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tests" / "clients"
INSTALLED = ROOT / "build" / "clients"
FETCH_TIMEOUT_S = 600
BUILD_TIMEOUT_S = 1800
TAIL = 2000

LEAST_GO, PINNED_GO = (1, 25, 8), "1.26.8"
LEAST_CARGO = (1, 85)
MAVEN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


class Absent(Exception):
    """A client cannot be had on this machine; the text says why."""


class Broken(Exception):
    """A client was fetched but does not build; the text is the compiler's."""


def run(command, folder, environment, timeout, error):
    """What the command prints; raises `error` with the end of it when the command fails."""
    try:
        done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired) as why:
        raise error(str(why)) from why
    if done.returncode != 0:
        raise error(f"{' '.join(map(str, command[:3]))}: {done.stdout.strip()[-TAIL:]}")
    return done.stdout


def version_of(program, *arguments):
    """The first version that a program says, as numbers; () without the program."""
    try:
        said = subprocess.run([program, *arguments], capture_output=True, text=True, cwd="/").stdout
    except OSError:
        return ()
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said)
    return tuple(int(number or 0) for number in found.groups()) if found else ()


class Client:
    """One folder of tests/clients. `locks` are the files that say what is fetched."""

    locks = ()

    def __init__(self, name):
        self.name, self.source, self.place = name, SOURCES / name, INSTALLED / name

    def environment(self):
        """What its tools want to be told, when it is installed and when its tests run."""
        return {}

    def fetch(self):
        raise NotImplementedError

    def build(self):
        pass

    def install(self):
        """Raises Absent or Broken. Suites that share a client, or a cache of their tools, take turns."""
        INSTALLED.mkdir(parents=True, exist_ok=True)
        with open(INSTALLED / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.place.mkdir(exist_ok=True)
            fetched = self._once("fetched", [self.source / name for name in self.locks], self.fetch)
            files = sorted(path for path in self.source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
            self._once("built", files, self.build, fetched)

    def _once(self, step, files, work, before=""):
        stamp = self.place / f".{step}"
        digest = hashlib.sha256(before.encode())
        for path in files:
            digest.update(f"{path.relative_to(self.source)} {path.stat().st_size}\n".encode() + path.read_bytes())
        wanted = digest.hexdigest()
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            work()
            stamp.write_text(wanted)
        return wanted

    def fetches(self, *command):
        return run(command, self.source, self.environment(), FETCH_TIMEOUT_S, Absent)

    def builds(self, *command):
        return run(command, self.source, self.environment(), BUILD_TIMEOUT_S, Broken)


class JavaClient(Client):
    locks = ("pom.xml",)

    def fetch(self):
        if not shutil.which("mvn") or not shutil.which("javac"):
            raise Absent("no maven or no Java compiler")
        shutil.rmtree(self.place / "lib", ignore_errors=True)
        self.fetches("mvn", "--quiet", "--batch-mode", f"-Dmaven.repo.local={INSTALLED / 'maven'}", MAVEN,
                     f"-DoutputDirectory={self.place / 'lib'}")

    def build(self):
        shutil.rmtree(self.place / "classes", ignore_errors=True)
        (self.place / "classes").mkdir()
        sources = sorted(map(str, self.source.glob("*.java")))
        if sources:
            self.builds("javac", "-cp", f"{self.place / 'lib'}/*", "-d", str(self.place / "classes"), *sources)


class GoClient(Client):
    """Tests in Go; or, with a package, the program it makes, which others test."""

    locks = ("go.mod", "go.sum")

    def __init__(self, name, package=None):
        super().__init__(name)
        self.package = package

    def environment(self):
        return {"GOPATH": str(INSTALLED / "go-modules"), "GOCACHE": str(INSTALLED / "go-cache"), "GOTOOLCHAIN": "local",
                "GOFLAGS": "-mod=readonly -modcacherw"}

    def go(self):
        """A new enough Go. Where there is only an older one, it fetches the pinned one as it would any module."""
        if version_of("go", "version") >= LEAST_GO:
            return "go"
        if not shutil.which("go"):
            raise Absent("no Go")
        scratch = INSTALLED / "go-toolchain"
        scratch.mkdir(exist_ok=True)
        (scratch / "go.mod").write_text("module toolchain\n")
        module = f"golang.org/toolchain@v0.0.1-go{PINNED_GO}.linux-amd64"
        environment = {**self.environment(), "GOFLAGS": "-modcacherw"}
        said = run(["go", "mod", "download", "-json", module], scratch, environment, FETCH_TIMEOUT_S, Absent)
        home = pathlib.Path(json.loads(said[said.index("{"):])["Dir"])
        # An old Go unpacks modules without the right to run what is in them.
        for program in [*(home / "bin").iterdir(), *(home / "pkg" / "tool").rglob("*")]:
            program.chmod(0o755)
        return str(home / "bin" / "go")

    def fetch(self):
        self.fetches(self.go(), "mod", "download")

    def build(self):
        if self.package:
            self.builds(self.go(), "build", "-o", str(self.place / self.name), self.package)
        else:
            self.builds(self.go(), "test", "-c", "-o", str(self.place / "suite"), ".")


class PythonClient(Client):
    locks = ("requirements.txt",)

    def fetch(self):
        shutil.rmtree(self.place / "venv", ignore_errors=True)
        self.fetches("/usr/bin/python3", "-m", "venv", str(self.place / "venv"))
        self.fetches(str(self.place / "venv" / "bin" / "pip"), "install", "--quiet", "--no-deps", "-r", "requirements.txt")


class RustClient(Client):
    locks = ("Cargo.toml", "Cargo.lock")

    def environment(self):
        return {"CARGO_HOME": str(INSTALLED / "cargo"), "CARGO_TARGET_DIR": str(self.place / "target")}

    def fetch(self):
        if version_of("cargo", "--version") < LEAST_CARGO:
            raise Absent("no Rust, or too old a one")
        self.fetches("cargo", "fetch", "--locked")

    def build(self):
        self.builds("cargo", "test", "--offline", "--locked", "--no-run")


CLIENTS = {client.name: client for client in (
    JavaClient("hadoop"), GoClient("azcopy", "github.com/Azure/azure-storage-azcopy/v10"), PythonClient("python"),
    GoClient("go"), JavaClient("java"), RustClient("rust"))}
