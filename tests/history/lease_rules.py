"""Leases as models know them: what each action makes of one, what it keeps others from, and when it ends by itself.

When that is, only the server knows: it read its clock once, some time between the call and the end of the request that began the
lease. So a lease here ends between two instants, and whatever a later reply says of it brings them closer together. A request
that is under way while a lease ends may find either."""

import dataclasses

from record import FOREVER_US, SECOND_US, SLACK_US

INFINITE = -1
LOCKED = ("leased", "breaking")
ENDED = {"leased": "expired", "breaking": "broken"}


@dataclasses.dataclass(frozen=True)
class Lease:
    phase: str = "available"  # As long as it does not end by itself: available, leased, breaking or broken.
    holder: str = ""
    duration_s: int = 0
    earliest: int = FOREVER_US  # By the clock of the history: it does not end by itself before this,
    latest: int = FOREVER_US  # and has ended after this.

    def __str__(self):
        return f"{self.phase} by {self.holder}" if self.holder else self.phase


NO_LEASE = Lease()


def decide(state, lease, operation, rule):
    """What `rule(lease, phase)` says, the outcome and the state after it, for the phase in which the operation finds the lease.
    Where time allows two, it is the one that fits what the operation was told, and the lease is known better from then on."""
    phases = _phases(lease, operation)
    if operation.outcome is None:  # It may have found either; of those without a change there is no need to speak.
        ways = [rule(lease, phase) for phase, _ in phases]
        return next((way for way in ways if way[1] != state), ways[0])
    ways = [(phase, rule(known, phase)) for phase, known in phases]
    fitting = [way for way in ways if way[1][0] == operation.outcome] or ways[:1]
    if len(fitting) == 1:
        return fitting[0][1]
    return rule(lease, fitting[0][0])  # It was told nothing that depends on the phase.


def _phases(lease, operation):
    """The phases in which the operation may find the lease, each with what is known of the lease if it does."""
    if lease.phase not in LOCKED or lease.latest == lease.earliest == FOREVER_US:
        return [(lease.phase, lease)]
    end = FOREVER_US if operation.end is None else operation.end
    phases = []
    if operation.call < lease.latest + SLACK_US:
        phases.append((lease.phase, dataclasses.replace(lease, earliest=max(lease.earliest, operation.call - SLACK_US))))
    if end + SLACK_US >= lease.earliest:
        phases.append((ENDED[lease.phase], dataclasses.replace(lease, latest=min(lease.latest, end + SLACK_US))))
    return phases


def refusal(lease, phase, presented, what):
    """Why a request with this lease id, or none, may not write to a leased `what`; None: it may."""
    if presented:
        if phase == "available":
            return 412, f"LeaseNotPresentWith{what}Operation"
        if phase not in LOCKED:
            return 412, "LeaseLost"
        return (412, f"LeaseIdMismatchWith{what}Operation") if presented != lease.holder else None
    return (412, "LeaseIdMissing") if phase in LOCKED else None


def after_write(lease, phase):
    """One that has ended is forgotten."""
    return lease if phase in LOCKED else NO_LEASE


def act(lease, phase, operation, breaks_at_once=False):
    """A lease operation: its outcome, and the lease after it."""
    request = operation.request
    if request["do"] == "break":
        return _break(lease, phase, operation, breaks_at_once)
    return {"acquire": _acquire, "renew": _renew, "change": _change, "release": _release}[request["do"]](lease, phase, operation)


def _acquire(lease, phase, operation):
    name, duration_s = operation.request["id"], operation.request["duration_s"]
    if phase in LOCKED and name != lease.holder:
        return (409, "LeaseAlreadyPresent"), lease
    if phase == "breaking":
        return (409, "LeaseIsBreakingAndCannotBeAcquired"), lease
    return (201,), Lease("leased", name, duration_s, *_ends(operation, duration_s))


def _renew(lease, phase, operation):
    if operation.request["id"] != lease.holder:
        return (409, "LeaseIdMismatchWithLeaseOperation"), lease
    if phase in ("breaking", "broken"):
        return (409, "LeaseIsBrokenAndCannotBeRenewed"), lease
    return (200,), Lease("leased", lease.holder, lease.duration_s, *_ends(operation, lease.duration_s))


def _change(lease, phase, operation):
    name, proposed = operation.request["id"], operation.request["proposed"]
    if phase not in LOCKED:
        return (409, "LeaseNotPresentWithLeaseOperation"), lease
    if phase == "breaking" and name == lease.holder:
        return (409, "LeaseIsBreakingAndCannotBeChanged"), lease
    if phase == "breaking" or lease.holder not in (name, proposed):
        return (409, "LeaseIdMismatchWithLeaseOperation"), lease
    return (200,), dataclasses.replace(lease, holder=proposed)


def _release(lease, phase, operation):
    if operation.request["id"] != lease.holder:
        return (409, "LeaseIdMismatchWithLeaseOperation"), lease
    return (200,), NO_LEASE


def _break(lease, phase, operation, at_once):
    """The reply says in how many seconds the lease ends; what cannot be is told as the outcome there should have been."""
    period_s, told_s = operation.request["period"], None if operation.end is None else operation.made
    if phase == "available":
        return (409, "LeaseNotPresentWithLeaseOperation"), lease
    endless = lease.earliest == FOREVER_US
    if at_once or phase not in LOCKED or period_s == 0 or (period_s is None and endless):
        return ((202,) if not told_s else (202, "in 0 s")), Lease("broken", lease.holder, lease.duration_s)
    earliest, latest = lease.earliest, lease.latest
    if period_s is not None:
        first, last = _ends(operation, period_s)
        earliest, latest = min(earliest, first), min(latest, last)
    if told_s is not None:  # Rounded up.
        earliest = max(earliest, operation.call + (told_s - 1) * SECOND_US - SLACK_US)
        latest = min(latest, operation.end + told_s * SECOND_US + SLACK_US)
        if earliest > latest or told_s == 0:
            return (202, "in the time it has left"), lease
    return (202,), Lease("breaking", lease.holder, lease.duration_s, earliest, latest)


def _ends(operation, seconds):
    """Between which instants something ends that takes so long from the operation on."""
    if seconds == INFINITE:
        return FOREVER_US, FOREVER_US
    span = seconds * SECOND_US
    return operation.call + span, FOREVER_US if operation.end is None else operation.end + span
