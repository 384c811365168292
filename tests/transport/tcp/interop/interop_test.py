#!/usr/bin/env python3
"""TLS 1.3 between HAM's sessions and tlslite-ng, whose AES, GCM, HKDF and X25519 are written in Python.

interop_test.py PEER ham|openssl [unittest's options]: PEER is peer.cpp's program; ham or openssl, who makes its records. Both
sides hold one external key. The client may be on either side, and HAM's end a connection of a node or a lane.
"""
import functools
import os
import socket
import subprocess
import sys
import tempfile
import unittest

from tlslite.api import HandshakeSettings, TLSConnection, TLSLocalAlert, TLSRemoteAlert
from tlslite.constants import AlertDescription, ContentType, KeyUpdateMessageType
from tlslite.errors import TLSError
from tlslite.messages import Message

PEER = sys.argv[1]
RECORDS = sys.argv[2]
HAM = RECORDS == "ham"
KEY = bytearray(range(32))
IDENTITY = bytearray(b"ham-job-1")
TIMEOUT_S = 60
MAX_CONTENT = 16384
# Around what is special: a block of the cipher, a byte of length, what is opened in place, one record.
SIZES = (1, 15, 16, 17, 255, 256, 2047, 2048, 2049, 16383, 16384, 16385, 50000)

CLOSE_NOTIFY, UNEXPECTED, BAD_MAC, OVERFLOW = 0, 10, 20, 22
HANDSHAKE_FAILURE, ILLEGAL, DECODE_ERROR, DECRYPT_ERROR, PROTOCOL_VERSION = 40, 47, 50, 51, 70


def pattern(size):
    return bytes((i * 7 + size) & 255 for i in range(size))


def settings(**changes):
    """One version, one cipher, one key with an ephemeral exchange: as HAM has it."""
    result = HandshakeSettings()
    result.minVersion = result.maxVersion = (3, 4)
    result.cipherNames = ["aes256gcm"]
    result.cipherImplementations = ["python"]
    result.eccCurves = ["x25519", "secp256r1"]
    result.dhGroups = []
    result.keyShares = ["x25519"]
    result.pskConfigs = [(IDENTITY, KEY, "sha384")]
    result.psk_modes = ["psk_dhe_ke"]
    result.ticket_count = 0
    for name, value in changes.items():
        setattr(result, name, value)
    return result


class Peer:
    """HAM's end, a process of its own."""

    def __init__(self, role, kind="stream", limit=1 << 24, **environment):
        self.role = role
        command = [PEER, role, RECORDS, kind, str(limit)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, **environment))
        first = self.process.stdout.readline().strip()
        self.port = int(first) if first.isdigit() else None
        self.why_unusable = first

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connect(self):
        result = socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S)
        result.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return result

    def shake(self, **changes):
        """A connection with shaken hands. tlslite-ng has the other role."""
        result = Connection(self.connect())
        if self.role == "server":
            result.tls.handshakeClientCert(settings=settings(**changes))
        else:
            result.tls.handshakeServer(settings=settings(**changes))
        return result

    def end(self):
        """How HAM's end saw the last connection end."""
        return self.process.stdout.readline().strip()


class Connection:
    def __init__(self, raw):
        self.raw = raw
        self.tls = TLSConnection(raw)
        self.tls.closeSocket = True
        self.tls.ignoreAbruptClose = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.raw.close()

    def echo(self, data):
        self.tls.write(bytearray(data))
        return self.read(len(data))

    def read(self, size):
        return bytes(self.tls.read(size, size))

    # ---- below the interface

    def send_bytes(self, data):
        """Past the encryption."""
        self.tls.sock.flush()
        self.raw.sendall(bytes(data))

    def protect(self, inner, head=(23, 3, 3), size=None):
        """A record of content, type and padding; RFC 8446, 5.2."""
        state = self.tls._recordLayer._writeState
        header = bytearray(head) + (size or len(inner) + 16).to_bytes(2, "big")
        number = state.getSeqNumBytes()
        nonce = bytearray(a ^ b for a, b in zip(state.fixedNonce, bytearray(4) + number))
        return bytes(header + state.encContext.seal(nonce, bytearray(inner), header))

    def send(self, content_type, content, padding=0):
        self.send_bytes(self.protect(bytes(content) + bytes([content_type]) + bytes(padding)))

    def key_update(self, message_type=KeyUpdateMessageType.update_not_requested):
        for _ in self.tls.send_keyupdate_request(message_type):
            pass
        self.tls.sock.flush()

    def generation(self):
        """The traffic secret that HAM's end writes with."""
        mine = self.tls.session
        return bytes(mine.sr_app_secret if self.tls._client else mine.cl_app_secret)

    def alert(self):
        """What HAM's end says at its end; None: nothing."""
        try:
            while True:
                if not self.tls.read(1, 1):
                    return CLOSE_NOTIFY
        except TLSRemoteAlert as said:
            return said.description
        except (TLSError, OSError):
            return None


