"""Who takes part: every client, the service it talks to and the account it has. Accounts differ in their settings."""

import collections
import json

import boxes
import drives
import fetched
import files
import formers
import harness
import increments
import lakes
from file_marks import FileMarks
from model import Blob
from owner import expect
from queues import QueueClient
from service_properties import ServiceProperties
from shared import Counter, Log
from storms import Published, Storm
from tables import TableClient
from workload import CONTAINER, KINDS

CLIENTS = 32
BLOBS_EACH = 6
DRIVES = 12
SERVICES = ("Blob", "Queue", "Table", "File")  # "Drive" besides is the File service over SMB and REST at once.
PLAIN, VERSIONED, KEPT, LAKE = harness.ACCOUNT, "versioned", "kept", "lake"
SETTINGS = {
    PLAIN: {"blobImmutability": True, "containerRetentionDays": 7, "shareRetentionDays": 7},
    VERSIONED: {"blobVersioning": True},
    KEPT: {},
    LAKE: {"hierarchicalNamespace": True},
}

Member = collections.namedtuple("Member", "service account client")


def configuration():
    """The accounts in the server's words."""
    return json.dumps({"accounts": [{"name": name, "keys": [harness.KEY], "settings": settings}
                                    for name, settings in SETTINGS.items()]})


class Crew:
    def __init__(self, report):
        self.promises = drives.Promises()
        self.owned = [[Blob(f"client{c:02}-{KINDS[b % len(KINDS)]}-{b}", KINDS[b % len(KINDS)]) for b in range(BLOBS_EACH)]
                      for c in range(CLIENTS)]
        self.counter, self.log = Counter(), Log()
        self.source = fetched.SlowSource()
        self.files = [files.FileClient(number, report) for number in range(6)]
        self.shuffle = files.Shuffle(report)
        self.storm = Storm(report)
        self.members = [
            *self._several(4, "Blob", PLAIN, lambda n: boxes.Container(f"box{n}", report)),
            *self._several(4, "File", PLAIN, lambda n: boxes.Share(f"box{n}", report)),
            *self._several(2, "Queue", PLAIN, lambda n: boxes.Queue(f"box{n}", report)),
            *self._several(2, "Table", PLAIN, lambda n: boxes.Table(f"box{n}", report)),
            *self._several(4, "Blob", VERSIONED, lambda n: formers.FormerStates(f"blob{n}", report, versioning=True)),
            *self._several(4, "Blob", KEPT, lambda n: formers.FormerStates(f"blob{n}", report, versioning=False)),
            *self._several(2, "Blob", PLAIN, lambda n: increments.Increments(f"blob{n}", report)),
            *self._several(2, "Blob", PLAIN, lambda n: fetched.FetchedCopies(f"fetched{n}", report, self.source, "container")),
            *self._several(2, "File", PLAIN, lambda n: fetched.FetchedCopies(f"fetched{n}", report, self.source, "share")),
            *self._several(3, "File", PLAIN, lambda n: FileMarks(f"marks{n}", report)),
            *self._several(6, "Table", PLAIN, lambda n: TableClient(n, report)),
            *self._several(6, "Queue", PLAIN, lambda n: QueueClient(n, report)),
            *(Member("File", PLAIN, client) for client in self.files),
            *self._several(8, "Blob", LAKE, lambda n: lakes.LakeClient(n, report)),
            *self._several(2, "Blob", LAKE, lambda n: lakes.FileSystem(f"system{n}", report)),
            *self._several(2, "Blob", LAKE, lambda n: Published(f"published{n}", report)),
            *self._several(DRIVES, "Drive", PLAIN, lambda n: drives.DriveClient(n, report, self.promises)),
            *(Member(service, PLAIN, ServiceProperties(f"properties of {service}", report)) for service in SERVICES),
        ]

    @staticmethod
    def _several(count, service, account, make):
        return [Member(service, account, make(number)) for number in range(count)]

    @property
    def blobs(self):
        return [blob for owned in self.owned for blob in owned]

    async def create(self, connect):
        """What must be there before the first cycle. `connect(service, account)` gives a connection."""
        await self.source.start()
        connection = connect("Blob", PLAIN)
        await expect(connection, 201, "PUT", f"/{CONTAINER}", {"restype": "container"}, {"x-ms-blob-public-access": "blob"})
        await increments.create_container(connection)
        await self.counter.create(connection)
        await self.log.create(connection)
        for account in (VERSIONED, KEPT):
            await formers.create_container(connect("Blob", account))
        await lakes.create_file_systems(connect("Blob", LAKE))
        await self.storm.create(connect("Blob", LAKE))
        await TableClient.create_table(connect("Table", PLAIN))
        await files.create_share(connect("File", PLAIN))
        await self.shuffle.create(connect("File", PLAIN))
        connections = {}
        for service, account, client in self.members:
            if (service, account) not in connections:
                connections[service, account] = connect(service, account)
            await client.create(connections[service, account])
        for each in connections.values():
            each.close()
