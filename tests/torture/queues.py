"""Messages under torture: each client owns one queue. What was put and acknowledged is there; what was taken stays hidden from
others and its receipt stays good; what was deleted stays gone."""

import xml.etree.ElementTree

from client import Disconnected
from workload import Wrong

LONG_S = "3600"  # Nothing that is taken comes back by itself during a run.


class QueueClient:
    def __init__(self, number, report):
        self.path = f"/torture{number:02}"
        self._report = report
        self._next = 0
        self._forget()

    def _forget(self):
        self.waiting = set()  # Acknowledged and not taken.
        self.taken = {}  # Text: (id, receipt).
        self.maybe_put = None  # Texts of requests without a reply.
        self.maybe_deleted = None
        self.maybe_taken = False  # A Get Messages without a reply: one message may be hidden.

    async def create(self, connection):
        reply = await connection.request("PUT", self.path)
        if reply.status != 201:
            raise Wrong(f"creating a queue: {reply.status} {reply.code}")

    async def run(self, connection, random):
        try:
            while True:
                await random.choice((self.put, self.put, self.take, self.delete))(connection, random)
                self._report.acknowledged += 1
        except Disconnected:
            pass

    async def put(self, connection, random):
        self._next += 1
        text = f"message {self._next} " + "x" * random.randrange(2000)
        self.maybe_put = text
        reply = await connection.request("POST", f"{self.path}/messages", body=(
            f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>").encode())
        if reply.status != 201:
            raise Wrong(f"putting a message: {reply.status} {reply.code}")
        self.maybe_put = None
        self.waiting.add(text)

    async def _get(self, connection, count):
        query = {"numofmessages": str(count), "visibilitytimeout": LONG_S}
        reply = await connection.request("GET", f"{self.path}/messages", query)
        if reply.status != 200:
            raise Wrong(f"getting messages: {reply.status} {reply.code}")
        return {message.findtext("MessageText"): (message.findtext("MessageId"), message.findtext("PopReceipt"))
                for message in xml.etree.ElementTree.fromstring(reply.body).iter("QueueMessage")}

    async def take(self, connection, random):
        self.maybe_taken = True
        for text, receipt in (await self._get(connection, 1)).items():
            if text not in self.waiting:
                raise Wrong(f"{self.path} hands out what is taken, deleted or was never put: {text[:20]}")
            self.waiting.discard(text)
            self.taken[text] = receipt
        self.maybe_taken = False

    async def delete(self, connection, random):
        if not self.taken:
            return
        text = random.choice(sorted(self.taken))
        self.maybe_deleted = text
        status = await self._delete(connection, self.taken[text])
        if status != 204:
            raise Wrong(f"deleting a message: {status}")
        del self.taken[text]
        self.maybe_deleted = None

    async def _delete(self, connection, receipt):
        message, pop_receipt = receipt
        reply = await connection.request("DELETE", f"{self.path}/messages/{message}", {"popreceipt": pop_receipt})
        return reply.status

    async def check(self, connection):
        """Empties the queue and says what was wrong with it."""
        seen = {}
        while some := await self._get(connection, 32):
            seen.update(some)
        missing = self.waiting - seen.keys()
        extra = seen.keys() - self.waiting - {self.maybe_put}
        wrong = None
        if extra:
            wrong = f"{self.path} hands out what is taken, deleted or was never put: {[text[:20] for text in extra]}"
        elif len(missing) > (1 if self.maybe_taken else 0):
            wrong = f"{self.path} lost {[text[:20] for text in missing]}"
        for text, receipt in {**self.taken, **seen}.items():
            status = await self._delete(connection, receipt)
            if status != 204 and not (status == 404 and text == self.maybe_deleted):
                wrong = wrong or f"the receipt of {text[:20]!r} in {self.path} is not good any more: {status}"
        self._forget()
        return wrong
