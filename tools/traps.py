"""Refuses what GCC 12 miscompiles in coroutines: it destroys some temporaries of an awaited expression twice. What is in the
expression needs a name before it is awaited:

    co_await run([name] { ... });         auto job = [name] { ... };           co_await run(job);
    co_await (first ? a() : b());         auto next = first ? a() : b();       co_await std::move(next);

Lambdas that capture by reference alone have nothing to destroy and may stand where they are.

And what no compiler can do: a task that has a name begins when it is awaited, and what it was given by reference has to be there
until then.

    auto next = first ? a(make()) : b();  const auto made = make();  auto next = first ? a(made) : b();

What is moved is taken to be for a parameter that holds it.
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


# A task that is awaited later by its name. Casts, moves and references to what is there make nothing that goes away.
NAMED = re.compile(r"\bauto (\w+)\s*=")
HARMLESS = re.compile(r"\b(?:std::move|std::exchange|std::span|std::string_view)\s*\(|\b(?:static_cast|std::get)\s*<[^<>]*>\s*\(")


def made_for(expression):
    """What is called among the arguments of the calls that give an expression its value, or of the choice between two of them."""
    parts = re.split(r"\?|(?<!:):(?!:)", expression)
    for part in parts[1:] if len(parts) > 1 else parts:
        begin = part.find("(")
        if begin < 0 or HARMLESS.match(part.strip()):
            continue
        inner = HARMLESS.sub("(", part[begin + 1:])
        call = re.search(r"\b\w+\s*\(", inner)
        if call:
            yield call[0].rstrip("( ")


def traps(text):
    """Line and sentence for each."""
    text = blanked(text)
    for match in NAMED.finditer(text):
        expression = awaited(text, match.end())
        if "co_await" in expression or "{" in expression or f"co_await std::move({match[1]})" not in text[match.end():]:
            continue
        for made in made_for(expression):
            line = text.count("\n", 0, match.start()) + 1
            yield line, f"{match[1]} is awaited when what {made}() returns may be gone; name that before"
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
               "auto y = g(co_await (c ? a : b), 1);", "co_await f([=]() mutable { return x; });",
               "auto t = c ? f(x) : g(x, key(y));\nco_await std::move(t);", "auto t = f(key(y));\nauto r = co_await std::move(t);"]
    allowed = ["co_await f(c ? a : b);", "co_await list[i].next();", "co_await (*reader)->next(c ? 1 : 2);", "co_await f(a[1], b);",
               "co_await f(), [name] { return 1; }();", "// co_await run([name] {});", "co_await run([&, this] { return 1; });",
               "auto job = [name]() -> Task<void> { co_await f(); };", "co_await run([] { return 1; });",
               "auto t = is(x) ? f(x) : g(x, y);\nco_await std::move(t);", "auto t = f(std::move(x));\nco_await std::move(t);",
               "auto t = f(key(y));\nco_await g(t);"]
    assert all(list(traps(text)) for text in refused), [text for text in refused if not list(traps(text))]
    assert not any(list(traps(text)) for text in allowed), [text for text in allowed if list(traps(text))]


if __name__ == "__main__":
    found = check()
    print("\n".join(found) if found else "nothing that GCC 12 miscompiles")
    sys.exit(1 if found else 0)
