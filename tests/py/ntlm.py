"""The client's side of an NTLMv2 logon, as small as servers accept it: three messages without SPNEGO around them, no integrity code,
no exchanged key."""

import hashlib
import hmac
import os
import struct

SIGNATURE = b"NTLMSSP\0"
# Unicode, the server's name is wanted, signing, NTLM, always sign, extended security, 128 bits.
FLAGS = 0x00000001 | 0x00000004 | 0x00000010 | 0x00000200 | 0x00008000 | 0x00080000 | 0x20000000
MASK = 0xFFFFFFFF


def md4(data):
    """RFC 1320. OpenSSL has it only where old algorithms are switched on."""
    def turn(value, bits):
        return (value << bits | value >> 32 - bits) & MASK

    rounds = (
        (lambda x, y, z: x & y | ~x & z, 0, range(16), (3, 7, 11, 19)),
        (lambda x, y, z: x & y | x & z | y & z, 0x5A827999, (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), (3, 5, 9, 13)),
        (lambda x, y, z: x ^ y ^ z, 0x6ED9EBA1, (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15), (3, 9, 11, 15)),
    )
    state = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + struct.pack("<Q", len(data) * 8)
    for start in range(0, len(padded), 64):
        words = struct.unpack_from("<16I", padded, start)
        a, b, c, d = state
        for mix, constant, order, shifts in rounds:
            for step, word in enumerate(order):
                a, b, c, d = d, turn((a + mix(b, c, d) + words[word] + constant) & MASK, shifts[step % 4]), b, c
        state = tuple((old + new) & MASK for old, new in zip(state, (a, b, c, d)))
    return struct.pack("<4I", *state)


def first_message():
    return SIGNATURE + struct.pack("<II", 1, FLAGS) + bytes(16)


def last_message(challenge, user, password, domain="AZURE"):
    """The answer to the server's message, and the key of the session."""
    if challenge[:12] != SIGNATURE + struct.pack("<I", 2):
        raise ValueError("no challenge")
    length, _, at = struct.unpack_from("<HHI", challenge, 40)
    about = challenge[at:at + length]
    secret = md4(password.encode("utf-16-le"))
    response_key = hmac.digest(secret, (user.upper() + domain).encode("utf-16-le"), "md5")
    blob = bytes((1, 1)) + bytes(14) + os.urandom(8) + bytes(4) + about + bytes(4)
    proof = hmac.digest(response_key, challenge[24:32] + blob, "md5")
    fields = (bytes(24), proof + blob, domain.encode("utf-16-le"), user.encode("utf-16-le"), b"", b"")
    message, payload = SIGNATURE + struct.pack("<I", 3), b""
    begin = len(message) + 8 * len(fields) + 4
    for field in fields:
        message += struct.pack("<HHI", len(field), len(field), begin + len(payload))
        payload += field
    return message + struct.pack("<I", FLAGS) + payload, hmac.digest(response_key, proof, hashlib.md5)
