"""Finds what headers of src/ declare and nobody uses: names of types, functions, constants and fields that occur nowhere but in
the header itself, the .cc beside it and tests. Names are taken as words, wherever they occur, so a dead one that shares its name
with a living one is not found; a living one is never blamed."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"

# Names that stay although only tests use them, and files whose users are yet to come.
ALLOWED = {
    "kExactNames": "the rules for names of Data Lake, which no front serves yet",
    "run_due": "one turn of the schedule, for tests that move the clock",
    "auth/posix_access.h": "Data Lake Storage is not served yet",
    "auth/posix_acl.h": "Data Lake Storage is not served yet",
    "smb/": "a codec has both directions, and every number of the protocol",
    "everything": "tests look at all records",
    "return_value": "the compiler calls it",
    "advance_seconds": "tests move the clock",
    "set_fault_hook": "tests let the disk fail",
    "set_total": "tests make memory scarce",
    "sweep_now": "tests sweep when they like",
    "owns": "tests look whether a lock is held",
    "string_to_sign": "tests sign requests",
    "sas_parameters": "a test counts them",
    "is_well_formed": "tests and fuzzers hold records against it",
    "of_bytes": "tests make values",
}

WORD = re.compile(r"[A-Za-z_]\w*")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
TYPES_AND_CONSTANTS = [
    re.compile(r"^[ ]*(?:class|struct|enum class|enum)\s+(?:\[\[\w+\]\]\s+)?([A-Z]\w+)\s*(?:final\s*)?[:{]", re.M),
    re.compile(r"^[ ]*using\s+([A-Z]\w+)\s*=", re.M),
    re.compile(r"\bconstexpr\s[^=;{(]*\b(k[A-Z]\w+)\b"),
]
# A type, a name, a parenthesis; not a call, which stands behind return or an operator.
FUNCTION = re.compile(
    r"^[ ]*(?!return\b|co_return\b|co_await\b|if\b|while\b|for\b|switch\b|case\b|else\b|throw\b|delete\b|new\b)"
    r"(?:[\w:<>,*&\[\]\.]+[ ]+)*?[\w:<>,*&\]]+[ *&]+([a-z]\w+)\(", re.M)


def is_test(path):
    return re.search(r"(_test|_fuzz)\.cc$|/tests/|/test_\w+\.h$|(_test_\w+|_support|/contract|/testing|/interleaving)\.h$", str(path)) is not None


def declared_in(text):
    """The names, and whether each is a function's, which is defined in another place than it is declared."""
    names = {match[1]: False for pattern in TYPES_AND_CONSTANTS for match in pattern.finditer(text)}
    return names | {match[1]: True for match in FUNCTION.finditer(text)}


def definitions(name, text):
    """Calls are indented, definitions are not."""
    return len(re.findall(rf"^\S[^\n]*\b{name}\(", text, re.M))


def allowed(header, name):
    return name in ALLOWED or any(str(header.relative_to(SOURCES)).startswith(part) for part in ALLOWED if "/" in part)


def findings():
    files = sorted(path for path in [*SOURCES.rglob("*"), *(ROOT / "tests").rglob("*")]
                   if path.suffix in (".h", ".cc", ".def") and "node_modules" not in path.parts)
    texts = {path: NOISE.sub(" ", path.read_text()) for path in files}
    words = {path: collections.Counter(WORD.findall(text)) for path, text in texts.items()}
    users = collections.Counter(word for path in files if not is_test(path) for word in words[path])
    for header in files:
        if header.suffix != ".h" or is_test(header) or not header.is_relative_to(SOURCES):
            continue
        beside = header.with_suffix(".cc")
        own_words = words[header] + words.get(beside, collections.Counter())
        for name, is_function in sorted(declared_in(texts[header]).items()):
            elsewhere = users[name] - 1 - (name in words.get(beside, {}))
            spent = 1 + (definitions(name, texts.get(beside, "")) if is_function else 0)
            if elsewhere == 0 and own_words[name] <= spent and not allowed(header, name):
                yield f"{header.relative_to(ROOT)}: nobody uses {name}"
    for name in ALLOWED:
        if "/" not in name and not any(name in words[path] for path in files):
            yield f"tools/unused.py: {name} is allowed and not there any more"


def self_test():
    header = "class Kept {\n  int count() const;\n  static constexpr int kMost = 3;\n};\nusing Bytes = int;\nTask<void> run(int n);\n"
    assert declared_in(header) == {"Kept": False, "kMost": False, "Bytes": False, "count": True, "run": True}, declared_in(header)
    assert definitions("run", "Task<void> run(int n) {\n  run(1);\n}\n") == 1


def check():
    self_test()
    return list(findings())


if __name__ == "__main__":
    found = check()
    print("\n".join(found) if found else "everything declared is used")
    sys.exit(1 if found else 0)
