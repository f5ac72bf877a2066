"""./dev check: everything that can be said about the sources without testing them, and what requests cost in instructions."""

import pathlib
import re
import subprocess
import sys
import time

import instructions
import layers
import lint
import pages
import traps
import unused

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMAT = "clang-format-14"
LONGEST_FILE = 500
LONGEST_FUNCTION = 70


def cpp_files():
    return sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".h", ".cc"))


def check_format():
    done = subprocess.run([FORMAT, "--dry-run", "-Werror", *map(str, cpp_files())], capture_output=True, text=True)
    files = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.MULTILINE)))
    if done.returncode != 0 and not files:
        return [done.stderr]
    return [f"{file}: not formatted; run {FORMAT} -i on it" for file in files]


def check_scripts():
    complaints = []
    for script in [ROOT / "dev", ROOT / ".ci" / "run", *(ROOT / "packaging" / name for name in ("archives", "cross", "fetch")), *ROOT.glob("tests/**/*.sh")]:
        if "node_modules" in script.parts:
            continue
        done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
        complaints += [done.stderr] if done.returncode else []
    for script in [*ROOT.glob("tools/*.py"), *ROOT.glob("packaging/*.py"), *ROOT.glob("tests/**/*.py")]:
        if "node_modules" in script.parts:
            continue
        try:
            compile(script.read_text(), str(script), "exec")
        except SyntaxError as error:
            complaints.append(f"{script}:{error.lineno}: {error.msg}")
    return complaints


def check_generated_pages():
    """A page with a generator beside it (tools/coverage.py) must be what the generator prints now."""
    generator, page = ROOT / "tools" / "coverage.py", ROOT / "docs" / "COVERAGE.md"
    if not generator.exists():
        return []
    done = subprocess.run([sys.executable, str(generator), "--print"], capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr]
    if not page.exists() or page.read_text() != done.stdout:
        return ["docs/COVERAGE.md is not current; run python3 tools/coverage.py --write"]
    return []


def lengths():
    """Long files and functions, as advice: the one big state machine may be right. A function's body, formatted, ends with
    the first brace that closes at the indentation it began with."""
    for path in cpp_files():
        lines = path.read_text().splitlines()
        if len(lines) > LONGEST_FILE:
            yield f"{path.relative_to(ROOT)}: {len(lines)} lines"
        if path.name.endswith("_test.cc"):
            continue
        start = None
        for number, line in enumerate(lines, 1):
            if start is None and re.match(r"^(  )?\S.*\)[^;=]*\{$", line) and not line.strip().startswith("namespace"):
                start, indent = number, len(line) - len(line.lstrip())
            elif start is not None and line.startswith(" " * indent + "}"):
                if number - start > LONGEST_FUNCTION:
                    yield f"{path.relative_to(ROOT)}:{start}: a function of {number - start} lines"
                start = None


def main():
    failed = False
    for name, run in [
        ("layers", layers.check),
        ("format", check_format),
        ("scripts", check_scripts),
        ("generated pages", check_generated_pages),
        ("pages", pages.check),
        ("unused names", unused.check),
        ("traps of the compiler", traps.check),
        ("lint", lint.check),
        ("instructions", instructions.check),
    ]:
        began = time.monotonic()
        complaints = run()
        verdict = f"{len(complaints)} complaints" if complaints else "ok"
        print(f"-- {name}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
        for complaint in complaints:
            print(complaint)
        failed |= bool(complaints)
    for advice in lengths():
        print(f"   long: {advice}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
