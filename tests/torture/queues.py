"""Messages under torture: each client owns one queue. What was put and acknowledged is there; what was taken stays hidden from
others and its receipt stays good; what was deleted stays gone."""

import xml.etree.ElementTree

from client import Disconnected
from owner import Wrong

LONG_S = str(6 * 24 * 3600)  # Nothing that is taken comes back by itself during a run, even if the clock jumps.


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
        self.maybe_updated = None
        self.maybe_cleared = False
        self.maybe_taken = False  # A Get Messages without a reply: one message may be hidden.

    async def create(self, connection):
        reply = await connection.request("PUT", self.path)
        if reply.status != 201:
            raise Wrong(f"creating a queue: {reply.status} {reply.code}")

    async def run(self, connection, random):
        try:
            while True:
                await random.choices(self.OPERATIONS, self.WEIGHTS)[0](self, connection, random)
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

    async def update(self, connection, random):
        """Another text and another receipt; it stays hidden."""
        if not self.taken:
            return
        old = random.choice(sorted(self.taken))
        self._next += 1
        text = f"message {self._next} updated"
        self.maybe_updated = old
        message, pop_receipt = self.taken[old]
        query = {"popreceipt": pop_receipt, "visibilitytimeout": LONG_S}
        reply = await connection.request("PUT", f"{self.path}/messages/{message}", query, body=(
            f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>").encode())
        if reply.status != 204:
            raise Wrong(f"updating a message: {reply.status} {reply.code}")
        del self.taken[old]
        self.taken[text] = (message, reply.headers["x-ms-popreceipt"])
        self.maybe_updated = None

    async def clear(self, connection, random):
        self.maybe_cleared = True
        reply = await connection.request("DELETE", f"{self.path}/messages")
        if reply.status != 204:
            raise Wrong(f"clearing {self.path}: {reply.status} {reply.code}")
        self._forget()

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
        """Empties the queue and says what was wrong with it. A message whose update was not answered stays hidden."""
        seen = {}
        while some := await self._get(connection, 32):
            seen.update(some)
        statuses = {text: await self._delete(connection, receipt) for text, receipt in {**self.taken, **seen}.items()}
        if self.maybe_cleared and not seen and all(status == 404 for status in statuses.values()):
            self._forget()  # All or nothing: with what waited, also what was taken is gone.
            return None
        missing = self.waiting - seen.keys()
        extra = seen.keys() - self.waiting - {self.maybe_put}
        wrong = None
        if extra:
            wrong = f"{self.path} hands out what is taken, deleted or was never put: {[text[:20] for text in extra]}"
        elif len(missing) > (1 if self.maybe_taken else 0):
            wrong = f"{self.path} lost {[text[:20] for text in missing]}"
        for text, status in statuses.items():
            if status == 204 or (status == 404 and text == self.maybe_deleted) or text == self.maybe_updated:
                continue
            wrong = wrong or f"the receipt of {text[:20]!r} in {self.path} is not good any more: {status}"
        self._forget()
        return wrong

    OPERATIONS = (put, take, delete, update, clear)
    WEIGHTS = (8, 4, 4, 2, 0.3)
