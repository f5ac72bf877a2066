"""Holds the include lines of src/ against tools/layers.txt."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def read_rules(path):
    """The folders each folder may include. Rules are in order: a folder may only name folders of earlier lines."""
    rules = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, rest = line.split(":", 1)
        allowed = rest.split("|", 1)[0].split()
        unknown = [folder for folder in allowed if folder not in rules]
        if unknown:
            raise SystemExit(f"{path}:{number}: {name} names {', '.join(unknown)}, which no earlier line defines")
        rules[name] = set(allowed)
    return rules


def violations(rules, source_root):
    for path in sorted(source_root.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        folder = path.relative_to(source_root).parts[0]
        if folder not in rules:
            yield f"{path}: folder {folder} has no line in tools/layers.txt"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            if "/" not in match[1]:
                yield f"{path}:{number}: include from src/: \"folder/{match[1]}\""
                continue
            target = match[1].split("/", 1)[0]
            if target != folder and target not in rules[folder]:
                yield f"{path}:{number}: {folder} may not include {target} (tools/layers.txt)"


def check():
    return list(violations(read_rules(ROOT / "tools" / "layers.txt"), ROOT / "src"))


if __name__ == "__main__":
    found = check()
    print("\n".join(found) if found else "layers hold")
    sys.exit(1 if found else 0)
