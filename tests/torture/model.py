"""What the server has promised: for each blob its acknowledged state, and at most one change whose reply never came."""

import copy
import dataclasses
import random
import re
import zlib

HEADER = "{name} v{version} {length} "
_pool = random.Random(1).randbytes(4 << 20)


def make_content(name, version, length):
    """Bytes that say whose they are, which version, how long, and their checksum. At hardly any place two versions agree, so
    that a mixture of them is noticed."""
    header = HEADER.format(name=name, version=version, length=length).encode()
    rest = length - len(header) - 9
    at = (zlib.crc32(header) * 512 + version) % (len(_pool) - length)
    body = header + _pool[at:at + rest]
    return body + b" %08x" % zlib.crc32(body)


def describe_content(body):
    """For people: which versions it is made of, by the headers found in it."""
    found = re.findall(rb"client\d\d-\w+-\d (v\d+) \d+ ", body)
    return f"{len(body)} bytes with {b', '.join(found[:8]).decode() or 'no version'}"


def describe_difference(seen, wanted):
    at = next((i for i, (a, b) in enumerate(zip(seen, wanted)) if a != b), min(len(seen), len(wanted)))
    return f"{describe_content(seen)}, should be {describe_content(wanted)}; they differ from byte {at} on"


@dataclasses.dataclass
class State:
    """Everything of one blob that a client can see. `content` is None where there is no blob (but perhaps staged blocks)."""
    content: bytes | None = None
    etag: str | None = None  # None of an existing blob: not learnt yet, anything but the one before.
    metadata: dict = dataclasses.field(default_factory=dict)
    lease: str | None = None
    blocks: dict = dataclasses.field(default_factory=dict)  # Committed ones by id, in order.
    staged: dict = dataclasses.field(default_factory=dict)  # Uncommitted ones by id.
    snapshots: dict = dataclasses.field(default_factory=dict)  # Content by x-ms-snapshot; None: not learnt yet.
    marks: dict = dataclasses.field(default_factory=dict)  # Of an existing blob; see marks.py.

    def but(self, **changes):
        return dataclasses.replace(copy.copy(self), **changes)


class Blob:
    """One blob and the one client that writes it. Versions only grow, so that no content ever comes twice."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.state = State()
        self.pending = None  # What the state is if the change in flight has happened.
        self.version = 0
        self.old_etag = None  # One that no longer matches.
        self.etags = set()  # All that it ever had.

    def next_content(self, length):
        self.version += 1
        return make_content(self.name, self.version, length)

    def settle(self, seen):
        """Holds what the server shows after a crash against what may be; adopts it, or returns what is wrong with it."""
        wrong = differences(seen, self.state, None)
        found = self.state
        if wrong and self.pending is not None:
            wrong_too = differences(seen, self.pending, self.state.etag)
            wrong = wrong_too and f"{wrong}; and were the unacknowledged change there: {wrong_too}"
            found = self.pending
        self.pending = None
        if wrong is None:
            self.state = found.but(etag=seen.etag, snapshots=seen.snapshots)
        return wrong


def differences(seen, wanted, etag_before):
    """None, or in words what `seen` has other than `wanted`. `etag_before`: the ETag that a change must have replaced. Reads
    show of blocks only their sizes, and of a lease only that there is one."""
    if seen.content is None and wanted.content is not None:
        return "the blob is missing"
    if seen.content is not None and wanted.content is None:
        return f"a blob is there that should not be ({describe_content(seen.content)})"
    if seen.content != wanted.content:
        return f"content is {describe_difference(seen.content, wanted.content)}"
    if wanted.content is not None:
        if wanted.etag is not None and seen.etag != wanted.etag:
            return f"ETag is {seen.etag}, should be {wanted.etag}"
        if wanted.etag is None and seen.etag == etag_before:
            return f"ETag {seen.etag} did not change with the blob"
        if seen.metadata != wanted.metadata:
            return f"metadata is {seen.metadata}, should be {wanted.metadata}"
        if seen.marks != wanted.marks:
            return f"it has {seen.marks}, should have {wanted.marks}"
        if (seen.lease is None) != (wanted.lease is None):
            return "the lease is gone" if wanted.lease else "there is a lease nobody was given"
    blocks = {block: len(data) for block, data in wanted.blocks.items()}
    if list(seen.blocks.items()) != list(blocks.items()):
        return f"committed blocks are {seen.blocks}, should be {blocks}"
    staged = {block: len(data) for block, data in wanted.staged.items()}
    if seen.staged != staged:
        return f"uncommitted blocks are {seen.staged}, should be {staged}"
    return snapshot_differences(seen.snapshots, wanted.snapshots)


def snapshot_differences(seen, wanted):
    for instant, content in wanted.items():
        if instant is None:
            continue
        if instant not in seen:
            return f"snapshot {instant} is missing"
        if seen[instant] != content:
            return f"snapshot {instant} is {describe_difference(seen[instant], content)}"
    extra = {instant: content for instant, content in seen.items() if instant not in wanted}
    if list(extra.values()) != ([wanted[None]] if None in wanted else []):
        return f"snapshots {list(extra)} are there that should not be, or are not of what the blob was"
    return None
