"""Entity group transactions as they go over the wire: one changeset in a batch, and the replies to its parts."""

from client import Reply

HEADERS = {"Content-Type": "multipart/mixed; boundary=batch"}

_PART = b"--changes\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"


def encode(parts):
    """The body of a batch. A part is (method, path below the account, headers, body)."""
    return b"".join([b"--batch\r\nContent-Type: multipart/mixed; boundary=changes\r\n\r\n",
                     *(_PART + _request(*part) + b"\r\n" for part in parts),
                     b"--changes--\r\n--batch--\r\n"])


def _request(method, path, headers, body):
    lines = [f"{method} http://127.0.0.1/devstoreaccount1{path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def replies(body):
    """One for every change, or the single one of the change that was refused. A body has what follows it up to the next part."""
    found = []
    for text in body.split(b"HTTP/1.1 ")[1:]:
        head, _, content = text.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        found.append(Reply(int(first.split(" ", 1)[0]), headers, content))
    return found
