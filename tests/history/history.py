"""Many clients at once on few objects, everything they were told written down, and a search for an order that explains it.

What is promised: every blob and every entity behaves as if one request after the other were served, each at an instant between
its call and its reply; so does every partition of a table with its transactions and queries; leases and receipts exclude. The
seed decides what every client tries in every round; how their requests interleave is the machine's.
"""

import argparse
import asyncio
import collections
import dataclasses
import json
import multiprocessing
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "py"))

import harness
import blobs
import drives
import fault_library
import files
import leases
import paths
import queues
import smb_client
import tables
import tags
from checker import Undecided, check
from client import Connection, Gate
from explain import explain
from record import Clock, Operation, Recorder, Unexpected

KINDS = {kind.NAME: kind for kind in (blobs, leases, tables, queues, files, tags, drives, paths)}
SERVICES = ("Blob", "Queue", "Table", "File")
LAKE = "lake"  # The account with directories, which the service "Lake" is the Blob service of.
OWN_SERVER = ("Drive", "Lake")  # What only a server that is started here has.
PROCESSES = 4
CLIENTS = 6
STEPS = 25  # Of each client in a round. More make the search long, not better.
HANG_UPS = 2  # Of a hundred requests.
PACE = 100  # Seconds that the server's clock makes in one, so that a lease of 15 s ends within a history.


@dataclasses.dataclass
class Settings:
    """What a round needs to know; goes to other processes."""

    urls: dict  # By service.
    smb_port: int | None
    place: str  # Container, table and share.
    clock: Clock
    seed: int
    kinds: list
    hang_ups: int


class Group:
    """Clients of one object."""

    def __init__(self, kind, settings, number):
        self.kind, self.settings, self.number = kind, settings, number
        self.place, self.name = settings.place, f"{kind.NAME}{number:05}"
        self.recorder = Recorder(settings.clock, settings.hang_ups)
        self.shared = {}  # What the clients tell each other.

    async def run(self):
        """Everything that was recorded."""
        clients = [self.kind.Client(self, number, random.Random(f"{self.settings.seed}/{self.name}/{number}"),
                                    connect(self.settings, self.kind.SERVICE)) for number in range(CLIENTS)]
        try:
            await self.kind.Client.create(clients[0].connection, self)
            await asyncio.gather(*(self._steps(client) for client in clients))
            await clients[0].finish()
        finally:
            for client in clients:
                client.connection.close()
        return self.recorder.operations

    @staticmethod
    async def _steps(client):
        for _ in range(STEPS):
            await client.step()


@dataclasses.dataclass
class Verdict:
    operations: int = 0
    objects: int = 0
    without_reply: int = 0
    undecided: int = 0
    problems: list = dataclasses.field(default_factory=list)  # Texts.
    history: list = dataclasses.field(default_factory=list)  # Lines of JSON, when there is a problem.

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def connect(settings, service):
    if service == "Drive":
        return smb_client.Ends(connect(settings, "File"), smb_client.SmbConnection(
            "127.0.0.1", settings.smb_port, harness.ACCOUNT, harness.KEY, settings.place))
    if service == "Lake":
        return Connection.to(settings.urls["Blob"], LAKE, harness.KEY, gate=Gate(now=settings.clock.date_s))
    return Connection.to(settings.urls[service], harness.ACCOUNT, harness.KEY, table=service == "Table",
                         gate=Gate(now=settings.clock.date_s))


def judge(kind, name, operations):
    """The verdict on a history of one group."""
    verdict = Verdict(operations=len(operations), without_reply=sum(operation.end is None for operation in operations))
    for part, history in kind.split(operations).items():
        model = kind.Model()
        try:
            violation = check(model, history)
        except Undecided:
            verdict.undecided += 1
            continue
        verdict.objects += 1
        if violation is not None:
            verdict.problems.append(explain(kind.NAME, f"{name} {part}".strip(), violation, model))
    if verdict.problems:
        verdict.history = [operation.as_json(kind.NAME, name) for operation in operations]
    return verdict


async def run_groups(groups):
    return await asyncio.gather(*(group.run() for group in groups), return_exceptions=True)


def run_round(settings, number):
    """One object of every kind, their clients all at once, then the search."""
    verdict = Verdict()
    groups = [Group(KINDS[name], settings, number) for name in settings.kinds]
    for group, recorded in zip(groups, asyncio.run(run_groups(groups))):
        if isinstance(recorded, Unexpected):
            verdict.problems.append(f"VIOLATION: a reply to {group.name} that nothing explains: {recorded}")
            verdict.history += [operation.as_json(group.kind.NAME, group.name) for operation in group.recorder.operations]
        elif isinstance(recorded, BaseException):
            raise recorded
        else:
            verdict.add(judge(group.kind, group.name, recorded))
    return verdict


