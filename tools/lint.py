"""clang-tidy over src/, skipping files that passed before and have not changed since, headers included."""

import concurrent.futures
import functools
import hashlib
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
CACHE = ROOT / "build" / "lint"
COMMAND = ["clang-tidy-14", "--quiet"]
# All that the sources need to be understood. Warnings are the compiler's business but for one that only clang gives: whether what
# a mutex guards is used with it held (src/base/mutex.h).
COMPILER_FLAGS = ["-std=c++20", f"-I{SOURCES}", "-Wthread-safety"]


def sources():
    """Not tests, whose macros say nothing about the product."""
    return sorted(path for path in SOURCES.rglob("*.cc") if not re.search(r"_(test|fuzz)\.cc$", path.name))


@functools.cache
def included_by(path):
    names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE)
    return [SOURCES / name for name in names if (SOURCES / name).exists()]


def with_headers(path):
    """The file and everything of src/ that it includes, directly or not."""
    found, waiting = {path}, [path]
    while waiting:
        for header in included_by(waiting.pop()):
            if header not in found:
                found.add(header)
                waiting.append(header)
    return sorted(found)


def fingerprint(path):
    digest = hashlib.sha256(" ".join(COMMAND + COMPILER_FLAGS).encode())
    for file in [ROOT / ".clang-tidy", *with_headers(path)]:
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def lint(path, mark):
    done = subprocess.run([*COMMAND, str(path), "--", *COMPILER_FLAGS], capture_output=True, text=True)
    if done.returncode == 0:
        mark.touch()
        return ""
    return done.stdout or done.stderr


def check():
    """The complaints, one string a file."""
    CACHE.mkdir(parents=True, exist_ok=True)
    marked = [(path, CACHE / fingerprint(path)) for path in sources()]
    jobs = [(path, mark) for path, mark in marked if not mark.exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [complaint for complaint in pool.map(lambda job: lint(*job), jobs) if complaint]
