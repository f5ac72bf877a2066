"""Decides whether a history has an order that explains it: one instant for every operation, within its call and its end, so that
each reply is what the model of the object says in that order (Wing and Gong's search, with Lowe's memory of configurations).

A model has
  initial                     the state before the first operation; states are hashable
  prepare(operations)         called once, before the search, to learn what only the whole history tells
  apply(state, operation)     the outcome that the operation has in this state, and the state after it; where the model does not
                              know which of several the state is, the outcome that was told says it, and the state after it is
                              the state then known better
  changes(operation)          whether an operation with this outcome may change a state, whichever it is, other than by making it
                              better known
  describe(state)             for people, as is
  ask(request)
"""

import dataclasses
import math

MOST_CONFIGURATIONS = 500_000  # Of one search,
MOST_TO_SHORTEN = 20_000  # and of all searches together that make small what has no order.


class Undecided(Exception):
    """The search was given up."""


class Effort:
    def __init__(self, most):
        self._left = most

    def spend(self):
        self._left -= 1
        if self._left < 0:
            raise Undecided


@dataclasses.dataclass
class Stuck:
    """The furthest that any order came."""

    state: object
    done: int  # Bit i: operation i has its place in the order.
    wanted: list  # (operation, the outcome it should have had) of those that could come next, none of which fits.


def search(model, operations, effort):
    """None when there is an order; else where the longest one ends. Operations are sorted by their call."""
    calls = [operation.call for operation in operations]
    ends = [math.inf if operation.end is None else operation.end for operation in operations]
    known = sum(1 << index for index, operation in enumerate(operations) if operation.outcome is not None)
    stack, seen, furthest = [(0, model.initial)], set(), None
    while stack:
        done, state = stack.pop()
        done, choices, wanted = _advance(model, operations, calls, ends, done, state)
        if done & known == known:
            return None
        if (done, state) in seen:
            continue
        seen.add((done, state))
        effort.spend()
        if furthest is None or (done & known).bit_count() > (furthest.done & known).bit_count():
            furthest = Stuck(state, done, wanted)
        # What ended first is tried first, hence pushed last; what never ended is tried last.
        choices.sort(key=lambda choice: -ends[choice[0]])
        stack.extend((done | 1 << index, after) for index, after in choices)
    return furthest


def _advance(model, operations, calls, ends, done, state):
    """Puts everything into the order that fits here and changes no state: to do so at once never spoils an order. Returns the
    operations done then, the changes that could come next with the states after them, and what does not fit."""
    while True:
        choices, wanted, before = [], [], done
        for index in _next(calls, ends, done):
            operation = operations[index]
            outcome, after = model.apply(state, operation)
            if operation.outcome is None:
                if after != state:
                    choices.append((index, after))
            elif outcome != operation.outcome:
                wanted.append((operation, outcome))
            elif after == state and not model.changes(operation):
                done |= 1 << index
            else:
                choices.append((index, after))
        if done == before:
            return done, choices, wanted


def _next(calls, ends, done):
    """Operations not yet in the order that no other such operation wholly precedes."""
    earliest_end = math.inf
    index = (~done & (done + 1)).bit_length() - 1  # The lowest zero.
    while index < len(calls) and calls[index] <= earliest_end:
        if not done >> index & 1:
            earliest_end = min(earliest_end, ends[index])
            yield index
        index += 1


@dataclasses.dataclass
class Violation:
    operations: list  # Few that have no order, by their calls.
    stuck: Stuck
    left_out: int  # How many operations the whole history has beside them.


def check(model, operations):
    """None when all is well, else a Violation made small."""
    operations = sorted(operations, key=lambda operation: operation.call)
    model.prepare(operations)
    if search(model, operations, Effort(MOST_CONFIGURATIONS)) is None:
        return None
    effort = Effort(MOST_TO_SHORTEN)
    few = _shortest_prefix(model, operations, effort)
    few = _without_readers(model, few, effort)
    return Violation(few, search(model, few, Effort(MOST_CONFIGURATIONS)), len(operations) - len(few))


def _surely_has_no_order(model, operations, effort):
    try:
        return search(model, operations, effort) is not None
    except Undecided:
        return False


def _shortest_prefix(model, operations, effort):
    """The history up to the first reply that no order explains. Who waited for a reply then had none."""
    instants = sorted(operation.end for operation in operations if operation.end is not None)
    low, high = 0, len(instants) - 1
    while low < high:
        middle = (low + high) // 2
        if _surely_has_no_order(model, _until(model, operations, instants[middle]), effort):
            high = middle
        else:
            low = middle + 1
    return _until(model, operations, instants[low])


def _until(model, operations, instant):
    """What had ended then, and the changes that were under way."""
    found = []
    for operation in operations:
        if operation.end is not None and operation.end <= instant:
            found.append(operation)
        elif operation.call <= instant and model.changes(operation):
            found.append(dataclasses.replace(operation, end=None, outcome=None))
    return found


def _without_readers(model, operations, effort):
    """Drops, one by one, operations without which there is no order either. Only those that change nothing in any order may go:
    without a change, what others rightly saw of it would look wrong."""
    index = len(operations) - 1
    while index >= 0:
        fewer = operations[:index] + operations[index + 1:]
        if not model.changes(operations[index]) and _surely_has_no_order(model, fewer, effort):
            operations = fewer
        index -= 1
    return operations
