"""A violation in words: the operations that have no order, and what each should have said at the point where none goes on."""

import re

MOST_LINES = 16

# What servers choose is long and differs in few characters.
SHORTER = (
    (re.compile(r"W/\"datetime'[^']*%3A(\d\d\.?\d*)Z'\""), r"@\1"),
    (re.compile(r'"0x[0-9A-F]*([0-9A-F]{6})"'), r"@\1"),
    (re.compile(r"0{1,7}(\d+)-0000-4000-8000-0{12}"), r"lease \1"),
    (re.compile(r"\b(?=[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{27}([A-Za-z0-9+/]{5})(?![A-Za-z0-9+/])"), r"#\1"),
)


def explain(kind, name, violation, model):
    """Text of several lines."""
    operations = violation.operations
    start = operations[0].call
    lines = [f"VIOLATION: no order explains what clients were told about {kind} {name}"]
    shown = operations[-MOST_LINES:]
    if len(shown) < len(operations):
        lines.append(f"   ({len(operations) - len(shown)} operations before these)")
    lines += [f"   {line(model, operation, start)}" for operation in shown]
    lines.append(f"   Left out: {violation.left_out} operations that are not needed to see it, or came later.")
    lines.append(f"   The longest order ends with {model.describe(violation.stuck.state)}. Then none of these fits:")
    for operation, outcome in violation.stuck.wanted:
        lines.append(f"   {line(model, operation, start)}, should be {words(outcome)}")
    return shorter("\n".join(lines))


def line(model, operation, start):
    end = "       ?" if operation.end is None else f"{(operation.end - start) / 1000:8.3f}"
    told = "no reply yet" if operation.outcome is None else words(operation.outcome)
    made = f" {words(operation.made)}" if operation.made and operation.outcome is not None else ""
    return (f"{(operation.call - start) / 1000:8.3f} .. {end} ms  client {operation.client}  "
            f"{model.ask(operation.request)} -> {told}{made}")


def words(value):
    if isinstance(value, (tuple, list)):
        return " ".join(f"({words(item)})" if isinstance(item, (tuple, list)) else words(item) for item in value)
    return "-" if value is None else str(value)


def shorter(text):
    for pattern, replacement in SHORTER:
        text = pattern.sub(replacement, text)
    return text
