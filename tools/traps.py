"""Refuses what GCC 12 miscompiles in coroutines: it destroys some temporaries of an awaited expression twice. What is in the
expression needs a name before it is awaited:

    co_await run([name] { ... });         auto job = [name] { ... };           co_await run(job);
    co_await (first ? a() : b());         auto next = first ? a() : b();       co_await std::move(next);

Lambdas that capture by reference alone have nothing to destroy and may stand where they are.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)

# A bracket behind a name or another bracket is a subscript, two are an attribute.
LAMBDA = re.compile(r"(?:[(,={]|\breturn)\s*\[(?!\[)([^\]]*)\]\s*(?:[({]|mutable\b)")


def blanked(text):
    """The text without what comments and strings say, of the same length and lines."""
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def awaited(text, begin):
    """The expression that begins here, up to the end of its statement or of the brackets around it."""
    depth = 0
    for at in range(begin, len(text)):
        character = text[at]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and character in ";,"):
            return text[begin:at]
    return text[begin:]


def first_group(expression):
    """What stands in the parentheses the expression begins with; nothing when it begins with something else."""
    expression = expression.lstrip()
    if not expression.startswith("("):
        return ""
    depth = 0
    for at, character in enumerate(expression):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return expression[: at + 1]
    return expression


def traps(text):
    """Line and sentence for each."""
    text = blanked(text)
    for match in re.finditer(r"\bco_await\b", text):
        expression = awaited(text, match.end())
        line = text.count("\n", 0, match.start()) + 1
        if "?" in first_group(expression):
            yield line, "co_await (a ? b : c): GCC 12 destroys the one that is chosen twice; name it, then await it"
        for captures in LAMBDA.findall(expression):
            if any(re.fullmatch(r"&\w*|this|", capture.strip()) is None for capture in captures.split(",")):
                yield line, f"[{captures}] inside an awaited expression: GCC 12 destroys what it captures twice; name the lambda before"
                break


def check():
    self_test()
    complaints = []
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        complaints += [f"{path.relative_to(ROOT)}:{line}: {what}" for line, what in traps(path.read_text())]
    return complaints


def self_test():
    refused = ["co_await (c ? a() : b());", "x = co_await run([name] { return 1; });", "co_await f(\n  a,\n  [&, name = n](int) {});",
               "auto y = g(co_await (c ? a : b), 1);", "co_await f([=]() mutable { return x; });"]
    allowed = ["co_await f(c ? a : b);", "co_await list[i].next();", "co_await (*reader)->next(c ? 1 : 2);", "co_await f(a[1], b);",
               "co_await f(), [name] { return 1; }();", "// co_await run([name] {});", "co_await run([&, this] { return 1; });",
               "auto job = [name]() -> Task<void> { co_await f(); };", "co_await run([] { return 1; });"]
    assert all(list(traps(text)) for text in refused), [text for text in refused if not list(traps(text))]
    assert not any(list(traps(text)) for text in allowed), [text for text in allowed if list(traps(text))]


if __name__ == "__main__":
    found = check()
    print("\n".join(found) if found else "nothing that GCC 12 miscompiles")
    sys.exit(1 if found else 0)