def handshake(kind, body=b""):
    return bytes([kind]) + len(body).to_bytes(3, "big") + bytes(body)


def everywhere(kinds=("stream", "lane"), **options):
    """A test with HAM as server and as client, and with both kinds of streams."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for role in ("server", "client"):
                for kind in kinds:
                    with self.subTest(ham=role, kind=kind), Peer(role, kind, **options) as peer:
                        test(self, peer)
        return run
    return decorate


class Agreement(unittest.TestCase):
    @everywhere()
    def test_every_class_of_sizes_in_both_directions(self, peer):
        with peer.shake() as tls:
            self.assertTrue(tls.tls.getCipherName() == "aes256gcm" and tls.tls.version == (3, 4))
            for size in SIZES:
                self.assertEqual(tls.echo(pattern(size)), pattern(size), size)

    @everywhere()
    def test_records_of_every_class(self, peer):
        with peer.shake() as tls:
            for size in SIZES[:-2]:
                tls.tls.recordSize = size
                count = 40 if size < 1000 else 2
                data = pattern(size * count)
                self.assertEqual(tls.echo(data), data, size)

    @everywhere()
    def test_records_come_together_and_in_pieces(self, peer):
        with peer.shake() as tls:
            records = b"".join(tls.protect(pattern(size) + b"\x17") for size in (1, 2, 100, 3000, 16384, 1))
            for begin, end in ((0, 1), (1, 4), (4, 6), (6, 60), (60, 3000), (3000, len(records))):
                tls.send_bytes(records[begin:end])
            expected = b"".join(map(pattern, (1, 2, 100, 3000, 16384, 1)))
            self.assertEqual(tls.read(len(expected)), expected)
            for byte in tls.protect(pattern(10) + b"\x17"):
                tls.send_bytes([byte])
            self.assertEqual(tls.read(10), pattern(10))

    def test_a_hello_retry_request(self):
        with Peer("server") as peer, peer.shake(keyShares=[]) as tls:
            self.assertEqual(tls.echo(b"x" * 100), b"x" * 100)

    @everywhere()
    def test_the_other_group(self, peer):
        with peer.shake(eccCurves=["secp256r1"], keyShares=["secp256r1"]) as tls:
            self.assertEqual(tls.echo(b"x" * 100), b"x" * 100)

    @everywhere()
    def test_no_record_is_padded_and_none_longer_than_it_may_be(self, peer):
        with peer.shake() as tls:
            data = pattern(3 * MAX_CONTENT + 5)
            tls.tls.write(bytearray(data))
            tls.tls.sock.flush()
            got = 0
            while got < len(data):
                head = tls.raw.recv(5, socket.MSG_WAITALL)
                size = int.from_bytes(head[3:], "big")
                self.assertEqual(head[:3], b"\x17\x03\x03")
                self.assertLessEqual(size, MAX_CONTENT + 17)
                tls.raw.recv(size, socket.MSG_WAITALL)
                got += size - 17
            self.assertEqual(got, len(data))


class NewKeys(unittest.TestCase):
    @everywhere()
    def test_announced_by_tlslite(self, peer):
        with peer.shake() as tls:
            for size in (1, 2048, 20000):
                tls.key_update()
                self.assertEqual(tls.echo(pattern(size)), pattern(size))

    @everywhere()
    def test_asked_for_by_tlslite(self, peer):
        with peer.shake() as tls:
            for size in (1, 2048, 20000):
                before = tls.generation()
                tls.key_update(KeyUpdateMessageType.update_requested)
                self.assertEqual(tls.echo(pattern(size)), pattern(size))
                self.assertNotEqual(tls.generation(), before, "HAM's end goes on with new keys")

    @everywhere(kinds=("lane",), limit=5)
    def test_announced_by_ham(self, peer):
        with peer.shake() as tls:
            before = tls.generation()
            for i in range(1, 40):
                if i % 5 == 0:
                    tls.key_update()  # both keep to the limit
                self.assertEqual(tls.echo(pattern(i)), pattern(i))
            self.assertNotEqual(tls.generation(), before)
            before = tls.generation()
            tls.key_update()
            self.assertEqual(tls.echo(b"please renew"), b"please renew")
            self.assertNotEqual(tls.generation(), before)

    @everywhere()
    def test_by_both_at_once_and_many_times(self, peer):
        with peer.shake() as tls:
            for _ in range(20):
                for _ in range(3):
                    tls.key_update()
                    tls.key_update(KeyUpdateMessageType.update_requested)
                self.assertEqual(tls.echo(pattern(100)), pattern(100))

    @everywhere(kinds=("lane",), limit=5)
    def test_a_peer_that_keeps_its_key_too_long_is_refused(self, peer):
        with peer.shake() as tls:
            for _ in range(7):
                tls.send(ContentType.application_data, b"data")
            self.assertEqual(tls.alert(), UNEXPECTED if HAM else CLOSE_NOTIFY)
            self.assertRegex(peer.end(), "too many records")


class Ends(unittest.TestCase):
    @everywhere()
    def test_said_by_tlslite(self, peer):
        with peer.shake() as tls:
            self.assertEqual(tls.echo(b"data"), b"data")
            tls.tls.close()
            self.assertEqual(peer.end(), "ended")

    @everywhere()
    def test_said_by_ham(self, peer):
        with peer.shake() as tls:
            self.assertEqual(tls.echo(b"data"), b"data")
            tls.tls.write(bytearray(b"please end"))
            self.assertEqual(tls.alert(), CLOSE_NOTIFY)
        self.assertEqual(peer.end(), "ended")

    @everywhere()
    def test_a_connection_that_is_cut_has_not_ended_in_order(self, peer):
        with peer.shake() as tls:
            self.assertEqual(tls.echo(b"data"), b"data")
            tls.send_bytes(tls.protect(b"data\x17")[:-1])
        self.assertRegex(peer.end(), "^(lost|failed: the connection ended)$")

    @everywhere()
    def test_nothing_counts_behind_the_end(self, peer):
        with peer.shake() as tls:
            tls.send_bytes(tls.protect(b"\x01\x00\x15") + tls.protect(b"data\x17"))
            self.assertEqual(tls.alert(), CLOSE_NOTIFY)
        self.assertEqual(peer.end(), "ended")

    @everywhere()
    def test_an_alert_is_told_by_its_name(self, peer):
        with peer.shake() as tls:
            tls.send(ContentType.alert, [2, AlertDescription.bad_record_mac])
            self.assertIn(tls.alert(), (CLOSE_NOTIFY, None))
        self.assertRegex(peer.end(), "bad.record.mac")


TICKET = handshake(4, b"\0\0\x0e\x10\0\0\0\1\1\0\0\4tick\0\0")
CERTIFICATE_REQUEST = handshake(13, b"\0\0\x08\0\x0d\0\4\0\2\4\3")
CLIENT_HELLO = handshake(1, b"\3\3" + bytes(32) + b"\0\0\2\x13\2\1\0\0\0")
OPENSSL_OWN_SAY = "OpenSSL's own alert, of whatever kind"

# What is sent behind the handshake: name, how, HAM's alert, OpenSSL's. None: it is accepted.
HOSTILE = [
    ("an unknown type", lambda c: c.send(99, b"x"), UNEXPECTED, UNEXPECTED),
    ("no type at all", lambda c: c.send(0, b"\0\0"), UNEXPECTED, UNEXPECTED),
    ("a padded record", lambda c: c.send(23, b"data", padding=3), UNEXPECTED, None),
    ("a change_cipher_spec inside", lambda c: c.send(20, b"\1"), UNEXPECTED, UNEXPECTED),
    ("a heartbeat", lambda c: c.send(24, b"\1\0\1x"), UNEXPECTED, UNEXPECTED),
    ("an empty message", lambda c: c.send(22, b""), UNEXPECTED, UNEXPECTED),
    ("an empty alert", lambda c: c.send(21, b""), DECODE_ERROR, OPENSSL_OWN_SAY),
    ("half an alert", lambda c: c.send(21, b"\2"), DECODE_ERROR, OPENSSL_OWN_SAY),
    ("two alerts", lambda c: c.send(21, b"\1\0\1\0"), DECODE_ERROR, OPENSSL_OWN_SAY),
    ("content that is a byte too long", lambda c: c.send(23, bytes(MAX_CONTENT + 1)), OVERFLOW, OVERFLOW),
    ("padding that makes it too long", lambda c: c.send(23, b"data", padding=MAX_CONTENT), OVERFLOW,
     (OVERFLOW, CLOSE_NOTIFY)),
    ("the head of an endless one", lambda c: c.send_bytes(b"\x17\3\3\xff\xff"), OVERFLOW, OVERFLOW),
    ("an empty ciphertext", lambda c: c.send_bytes(b"\x17\3\3\0\0"), UNEXPECTED, OPENSSL_OWN_SAY),
    ("a tag alone", lambda c: c.send_bytes(b"\x17\3\3\0\x10" + bytes(16)), UNEXPECTED, OPENSSL_OWN_SAY),
    ("plaintext data", lambda c: c.send_bytes(b"\x17\3\3\0\x20" + b"plaintext" * 4), BAD_MAC, BAD_MAC),
    ("a plaintext alert", lambda c: c.send_bytes(b"\x15\3\3\0\2\1\0"), UNEXPECTED, UNEXPECTED),
    ("a plaintext hello", lambda c: c.send_bytes(b"\x16\3\3" + len(CLIENT_HELLO).to_bytes(2, "big") + CLIENT_HELLO),
     UNEXPECTED, UNEXPECTED),
    ("a plaintext change_cipher_spec", lambda c: c.send_bytes(b"\x14\3\3\0\1\1"), UNEXPECTED, OPENSSL_OWN_SAY),
    ("text", lambda c: c.send_bytes(b"GET / HTTP/1.1\r\n\r\n"), UNEXPECTED, OPENSSL_OWN_SAY),
    ("another hello", lambda c: c.send(22, CLIENT_HELLO), UNEXPECTED, UNEXPECTED),
    ("a request for another hello", lambda c: c.send(22, handshake(0)), UNEXPECTED, UNEXPECTED),
    ("a ticket", lambda c: c.send(22, TICKET), UNEXPECTED, (CLOSE_NOTIFY, UNEXPECTED)),
    ("a request for a certificate", lambda c: c.send(22, CERTIFICATE_REQUEST), UNEXPECTED, OPENSSL_OWN_SAY),
    ("a certificate", lambda c: c.send(22, handshake(11, b"\0\0\0\0")), UNEXPECTED, UNEXPECTED),
    ("another Finished", lambda c: c.send(22, handshake(20, bytes(48))), UNEXPECTED, UNEXPECTED),
    ("an end of early data", lambda c: c.send(22, handshake(5)), UNEXPECTED, UNEXPECTED),
    ("an update of an unknown kind", lambda c: c.send(22, handshake(24, b"\2")), ILLEGAL, ILLEGAL),
    ("an update of no kind", lambda c: c.send(22, handshake(24)), DECODE_ERROR, DECODE_ERROR),
    ("an update that is too long", lambda c: c.send(22, handshake(24, b"\0\0")), DECODE_ERROR, OPENSSL_OWN_SAY),
    ("two updates in a record", lambda c: c.send(22, handshake(24, b"\0") * 2), DECODE_ERROR, UNEXPECTED),
    ("an update and a ticket in a record", lambda c: c.send(22, handshake(24, b"\0") + TICKET), DECODE_ERROR, UNEXPECTED),
    ("data with the old key behind an update", lambda c: (c.send(22, handshake(24, b"\0")), c.send(23, b"x")), BAD_MAC,
     BAD_MAC),
    ("a flood of empty records", lambda c: [c.send(23, b"") for _ in range(100)], UNEXPECTED, OPENSSL_OWN_SAY),
    ("a flood of key updates", lambda c: [c.key_update() for _ in range(100)], UNEXPECTED, OPENSSL_OWN_SAY),
    ("a flood of asked-for updates", lambda c: [c.key_update(KeyUpdateMessageType.update_requested) for _ in range(100)],
     UNEXPECTED, OPENSSL_OWN_SAY),
    ("an alert that only warns of nothing known", lambda c: c.send(21, b"\1\x63"), CLOSE_NOTIFY, (None, CLOSE_NOTIFY)),
]


def repeated(tls):
    tls.send_bytes(tls.protect(b"once\x17") * 2)


def reordered(tls):
    first, second = tls.protect(b"one\x17"), tls.protect(b"two\x17")
    tls.send_bytes(second + first)


def left_out(tls):
    tls.protect(b"lost\x17")
    tls.send(23, b"next")


def damaged(at):
    def send(tls):
        record = bytearray(tls.protect(pattern(40) + b"\x17"))
        record[at] ^= 1
        tls.send_bytes(record)
    return send


HOSTILE += [("a record that is repeated", repeated, BAD_MAC, BAD_MAC),
            ("records in another order", reordered, BAD_MAC, BAD_MAC),
            ("a record that is left out", left_out, BAD_MAC, BAD_MAC)]
HOSTILE += [(f"a bit that is wrong, byte {at}", damaged(at), BAD_MAC, BAD_MAC) for at in (5, 6, 20, 44, 45, 46, 61)]


class Hostile(unittest.TestCase):
    @everywhere()
    def test_what_does_not_belong_behind_a_handshake(self, peer):
        for name, send, by_ham, by_openssl in HOSTILE:
            expected = by_ham if HAM else by_openssl
            with self.subTest(ham=peer.role, what=name), peer.shake() as tls:
                self.assertEqual(tls.echo(b"ok"), b"ok")
                try:
                    send(tls)
                except OSError:
                    pass  # HAM's end has had enough
                if expected is None:
                    self.assertEqual(tls.read(4), b"data")
                    tls.tls.close()
                    self.assertEqual(peer.end(), "ended")
                    continue
                said = tls.alert()
                tls.raw.close()
                end = peer.end()
                self.assertRegex(end, "^failed: .", f"alert {said}")
                if isinstance(expected, str):
                    self.assertIsNotNone(said, end)
                elif isinstance(expected, tuple):
                    self.assertIn(said, expected, end)
                else:
                    self.assertEqual(said, expected, end)
        with peer.shake() as tls:  # the same process goes on
            self.assertEqual(tls.echo(b"ok"), b"ok")

    @everywhere()
    def test_messages_in_two_records(self, peer):
        with peer.shake() as tls:
            tls.send(22, handshake(24, b"\0")[:2])
            tls.send(22, handshake(24, b"\0")[2:])
            if HAM:
                self.assertEqual(tls.alert(), UNEXPECTED)
                self.assertRegex(peer.end(), "^failed: ")

    @everywhere()
    def test_records_without_data_between_data_are_no_flood(self, peer):
        with peer.shake() as tls:
            for _ in range(10):
                for _ in range(15):
                    tls.send(23, b"")
                    tls.key_update()
                self.assertEqual(tls.echo(b"data"), b"data")


# Clients and servers without what it takes: name, settings, HAM's roles, alert of HAM's server.
STRANGERS = [
    ("another key", {"pskConfigs": [(IDENTITY, bytearray(32), "sha384")]}, ("server", "client"), (DECRYPT_ERROR, ILLEGAL)),
    ("another identity", {"pskConfigs": [(bytearray(b"ham-job-2"), KEY, "sha384")]}, ("server", "client"), None),
    ("no key", {"pskConfigs": []}, ("server",), None),
    ("no ephemeral exchange", {"psk_modes": ["psk_ke"]}, ("server", "client"), None),
    ("another hash", {"pskConfigs": [(IDENTITY, KEY, "sha256")], "cipherNames": ["aes128gcm"]}, ("server", "client"), None),
    ("another cipher", {"cipherNames": ["chacha20-poly1305"]}, ("server", "client"), None),
    ("another group", {"eccCurves": ["secp521r1"], "keyShares": ["secp521r1"]}, ("server", "client"), None),
    ("an older version", {"minVersion": (3, 3), "maxVersion": (3, 3)}, ("server", "client"), (PROTOCOL_VERSION,)),
]


class Strangers(unittest.TestCase):
    def refused(self, **environment):
        for name, changes, roles, alerts in STRANGERS:
            for role in roles:
                with self.subTest(ham=role, what=name), Peer(role, **environment) as peer:
                    with self.assertRaises((TLSRemoteAlert, TLSLocalAlert, TLSError, OSError)) as refused:
                        peer.shake(**changes).read(1)
                    if role == "server":
                        said = getattr(refused.exception, "description", None)
                        self.assertIsNotNone(said, refused.exception)
                        if alerts:
                            self.assertIn(said, alerts)
                    refused.exception.__traceback__ = None  # which holds the socket
                    self.assertRegex(peer.end(), "^no handshake: .")
                    with peer.shake() as tls:
                        self.assertEqual(tls.echo(b"ok"), b"ok")

    def test_are_refused_and_the_next_one_is_served(self):
        self.refused()


class Configuration(unittest.TestCase):
    """An openssl.cnf that wants weak connections."""

    def with_file(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".cnf")
        file.write(text)
        file.flush()
        self.addCleanup(file.close)
        return file.name

    WEAK = """openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = weak
