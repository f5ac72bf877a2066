"""Messages of a queue, each an object of its own: whoever takes one has it alone until its time-out, the last receipt alone is
good, and what was deleted stays gone. A history of the queue is taken apart into histories of messages."""

import dataclasses
import math
import xml.etree.ElementTree

from record import FOREVER_US, SECOND_US, SLACK_US

NAME = "message"
SERVICE = "Queue"
SHORT_S = 0.25  # By the true time: time-outs that end within a history,
LONG_S = 3600  # and by the server's: that do not.


@dataclasses.dataclass(frozen=True)
class Message:
    text: str
    receipt: str
    taken: int  # How often.
    hidden_until: int  # At least, by the clock of the history.
    visible_from: int  # At the latest.


class Model:
    """The state is a Message, or None before it is put and after it is deleted."""

    initial = None

    def prepare(self, operations):
        return

    def apply(self, state, operation):
        request = operation.request
        if request["do"] == "put":
            return (201,), self._hidden(operation, Message(request["text"], "", 0, 0, 0))
        if request["do"] == "empty":
            there = state is not None and state.visible_from + SLACK_US < operation.call
            return (("must be there",) if there else ("empty",)), state
        if state is None:
            return ("not there",), None
        if request["do"] == "get":
            if operation.end is not None and operation.end + SLACK_US < state.hidden_until:
                return ("hidden",), state
            return ("taken", state.text, state.taken + 1), self._hidden(
                operation, dataclasses.replace(state, taken=state.taken + 1))
        if request["receipt"] != state.receipt:
            return ("not there",), state
        if request["do"] == "delete":
            return (204,), None
        return (204,), self._hidden(operation, dataclasses.replace(state, text=request["text"] or state.text))

    @staticmethod
    def _hidden(operation, message):
        """With a new receipt, hidden from some instant of the operation on."""
        span = operation.request["visibility_s"] * SECOND_US
        latest = FOREVER_US if operation.end is None else operation.end + span
        return dataclasses.replace(message, receipt=operation.made or f"the receipt of {operation.client} at {operation.call}",
                                   hidden_until=operation.call + span, visible_from=latest)

    def changes(self, operation):
        return operation.outcome not in (("not there",), ("empty",))

    def describe(self, state):
        if state is None:
            return "no message"
        return f"{state.text}, taken {state.taken} times, receipt {state.receipt}"

    def ask(self, request):
        hidden = f" hidden for {request['visibility_s']} s" if "visibility_s" in request else ""
        return " ".join(filter(None, (request["do"], request.get("text"), request.get("receipt")))) + hidden


def split(operations):
    """Name of the message: operations on it. A Get Messages is one operation on each message that it returned; without a reply it
    may have taken any."""
    names = {}  # By message id.
    histories = {}
    for operation in operations:
        request = operation.request
        if request["do"] == "put":
            histories[name_of(request["text"])] = []
            if operation.made:
                names[operation.made[0]] = name_of(request["text"])
        elif request["do"] == "get":
            names.update((message[0], name_of(message[2])) for message in operation.made or ())
    for operation in operations:
        request = operation.request
        if request["do"] == "put":
            histories[name_of(request["text"])].append(
                dataclasses.replace(operation, made=operation.made and operation.made[1]))
        elif request["do"] in ("update", "delete"):
            histories[names[request["id"]]].append(operation)
        elif operation.outcome is None or request["do"] == "empty":
            for history in histories.values():
                history.append(operation)
        else:
            for _, receipt, text, count in operation.made:
                histories.setdefault(name_of(text), []).append(
                    dataclasses.replace(operation, outcome=("taken", text, count), made=receipt))
    return histories


def name_of(text):
    return text.split(" ")[0]


@dataclasses.dataclass
class Ticket:
    """What the clients know of a message, all of them together."""

    id: str
    name: str
    receipts: list = dataclasses.field(default_factory=list)
    deleted: bool = False


