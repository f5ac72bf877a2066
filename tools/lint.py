"""clang-tidy over src/, skipping files that passed before and have not changed since, headers included."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
CACHE = ROOT / "build" / "lint"
TIDY = "clang-tidy-14"


def sources():
    """The compiled files of src/ but for tests, whose macros say nothing about the product."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    paths = {pathlib.Path(command["directory"], command["file"]).resolve() for command in commands}
    return sorted(path for path in paths if not re.search(r"_(test|fuzz)\.cc$", path.name))


def recorded_dependencies():
    """For each source file the project's files it includes, as the last build recorded them."""
    text = subprocess.run(["ninja", "-C", str(BUILD), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    result = {}
    for block in text.split("\n\n"):
        lines = [line.strip() for line in block.splitlines()[1:]]
        paths = [pathlib.Path(os.path.normpath(BUILD / line)) for line in lines if line]
        own = [path for path in paths if ROOT / "src" in path.parents]
        if own:
            result[own[0]] = own
    return result


def fingerprint(files):
    digest = hashlib.sha256()
    for path in [ROOT / ".clang-tidy", *sorted(files)]:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0")
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def lint(path, mark):
    done = subprocess.run([TIDY, "--quiet", "-p", str(BUILD), str(path)], capture_output=True, text=True)
    if done.returncode == 0:
        mark.touch()
        return ""
    return done.stdout or done.stderr


def check():
    """The complaints, one string a file."""
    CACHE.mkdir(parents=True, exist_ok=True)
    dependencies = recorded_dependencies()
    jobs = []
    for path in sources():
        mark = CACHE / fingerprint(dependencies.get(path, [path, *(ROOT / "src").rglob("*.h")]))
        if not mark.exists():
            jobs.append((path, mark))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [complaint for complaint in pool.map(lambda job: lint(*job), jobs) if complaint]