[weak]
Options = AllowNoDHEKEX,SessionTicket,UnsafeLegacyRenegotiation,-MiddleboxCompat,PrioritizeChaCha
MinProtocol = TLSv1
MaxProtocol = TLSv1.2
CipherString = ALL:@SECLEVEL=0
Ciphersuites = TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256
Groups = P-521
RecordPadding = 4096
NumTickets = 3
"""

    def test_weakens_nothing(self):
        name = self.with_file(self.WEAK)
        for role in ("server", "client"):
            with self.subTest(ham=role), Peer(role, OPENSSL_CONF=name) as peer, peer.shake() as tls:
                self.assertEqual(tls.tls.getCipherName(), "aes256gcm")
                tls.tls.write(bytearray(b"data"))
                tls.tls.sock.flush()
                self.assertEqual(tls.raw.recv(5, socket.MSG_WAITALL), b"\x17\3\3\0\x15", "neither tickets nor padding")

    def test_lets_nobody_in(self):
        Strangers.refused(self, OPENSSL_CONF=self.with_file(self.WEAK))

    def test_that_takes_the_ciphers_away_is_told(self):
        text = "openssl_conf = all\n[all]\nproviders = some\n[some]\nbase = base_only\n[base_only]\nactivate = 1\n"
        with Peer("server", OPENSSL_CONF=self.with_file(text)) as peer:
            self.assertIsNone(peer.port)
            self.assertRegex(peer.why_unusable, "^unusable: .*OpenSSL")

    def test_that_is_nonsense_is_told_or_ignored(self):
        for text in ("openssl_conf = nowhere\n", "\0\1\2", "[" * 10000, "openssl_conf = all\n[all]\nssl_conf = ssl\n"
                     "[ssl]\nsystem_default = x\n[x]\nMinProtocol = nonsense\n"):
            with Peer("server", OPENSSL_CONF=self.with_file(text)) as peer:
                if peer.port is None:
                    self.assertRegex(peer.why_unusable, "^unusable: .*OpenSSL")
                    continue
                with peer.shake() as tls:
                    self.assertEqual(tls.echo(b"ok"), b"ok")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