class Client:
    MOST_MESSAGES = 8  # Few, so that everyone wants the same.

    def __init__(self, group, number, random, connection):
        self.path = f"/{group.name}/messages"
        self.number, self.random, self.connection, self.recorder = number, random, connection, group.recorder
        self.tickets = group.shared
        self.short_s = math.ceil(SHORT_S * group.recorder.clock.pace)
        self._texts = 0

    @staticmethod
    async def create(connection, group):
        await connection.request("PUT", f"/{group.name}")

    async def step(self):
        await self.random.choice((self.put, self.get, self.get, self.get, self.update, self.update, self.delete))()

    async def finish(self):
        """When all short time-outs have ended, what is not held for long and not deleted must come to light."""
        await self.recorder.clock.sleep(self.short_s + 0.2)
        done = None
        while done is None or done.made:
            done = await self._get(32, LONG_S)
        done.request["do"], done.outcome = "empty", ("empty",)

    async def put(self):
        if sum(not ticket.deleted for ticket in self.tickets.values()) >= self.MOST_MESSAGES:
            return await self.get()
        text = f"{self.number}.{self._next_text()} 0"
        visibility_s = self.random.choice((0, 0, 0, self.short_s))
        done = await self.recorder.request(
            self, {"do": "put", "text": text, "visibility_s": visibility_s}, understand_put, "POST", self.path,
            {"visibilitytimeout": str(visibility_s)}, body=message_body(text))
        if done:
            self._learn(*done.made, text)

    async def get(self):
        await self._get(self.random.randint(1, 4), self.random.choice((self.short_s, LONG_S)))

    async def _get(self, count, visibility_s):
        done = await self.recorder.request(
            self, {"do": "get", "visibility_s": visibility_s}, understand_get, "GET", self.path,
            {"numofmessages": str(count), "visibilitytimeout": str(visibility_s)})
        for message, receipt, text, _ in done.made if done else ():
            self._learn(message, receipt, text)
        return done

    async def update(self):
        """Mostly gives the message back, so that the next one can take it at once."""
        ticket, receipt = self._any_receipt()
        if ticket is None:
            return await self.put()
        text = f"{ticket.name} {self.number}.{self._next_text()}" if self.random.randrange(2) else None
        visibility_s = self.random.choice((0, 0, 0, self.short_s, LONG_S))
        done = await self.recorder.request(
            self, {"do": "update", "id": ticket.id, "receipt": receipt, "text": text, "visibility_s": visibility_s},
            understand_change, "PUT", f"{self.path}/{ticket.id}",
            {"popreceipt": receipt, "visibilitytimeout": str(visibility_s)}, body=message_body(text) if text else b"")
        if done and done.made:
            ticket.receipts.append(done.made)

    async def delete(self):
        ticket, receipt = self._any_receipt()
        if ticket is None:
            return await self.put()
        done = await self.recorder.request(
            self, {"do": "delete", "id": ticket.id, "receipt": receipt}, understand_change, "DELETE",
            f"{self.path}/{ticket.id}", {"popreceipt": receipt})
        ticket.deleted |= done is None or done.outcome == (204,)

    def _next_text(self):
        self._texts += 1
        return self._texts

    def _any_receipt(self):
        """Of any message that any client knows, deleted ones among them; mostly the last receipt, sometimes one before it."""
        if not self.tickets:
            return None, None
        ticket = self.random.choice(list(self.tickets.values())[-self.MOST_MESSAGES:])
        return ticket, ticket.receipts[-1] if self.random.randrange(3) else self.random.choice(ticket.receipts[-3:])

    def _learn(self, message, receipt, text):
        self.tickets.setdefault(message, Ticket(message, name_of(text))).receipts.append(receipt)


def message_body(text):
    return f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>".encode()


def messages_of(reply):
    return xml.etree.ElementTree.fromstring(reply.body).iter("QueueMessage")


def understand_put(reply):
    message, = messages_of(reply)
    return (reply.status,), (message.findtext("MessageId"), message.findtext("PopReceipt"))


def understand_get(reply):
    if reply.status != 200:
        raise ValueError("the queue is always there")
    return ("got",), [(message.findtext("MessageId"), message.findtext("PopReceipt"), message.findtext("MessageText"),
                       int(message.findtext("DequeueCount"))) for message in messages_of(reply)]


def understand_change(reply):
    if reply.status == 404:
        return ("not there",), None
    if reply.status != 204:
        raise ValueError("neither done nor refused")
    return (204,), reply.headers.get("x-ms-popreceipt")