async def prepare(settings):
    """The container, the table and the share that all rounds use."""
    table = {"headers": {"Content-Type": "application/json", "Accept": tables.ACCEPT},
             "body": f'{{"TableName": "{settings.place}"}}'.encode()}
    for service, method, path, more in (("Blob", "PUT", f"/{settings.place}", {"query": {"restype": "container"}}),
                                        ("Table", "POST", "/Tables", table),
                                        ("File", "PUT", f"/{settings.place}", {"query": {"restype": "share"}}),
                                        ("Lake", "PUT", f"/{settings.place}", {"query": {"resource": "filesystem"}})):
        if service in OWN_SERVER and settings.smb_port is None:
            continue
        connection = connect(settings, service)
        await connection.request(method, path, **more)
        connection.close()


def run(settings, seconds):
    """Rounds until the time is over or something is wrong."""
    asyncio.run(prepare(settings))
    total, rounds, deadline = Verdict(), 0, time.monotonic() + seconds
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        running = collections.deque()
        while not total.problems and (running or time.monotonic() < deadline):
            while len(running) < PROCESSES and time.monotonic() < deadline:
                running.append(pool.apply_async(run_round, (settings, rounds)))
                rounds += 1
            if running:
                total.add(running.popleft().get())
    return total, rounds


def check_file(path):
    histories = collections.defaultdict(list)
    for text in path.read_text().splitlines():
        kind, name, operation = Operation.from_json(text)
        histories[kind, name].append(operation)
    total = Verdict()
    for (kind, name), operations in histories.items():
        total.add(judge(KINDS[kind], name, operations))
    return total


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev history", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1, help="how long (default 1)")
    parser.add_argument("--seed", type=int, default=None, help="as printed by an earlier run")
    parser.add_argument("--only", action="append", choices=KINDS, help="this kind of object (repeatable)")
    parser.add_argument("--memory", action="store_true", help="a server that keeps its data in memory")
    parser.add_argument("--planted", metavar="FAULT", help="a server with this fault (planted/fault.cc lists them)")
    parser.add_argument("--at", nargs=4, metavar=SERVICES, help="URLs of a server that runs already, whose leases last")
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE", help="search a stored history again")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE", help="where a history that is wrong is stored")
    return parser.parse_args()


def hurry(scratch):
    """Clock and environment of a server whose clock runs fast. Where the library for that is not built, with sanitizers, no lease
    runs out."""
    if not fault_library.LIBRARY.exists():
        return Clock(), {}
    clock = Clock(PACE, time.time_ns())
    control = fault_library.Control(scratch)
    control.set(clock_pace=clock.pace, clock_since_ns=clock.since_ns)
    return clock, control.environment


def start_server(arguments, environment, scratch):
    accounts = [{"name": harness.ACCOUNT, "keys": [harness.KEY]},
                {"name": LAKE, "keys": [harness.KEY], "settings": {"hierarchicalNamespace": True}}]
    (scratch / "config.json").write_text(json.dumps({"accounts": accounts}))
    flags = ["--config", str(scratch / "config.json"), *(["--inMemoryPersistence"] if arguments.memory else [])]
    if not arguments.planted:
        return harness.Server(*flags, env=environment)
    return harness.Server(*flags, binary=f"{harness.BINARY}_planted", env={**environment, "KYANITE_PLANT": arguments.planted})


def run_with_server(arguments, seed):
    kinds = arguments.only or list(KINDS)
    place = f"history{time.time_ns()}"
    if arguments.at:
        kinds = [kind for kind in kinds if KINDS[kind].SERVICE not in OWN_SERVER]
        return run(Settings(dict(zip(SERVICES, arguments.at)), None, place, Clock(), seed, kinds, HANG_UPS), arguments.minutes * 60)
    with tempfile.TemporaryDirectory() as scratch:
        clock, environment = hurry(pathlib.Path(scratch))
        server = start_server(arguments, environment, pathlib.Path(scratch))
        try:
            urls = {service: server.url(service) for service in SERVICES}
            port = smb_client.port_of(server)
            return run(Settings(urls, port, place, clock, seed, kinds, HANG_UPS), arguments.minutes * 60)
        finally:
            server.stop()


def report(total, keep):
    """The exit code."""
    if total.problems:
        print(min(total.problems, key=len))
    if len(total.problems) > 1:
        print(f"   ... and {len(total.problems) - 1} more like this, which are longer")
    if total.problems and keep:
        keep.write_text("".join(text + "\n" for text in total.history))
        print(f"The whole history is in {keep}; --check {keep} searches it again.")
    if total.undecided:
        print(f"   {total.undecided} histories were too long to decide")
    if not total.problems:
        print("every history has an order")
    return 1 if total.problems else 0


def main():
    arguments = parse_arguments()
    if arguments.check:
        return report(check_file(arguments.check), None)
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"-- history, seed {seed}", flush=True)
    began = time.monotonic()
    total, rounds = run_with_server(arguments, seed)
    seconds = time.monotonic() - began
    print(f"   {rounds} rounds, {total.objects} objects, {total.operations} operations "
          f"({total.operations / seconds:.0f} a second), {total.without_reply} without a reply, in {seconds:.1f} s")
    return report(total, arguments.keep or pathlib.Path(tempfile.gettempdir()) / f"kyanite-history-{seed}.jsonl")


if __name__ == "__main__":
    sys.exit(main())
