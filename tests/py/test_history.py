"""./dev history: its search on histories written by hand, a short run, and the proof that it finds faults."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from harness import ROOT

sys.path.insert(0, str(ROOT / "tests" / "history"))

import blobs
import checker
import drives
import explain
import fault_library
import files
import leases
import queues
import tables
import tags
from record import SECOND_US, Operation

TIMEOUT_S = 300


def history(*lines):
    """Operations from (call, end, request, outcome, made). Every one has a client of its own."""
    return [Operation(client, call, end, request, outcome, made)
            for client, (call, end, request, outcome, made) in enumerate(lines)]


class SearchCase(unittest.TestCase):
    kind = None

    def assert_order(self, *lines):
        self.assertIsNone(self.check_history(lines))

    def assert_no_order(self, *lines):
        violation = self.check_history(lines)
        self.assertIsNotNone(violation)
        return violation

    def check_history(self, lines):
        return checker.check(self.kind.Model(), history(*lines))


class BlobSearch(SearchCase):
    kind = blobs

    @staticmethod
    def put(call, end, value, made, if_match=None, only_new=False, status=201):
        outcome = None if end is None else (status,)
        return call, end, {"do": "put", "value": value, "if_match": if_match, "only_new": only_new}, outcome, made

    @staticmethod
    def get(call, end, value=None, tag=None):
        return call, end, {"do": "get"}, (200, value, tag) if value else (404,), None

    @staticmethod
    def delete(call, end, if_match=None, status=202):
        return call, end, {"do": "delete", "if_match": if_match}, None if end is None else (status,), None

    def test_one_after_the_other(self):
        self.assert_order(self.get(0, 1), self.put(2, 3, "a", "A"), self.get(4, 5, "a", "A"),
                          self.put(6, 7, "b", "B", if_match="A"), self.put(8, 9, "c", None, if_match="A", status=412),
                          self.delete(10, 11), self.delete(12, 13, status=404))

    def test_what_overlaps_has_any_order(self):
        self.assert_order(self.put(0, 10, "a", "A"), self.put(1, 9, "b", "B"), self.get(2, 3), self.get(4, 5, "b", "B"),
                          self.get(6, 7, "a", "A"), self.get(11, 12, "a", "A"))

    def test_stale_read(self):
        self.assert_no_order(self.put(0, 1, "a", "A"), self.put(2, 3, "b", "B"), self.get(4, 5, "a", "A"))

    def test_two_readers_disagree_about_the_order(self):
        self.assert_no_order(self.put(0, 20, "a", "A"), self.put(0, 20, "b", "B"), self.get(1, 2, "a", "A"),
                             self.get(3, 4, "b", "B"), self.get(5, 6, "a", "A"))

    def test_lost_update(self):
        self.assert_no_order(self.put(0, 1, "a", "A"), self.put(2, 5, "b", "B", if_match="A"),
                             self.put(3, 6, "c", "C", if_match="A"))

    def test_two_create_what_only_one_may(self):
        self.assert_no_order(self.put(0, 5, "a", "A", only_new=True), self.put(0, 5, "b", "B", only_new=True))

    def test_wrongly_refused(self):
        self.assert_no_order(self.put(0, 1, "a", "A"), self.put(2, 3, "b", None, if_match="A", status=412))

    def test_contents_and_tag_of_different_writes(self):
        self.assert_no_order(self.put(0, 1, "a", "A"), self.put(0, 1, "b", "B"), self.get(2, 3, "a", "B"))

    def test_what_had_no_reply_happens_later_or_never(self):
        lost = self.put(0, None, "a", None)
        self.assert_order(lost, self.get(1, 2), self.get(3, 4))
        self.assert_order(lost, self.get(1, 2), self.get(3, 4, "a", "A"), self.put(5, 6, "b", "B", if_match="A"))
        self.assert_no_order(lost, self.get(1, 2, "a", "A"), self.get(3, 4))
        self.assert_no_order(self.get(1, 2, "a", "A"), self.put(3, None, "a", None))

    def test_a_read_that_comes_back_only_happened_once(self):
        self.assert_no_order(self.put(0, None, "a", None), self.get(1, 2, "a", "A"), self.delete(3, 4), self.get(5, 6, "a", "A"))

    def test_the_excerpt_is_small_and_says_why(self):
        reads = [self.get(10 * i, 10 * i + 1, "a", "A") for i in range(1, 50)]
        violation = self.assert_no_order(self.put(0, 1, "a", "A"), *reads, self.put(600, 601, "b", "B"),
                                         self.get(700, 701, "a", "A"), self.put(800, 801, "c", "C"))
        self.assertEqual([operation.request["do"] for operation in violation.operations], ["put", "put", "get"])
        text = explain.explain("blob", "x", violation, blobs.Model())
        self.assertIn("get -> 200 a A, should be 200 b B", text)

    def test_a_search_that_would_take_too_long_is_given_up(self):
        puts = [self.put(0, 1000, f"v{i}", f"T{i}") for i in range(24)]
        with unittest.mock.patch.object(checker, "MOST_CONFIGURATIONS", 1000), self.assertRaises(checker.Undecided):
            self.check_history([*puts, self.get(1001, 1002, "never", "put")])

    def test_what_cannot_be_made_small_is_found_all_the_same(self):
        with unittest.mock.patch.object(checker, "MOST_TO_SHORTEN", 0):
            violation = self.assert_no_order(self.put(0, 1, "a", "A"), self.get(2, 3, "a", "A"), self.get(4, 5))
        self.assertEqual(len(violation.operations), 3)

    def test_what_servers_choose_is_shown_short_and_words_whole(self):
        self.assertEqual(explain.shorter("412 LeaseNotPresentWithFileOperation AgAAAAMAAAAAAAAA2eCYs1BV3QEab1cd"),
                         "412 LeaseNotPresentWithFileOperation #ab1cd")


class LeaseCase(SearchCase):
    kind = leases

    @staticmethod
    def do(call, end, action, outcome=200, made=None, **request):
        outcome = outcome if isinstance(outcome, tuple) else (outcome,)
        return call, end, {"do": action, **request}, None if end is None else outcome, made

    def acquire(self, call, end, name, outcome=201, duration_s=-1):
        return self.do(call, end, "acquire", outcome, id=name, duration_s=duration_s)

    def put(self, call, end, value, name=None, outcome=201):
        return self.do(call, end, "put", outcome, value=value, id=name)


class LeaseSearch(LeaseCase):
    def test_hand_over(self):
        self.assert_order(self.acquire(0, 1, "x"), self.put(2, 3, "a", "x"),
                          self.put(4, 5, "b", None, (412, "LeaseIdMissing")),
                          self.acquire(6, 7, "y", (409, "LeaseAlreadyPresent")),
                          self.do(8, 9, "release", id="x"), self.acquire(10, 11, "y"), self.put(12, 13, "c", "y"),
                          self.do(14, 15, "break", 202, made=0, period=None),
                          self.put(16, 17, "d", "y", (412, "LeaseLost")), self.put(18, 19, "e"))

    def test_two_holders(self):
        self.assert_no_order(self.acquire(0, 1, "x"), self.acquire(2, 3, "y"))
        self.assert_no_order(self.acquire(0, 5, "x"), self.acquire(0, 5, "y"))

    def test_two_holders_one_after_a_break(self):
        self.assert_order(self.acquire(0, 5, "x"), self.acquire(0, 5, "y"), self.do(0, 5, "break", 202, made=0, period=0))

    def test_a_write_beside_a_lease(self):
        self.assert_no_order(self.acquire(0, 1, "x"), self.put(2, 3, "a"))
        self.assert_no_order(self.acquire(0, 1, "x"), self.put(2, 3, "a", "y"))
        self.assert_order(self.acquire(0, 3, "x"), self.put(2, 5, "a"))

    def test_a_write_after_a_lease_was_lost(self):
        self.assert_no_order(self.acquire(0, 1, "x"), self.do(2, 3, "release", id="x"), self.put(4, 5, "a", "x"))

    def test_a_lease_that_may_have_been_released(self):
        self.assert_order(self.acquire(0, 1, "x"), self.do(2, None, "release", id="x"), self.put(4, 5, "a"))


class LeaseTime(LeaseCase):
    """Times in seconds. A lease of 15 s that is acquired between 0 and 1 ends between 15 and 16."""

    def check_history(self, lines):
        return super().check_history([(int(call * SECOND_US), end and int(end * SECOND_US), *rest)
                                      for call, end, *rest in lines])

    def lease(self, end=1):
        return self.acquire(0, end, "x", duration_s=15)

    def get(self, call, end, phase, value=leases.FIRST):
        return self.do(call, end, "get", (200, value, phase))

    LOST = 412, "LeaseLost"

    def test_its_end(self):
        self.assert_order(self.lease(), self.put(14, 14.5, "a", "x"), self.put(16.5, 17, "b", "x", self.LOST),
                          self.acquire(18, 19, "y", duration_s=15))

    def test_too_early(self):
        self.assert_no_order(self.lease(), self.get(14, 14.5, "expired"))
        self.assert_no_order(self.lease(), self.acquire(14, 14.5, "y"))
        self.assert_no_order(self.lease(), self.put(14, 14.5, "a", "x", self.LOST))
        self.assert_no_order(self.lease(), self.do(10, 11, "renew", id="x"), self.put(24, 24.5, "a"))

    def test_too_late(self):
        self.assert_no_order(self.lease(), self.get(16.5, 17, "leased"))
        self.assert_no_order(self.lease(), self.put(16.5, 17, "a", "x"))
        self.assert_no_order(self.lease(), self.acquire(16.5, 17, "y", (409, "LeaseAlreadyPresent")))
        self.assert_no_order(self.lease(), self.do(10, 11, "renew", id="x"), self.put(26.5, 27, "a", "x"))

    def test_what_is_under_way_at_its_end_finds_either(self):
        for found in (self.get(14, 17, "leased"), self.get(14, 17, "expired"), self.put(14, 17, "a"),
                      self.put(14, 17, "a", "x"), self.put(14, 17, "a", "x", self.LOST), self.put(14, None, "a"),
                      self.acquire(14, 17, "y"), self.do(14, 17, "change", id="x", proposed="y")):
            self.assert_order(self.lease(), found)

    def test_it_ends_once(self):
        """Within the time in which it may end, all clients agree on the instant."""
        leased, expired = self.get(15.2, 15.3, "leased"), self.get(15.2, 15.3, "expired")
        self.assert_order(self.lease(), leased, self.get(15.6, 15.7, "expired"))
        self.assert_no_order(self.lease(), expired, self.get(15.6, 15.7, "leased"))
        self.assert_no_order(self.lease(), expired, self.put(15.6, 15.7, "a", "x"))
        self.assert_no_order(self.lease(), self.put(15.2, 15.3, "a", "x", self.LOST), self.put(15.6, 15.7, "a", "x"))

    def test_one_without_a_reply_ends_some_time(self):
        lost = self.acquire(0, None, "x", duration_s=15)
        self.assert_order(lost, self.get(1, 2, "leased"), self.get(50, 51, "leased"), self.get(60, 61, "expired"))
        self.assert_no_order(lost, self.get(1, 2, "leased"), self.get(3, 4, "expired"))
        self.assert_no_order(lost, self.get(50, 51, "leased"), self.get(60, 61, "expired"), self.get(70, 71, "leased"))

    def test_an_expired_lease_is_renewed_unless_somebody_wrote(self):
        renew, refused = self.do(30, 31, "renew", id="x"), (409, "LeaseIdMismatchWithLeaseOperation")
        self.assert_order(self.lease(), renew, self.put(32, 33, "a", "x"))
        self.assert_order(self.lease(), self.put(20, 21, "a"), self.do(30, 31, "renew", refused, id="x"))
        self.assert_no_order(self.lease(), self.put(20, 21, "a"), renew)

    def test_a_break_comes_to_its_end(self):
        begun = self.acquire(0, 1, "x"), self.do(2, 3, "break", 202, made=10, period=10)
        self.assert_order(*begun, self.put(11, 11.5, "a", "x"), self.put(14, 15, "b", "x", self.LOST), self.acquire(16, 17, "y"))
        self.assert_no_order(*begun, self.acquire(11, 11.5, "y"))
        self.assert_no_order(*begun, self.put(14, 15, "a", "x"))
        self.assert_no_order(*begun, self.get(14, 15, "breaking"))

    def test_a_break_tells_when_it_ends(self):
        for period, told, right in ((None, 13, True), (None, 14, True), (None, 12, False), (None, 16, False), (None, 0, False),
                                    (5, 5, True), (5, 4, False), (60, 14, True), (60, 60, False), (0, 0, True), (0, 1, False)):
            with self.subTest(period=period, told=told):
                check = self.assert_order if right else self.assert_no_order
                check(self.lease(), self.do(2, 2.5, "break", 202, made=told, period=period))
        self.assert_order(self.lease(), self.do(20, 21, "break", 202, made=0, period=60), self.get(22, 23, "broken"))

    def test_a_second_break_only_shortens(self):
        begun = self.acquire(0, 1, "x"), self.do(2, 3, "break", 202, made=10, period=10)
        self.assert_order(*begun, self.do(4, 5, "break", 202, made=8, period=60), self.do(6, 7, "break", 202, made=2, period=2),
                          self.acquire(10, 11, "y"))
        self.assert_no_order(*begun, self.do(4, 5, "break", 202, made=60, period=60))


class FileSearch(SearchCase):
    kind = files
    A, B = 0, 1

    @staticmethod
    def do(call, end, action, outcome=200, made=None, file=A, **request):
        outcome = outcome if isinstance(outcome, tuple) else (outcome,)
        return call, end, {"do": action, "file": file, **request}, None if end is None else outcome, made

    def create(self, call, end, tag, file=A, name=None, outcome=201):
        return self.do(call, end, "create", outcome, tag, file, label=f"label {tag}", id=name)

    def write(self, call, end, value, tag, file=A, name=None, outcome=201):
        return self.do(call, end, "write", outcome, tag, file, value=value, id=name)

    def get(self, call, end, value, label, tag, file=A, phase="available"):
        return self.do(call, end, "get", (200, value, f"label {label}", tag, phase), None, file)

    def rename(self, call, end, tag, file=A, replace=True, name=None, to_name=None, outcome=200):
        return self.do(call, end, "rename", outcome, tag, file, to=1 - file, replace=replace, id=name, to_id=to_name)

    def list(self, call, end, *tags):
        return call, end, {"do": "list"}, (200, tags), None

    def test_one_after_the_other(self):
        self.assert_order(self.do(0, 1, "get", files.MISSING), self.create(2, 3, "1"), self.get(4, 5, files.ZEROS, "1", "1"),
                          self.write(6, 7, "v", "2"), self.do(8, 9, "label", 200, "3", label="label 3", id=None),
                          self.get(10, 11, "v", "3", "3"), self.list(12, 13, "3", None), self.rename(14, 15, "4"),
                          self.list(16, 17, None, "4"), self.get(18, 19, "v", "3", "4", file=self.B),
                          self.do(20, 21, "delete", 202, file=self.B, id=None), self.list(22, 23, None, None))

    def test_lost_update(self):
        self.assert_no_order(self.create(0, 1, "1"), self.write(2, 5, "v", "2"),
                             self.do(2, 5, "label", 200, "3", label="label 3", id=None), self.get(6, 7, "v", "1", "2"))

    def test_contents_of_two_writes(self):
        self.assert_no_order(self.create(0, 1, "1"), self.write(2, 5, "v", "2"), self.write(2, 5, "w", "3"),
                             self.get(6, 7, "v and w", "1", "3"))
        self.assertEqual(files.value_of(files.contents("v", 32) + files.contents("w", 32)), "v and w")
        self.assertEqual(files.value_of(files.contents("v", 32)), "v")
        self.assertEqual(files.value_of(bytes(32)), files.ZEROS)

    def test_a_rename_is_one_change(self):
        begin, rename = self.create(0, 1, "1"), self.rename(2, 20, "2")
        self.assert_order(begin, rename, self.list(3, 4, "1", None), self.list(5, 6, None, "2"))
        self.assert_no_order(begin, rename, self.list(3, 4, "1", "2"))
        self.assert_no_order(begin, rename, self.list(3, 4, None, None))
        self.assert_no_order(begin, rename, self.do(3, 4, "get", files.MISSING), self.do(5, 6, "get", files.MISSING, file=self.B))

    def test_a_rename_over_a_file_needs_both_leases(self):
        begin = (self.create(0, 1, "1"), self.create(2, 3, "2", self.B), self.do(4, 5, "acquire", 201, id="x", duration_s=-1),
                 self.do(4, 5, "acquire", 201, file=self.B, id="y", duration_s=-1))
        missing = 412, "LeaseIdMissing"
        self.assert_order(*begin, self.rename(6, 7, None, to_name="y", outcome=missing),
                          self.rename(8, 9, None, name="x", outcome=missing),
                          self.rename(10, 11, None, replace=False, name="x", outcome=(409, "ResourceAlreadyExists")),
                          self.rename(12, 13, "3", name="x", to_name="y"),
                          self.get(14, 15, files.ZEROS, "1", "3", file=self.B, phase="leased"))
        self.assert_no_order(*begin, self.rename(6, 7, "3", name="x"))
        self.assert_no_order(*begin, self.rename(6, 7, "3", to_name="y"))

    def test_a_write_beside_a_lease(self):
        leased = self.create(0, 1, "1"), self.do(2, 3, "acquire", 201, id="x", duration_s=-1)
        self.assert_order(*leased, self.write(4, 5, "v", "2", name="x"), self.do(6, 7, "break", 202, made=0, period=None),
                          self.write(8, 9, "w", None, name="x", outcome=(412, "LeaseLost")), self.write(10, 11, "w", "3"))
        self.assert_no_order(*leased, self.write(4, 5, "v", "2"))
        self.assert_no_order(*leased, self.do(4, 5, "delete", 202, id=None))

    def test_what_had_no_reply(self):
        """Its tag is the one that the first reader saw."""
        begin, lost = self.create(0, 1, "1"), self.rename(2, None, None)
        self.assert_order(begin, lost, self.list(3, 4, "1", None), self.list(5, 6, None, "2"), self.list(7, 8, None, "2"))
        self.assert_no_order(begin, lost, self.list(3, 4, None, "2"), self.list(5, 6, None, "3"))
        self.assert_no_order(begin, lost, self.list(3, 4, None, "2"), self.list(5, 6, "1", None))


class TagSearch(SearchCase):
    kind = tags

    @staticmethod
    def do(call, end, action, outcome, **request):
        return call, end, {"do": action, **request}, None if end is None else outcome, None

    def put(self, call, end, blob, value):
        return self.do(call, end, "put", (201,), blob=blob, value=value)

    def find(self, call, end, *found):
        return self.do(call, end, "find", (200, found))

    def test_follows_the_blobs(self):
        self.assert_order(self.find(0, 1), self.put(2, 3, 0, "a"), self.put(4, 9, 1, "b"), self.find(5, 6, (0, "a")),
                          self.find(7, 8, (0, "a"), (1, "b")), self.do(10, 11, "set", (204,), blob=0, value="c"),
                          self.find(12, 13, (0, "c"), (1, "b")), self.put(14, 15, 1, ""), self.find(16, 17, (0, "c")),
                          self.do(18, 19, "delete", (202,), blob=0), self.do(20, 21, "set", (404,), blob=0, value="d"),
                          self.find(22, 23))

    def test_one_too_few(self):
        self.assert_no_order(self.put(0, 1, 0, "a"), self.find(2, 3))
        self.assert_no_order(self.put(0, 9, 0, "a"), self.find(2, 3, (0, "a")), self.find(4, 5))

    def test_one_too_many(self):
        self.assert_no_order(self.put(0, 1, 0, "a"), self.do(2, 3, "delete", (202,), blob=0), self.find(4, 5, (0, "a")))

    def test_never_two_states(self):
        self.assert_no_order(self.put(0, 9, 0, "a"), self.put(0, 9, 1, "b"), self.find(1, 8, (0, "a")), self.find(1, 2, (0, "a"), (1, "b")),
                             self.find(3, 4, (1, "b")))


class PartitionSearch(SearchCase):
    kind = tables

    @staticmethod
    def change(call, end, *changes, outcome=(204,)):
        """A change is (verb, row, value, If-Match). The tag of a value is the value in capitals."""
        request = {"do": "change", "changes": [{"verb": verb, "row": row, "if_match": condition, "a": value, "b": None}
                                               for verb, row, value, condition in changes]}
        tags = [value and value.upper() for _, _, value, _ in changes] if end is not None and outcome == (204,) else None
        return call, end, request, None if end is None else outcome, tags

    @staticmethod
    def query(call, end, *values):
        rows = [value and (value, None, value.upper()) for value in values]
        return call, end, {"do": "query"}, (200, tuple(rows + [None] * (tables.ROWS - len(rows)))), None

    @staticmethod
    def get(call, end, row, value):
        return call, end, {"do": "get", "row": row}, (200, (value, None, value.upper())), None

    BEGIN = ("insert", 0, "a", None), ("insert", 1, "b", None)
    NEXT = ("replace", 0, "c", "A"), ("replace", 1, "d", "B")

    def test_transactions_and_queries(self):
        self.assert_order(self.change(0, 1, *self.BEGIN), self.query(2, 3, "a", "b"),
                          self.change(4, 9, *self.NEXT), self.query(4, 9, "a", "b"), self.query(4, 9, "c", "d"),
                          self.change(10, 11, ("delete", 0, None, "*"), ("insert", 1, "e", None), outcome=(409, 1)),
                          self.query(12, 13, "c", "d"))

    def test_fractured_read(self):
        self.assert_no_order(self.change(0, 1, *self.BEGIN), self.change(4, 9, *self.NEXT), self.query(5, 8, "c", "b"))

    def test_fractured_read_of_what_had_no_reply(self):
        self.assert_no_order(self.change(0, 1, *self.BEGIN), self.change(4, None, *self.NEXT), self.query(5, 8, "a", "d"))

    def test_two_point_reads_see_half_a_transaction(self):
        begin, change = self.change(0, 1, *self.BEGIN), self.change(4, 20, *self.NEXT)
        self.assert_order(begin, change, self.get(5, 6, 1, "b"), self.get(7, 8, 0, "c"), self.get(9, 10, 1, "d"))
        self.assert_no_order(begin, change, self.get(5, 6, 0, "c"), self.get(7, 8, 1, "b"))

    def test_a_query_runs_ahead_of_a_point_read(self):
        self.assert_no_order(self.change(0, 1, *self.BEGIN), self.change(4, 20, *self.NEXT), self.query(5, 6, "c", "d"),
                             self.get(7, 8, 0, "a"))

    def test_write_skew(self):
        self.assert_no_order(self.change(0, 1, *self.BEGIN),
                             self.change(2, 9, ("replace", 0, "c", "A"), ("merge", 1, "d", "B")),
                             self.change(2, 9, ("replace", 1, "e", "B"), ("merge", 0, "f", "A")))

    def test_a_refused_transaction_left_something(self):
        self.assert_no_order(self.change(0, 1, *self.BEGIN),
                             self.change(2, 3, ("replace", 0, "c", None), ("insert", 1, "d", None), outcome=(409, 1)),
                             self.query(4, 5, "c", "b"))


class MessageSearch(SearchCase):
    kind = queues

    def check_history(self, lines):
        for operations in queues.split(history(*lines)).values():
            if (violation := checker.check(queues.Model(), operations)) is not None:
                return violation
        return None

    @staticmethod
    def put(call, end, receipt="r0", text="m 0"):
        return call, end, {"do": "put", "text": text, "visibility_s": 0}, (201,), ("id", receipt)

    @staticmethod
    def take(call, end, receipt, count, visibility_s=30, text="m 0"):
        made = None if end is None else [("id", receipt, text, count)]
        return call, end, {"do": "get", "visibility_s": visibility_s}, None if end is None else ("got",), made

    @staticmethod
    def update(call, end, receipt, made, outcome=(204,), visibility_s=0, text=None):
        request = {"do": "update", "id": "id", "receipt": receipt, "text": text, "visibility_s": visibility_s}
        return call, end, request, outcome, made

    @staticmethod
    def delete(call, end, receipt, outcome=(204,)):
        return call, end, {"do": "delete", "id": "id", "receipt": receipt}, outcome, None

    @staticmethod
    def empty(call, end):
        return call, end, {"do": "empty", "visibility_s": 30}, ("empty",), []

    def test_taken_given_back_and_deleted(self):
        self.assert_order(self.put(0, 1), self.take(2, 3, "r1", 1), self.delete(4, 5, "r0", ("not there",)),
                          self.update(6, 7, "r1", "r2", text="m 1"), self.take(8, 9, "r3", 2, text="m 1"),
                          self.delete(10, 11, "r2", ("not there",)), self.delete(12, 13, "r3"), self.empty(14, 15))

    def test_two_consumers_within_the_time_out(self):
        late = 30 * SECOND_US
        self.assert_no_order(self.put(0, 1), self.take(2, 3, "r1", 1), self.take(4, 5, "r2", 2))
        self.assert_no_order(self.put(0, 1), self.take(2, 9, "r1", 1), self.take(2, 9, "r2", 1))
        self.assert_order(self.put(0, 1), self.take(2, 3, "r1", 1), self.take(late, late + 2, "r2", 2))

    def test_the_same_receipt_twice(self):
        self.assert_no_order(self.put(0, 1), self.take(2, 3, "r1", 1), self.update(4, 9, "r1", "r2"), self.delete(4, 9, "r1"))

    def test_a_stale_receipt(self):
        self.assert_no_order(self.put(0, 1), self.take(2, 3, "r1", 1), self.delete(4, 5, "r0"))

    def test_a_deleted_message_comes_back(self):
        late = 100 * SECOND_US
        self.assert_no_order(self.put(0, 1), self.take(2, 3, "r1", 1), self.delete(4, 5, "r1"),
                             self.take(late, late + 1, "r2", 2))

    def test_a_lost_message(self):
        late = SECOND_US
        self.assert_no_order(self.put(0, 1), self.empty(late, late + 1))
        self.assert_order(self.put(0, 1), self.take(2, 3, "r1", 1), self.empty(late, late + 1))
        self.assert_order(self.put(0, 1), self.take(2, None, None, 1), self.empty(late, late + 1))

    def test_a_lost_text(self):
        self.assert_no_order(self.put(0, 1), self.update(2, 3, "r0", "r1", text="m 1"), self.take(4, 5, "r2", 1, text="m 0"))

    def test_what_nobody_put(self):
        self.assert_no_order(self.take(0, 1, "r1", 1))


class DriveSearch(SearchCase):
    kind = drives

    @staticmethod
    def smb(call, end, do, handle, *status, **more):
        return call, end, {"do": do, "handle": handle, **more}, (status or ("SUCCESS",)) if end is not None else None, None

    @classmethod
    def open(cls, call, end, handle, access="RWD", share="RWD", status="SUCCESS", file=0, makes=True, deletes=False):
        return cls.smb(call, end, "open", handle, status, access=access, share=share, file=file, makes=makes, deletes=deletes)

    @classmethod
    def lock(cls, call, end, handle, status="SUCCESS", exclusive=True, waits=False):
        return cls.smb(call, end, "lock", handle, status, half=0, exclusive=exclusive, waits=waits)

    @classmethod
    def unlock(cls, call, end, handle):
        return cls.smb(call, end, "unlock", handle, half=0)

    @classmethod
    def write(cls, call, end, handle, value, status="SUCCESS"):
        return cls.smb(call, end, "write", handle, status, value=value)

    @classmethod
    def read(cls, call, end, handle, value):
        return cls.smb(call, end, "read", handle, "SUCCESS", value)

    @staticmethod
    def rest(call, end, do, *outcome, **more):
        return call, end, {"do": do, "file": 0, **more}, outcome, None

    def test_share_modes(self):
        keeper = self.open(0, 1, "x", "R", "R")
        self.assert_order(keeper, self.open(2, 3, "y", "R", "RWD"), self.open(2, 3, "z", "RW", "RWD", "SHARING_VIOLATION"))
        self.assert_no_order(keeper, self.open(2, 3, "z", "RW", "RWD"))
        self.assert_no_order(keeper, self.open(2, 3, "z", "R", "RWD", "SHARING_VIOLATION"))
        self.assert_order(keeper, self.open(2, 9, "z", "RW", "RWD"), self.smb(3, 4, "close", "x"))
        self.assert_no_order(keeper, self.open(2, 3, "z", "RW", "RWD"), self.smb(4, 5, "close", "x"))

    def test_rest_beside_opens(self):
        keeper = self.open(0, 1, "x", "R", "R")
        self.assert_order(keeper, self.rest(2, 3, "get", 200, drives.EMPTY), self.rest(2, 3, "delete", 409, "SharingViolation"))
        self.assert_no_order(keeper, self.rest(2, 3, "delete", 202))
        self.assert_order(keeper, self.rest(2, 9, "delete", 202), self.smb(3, 4, "close", "x"))
        self.assert_no_order(keeper, self.rest(2, 3, "put", 201, value="v"))
        self.assert_no_order(self.open(0, 1, "x", "R"), self.rest(2, 3, "get", 409, "SharingViolation"))

    def test_leases_of_rest(self):
        made = self.open(0, 1, "x"), self.smb(2, 3, "close", "x")
        acquired = self.rest(4, 5, "acquire", 201, id="l")
        self.assert_order(*made, acquired, self.open(6, 7, "y", "RW", status="SHARING_VIOLATION"), self.open(6, 7, "z", "R"))
        self.assert_no_order(*made, acquired, self.open(6, 7, "y", "RW"))
        self.assert_no_order(self.open(0, 1, "x"), acquired)

    def test_locks(self):
        opens = self.open(0, 1, "x"), self.open(0, 1, "y")
        self.assert_order(*opens, self.lock(2, 3, "x"), self.lock(4, 5, "y", "LOCK_NOT_GRANTED"))
        self.assert_no_order(*opens, self.lock(2, 3, "x"), self.lock(4, 5, "y"))
        self.assert_no_order(*opens, self.lock(2, 3, "y", "LOCK_NOT_GRANTED"))
        self.assert_order(*opens, self.lock(2, 3, "x"), self.lock(4, 9, "y", waits=True), self.unlock(6, 7, "x"))
        self.assert_no_order(*opens, self.lock(2, 3, "x"), self.lock(4, 5, "y", waits=True), self.unlock(6, 7, "x"))
        self.assert_order(*opens, self.lock(2, 3, "x"), self.lock(4, 9, "y", "CANCELLED", waits=True))
        self.assert_order(*opens, self.lock(2, 3, "x", exclusive=False), self.lock(4, 5, "y", exclusive=False))

    def test_writes_under_a_lock(self):
        begun = self.open(0, 1, "x"), self.open(0, 1, "y"), self.lock(2, 3, "x")
        self.assert_no_order(*begun, self.write(4, 5, "y", "v"))
        self.assert_order(*begun, self.write(4, 5, "x", "v"), self.write(4, 5, "y", "w", "FILE_LOCK_CONFLICT"))
        late = self.open(0, 1, "x"), self.open(0, 1, "y"), self.write(2, 9, "y", "w"), self.lock(3, 4, "x")
        self.assert_order(*late, self.read(5, 6, "x", "w"))
        self.assert_no_order(*late, self.read(5, 6, "x", drives.EMPTY), self.read(7, 8, "x", "w"))
        self.assert_no_order(*begun, self.rest(4, 5, "put", 201, value="v"))

    def test_deletion(self):
        opens = self.open(0, 1, "x"), self.open(0, 1, "y")
        marked = self.smb(2, 3, "mark", "x", marked=True)
        self.assert_order(*opens, marked, self.rest(4, 5, "get", 409, "SMBDeletePending"),
                          self.open(4, 5, "z", status="DELETE_PENDING"), self.smb(6, 7, "close", "x"),
                          self.rest(8, 9, "get", 409, "SMBDeletePending"), self.smb(10, 11, "close", "y"),
                          self.rest(12, 13, "get", 404, "ResourceNotFound"))
        self.assert_no_order(*opens, marked, self.smb(6, 7, "close", "x"), self.rest(8, 9, "get", 404, "ResourceNotFound"))
        self.assert_no_order(*opens, marked, self.rest(4, 5, "get", 200, drives.EMPTY))
        self.assert_order(self.open(0, 1, "x", deletes=True), self.smb(2, 3, "drop", "x"), self.rest(4, 5, "get", 404, "ResourceNotFound"))

    def test_renames(self):
        made = self.open(0, 1, "x"), self.write(2, 3, "x", "v")
        moved = self.smb(4, 5, "rename", "x", to=1, replace=False)
        self.assert_order(*made, moved, self.rest(6, 7, "get", 404, "ResourceNotFound"), self.read(6, 7, "x", "v"))
        self.assert_no_order(*made, moved, self.rest(6, 7, "get", 200, "v"))
        self.assert_no_order(*made, self.open(0, 1, "y", share="RW"), moved)
        self.assert_no_order(*made, self.open(0, 1, "b", file=1), moved)
        self.assert_order(*made, self.open(0, 1, "b", file=1), self.smb(4, 5, "rename", "x", "ACCESS_DENIED", to=1, replace=True))


class Runs(unittest.TestCase):
    def run_history(self, *arguments):
        command = [sys.executable, str(ROOT / "tests" / "history" / "history.py"), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        return done.returncode, done.stdout + done.stderr

    def assert_order(self, *arguments):
        code, output = self.run_history(*arguments)
        self.assertEqual(code, 0, output)
        self.assertIn("every history has an order", output)

    def test_the_server(self):
        self.assert_order("--minutes", "0.15")

    def test_the_server_in_memory(self):
        self.assert_order("--minutes", "0.05", "--memory")

    def test_writers_need_not_wait_in_line(self):
        self.assert_order("--minutes", "0.05", "--planted", "unordered")

    def test_the_cache_may_be_late(self):
        self.assert_order("--minutes", "0.05", "--planted", "slow")

    def test_planted_faults_are_found(self):
        faults = (("guard", "blob"), ("guard", "lease"), ("guard", "partition"), ("guard", "message"), ("torn", "partition"),
                  ("stale", "blob"), ("stale", "partition"), ("snapshot", "partition"), ("lease", "lease"),
                  ("receipt", "message"), ("visibility", "message"), ("guard", "file"), ("torn", "file"), ("stale", "file"),
                  ("snapshot", "file"), ("lease", "file"), ("guard", "tags"), ("stale", "tags"),
                  ("sharing", "drive"), ("beside", "drive"), ("ranges", "drive"), ("lease", "drive"), ("torn", "drive"),
                  ("guard", "path"), ("torn", "path"), ("stale", "path"), ("snapshot", "path"), ("astray", "path"))
        self.assert_found(*faults)

    @unittest.skipUnless(fault_library.LIBRARY.exists(), "without the fault library no lease runs out within a history")
    def test_planted_faults_of_time_are_found(self):
        self.assert_found(("overtime", "lease"), ("early", "lease"), ("late", "lease"))

    def assert_found(self, *faults):
        with tempfile.TemporaryDirectory() as directory:
            kept = pathlib.Path(directory) / "history.jsonl"
            for fault, kind in faults:
                with self.subTest(fault=fault, kind=kind):
                    code, output = self.run_history("--minutes", "1.5", "--planted", fault, "--only", kind, "--keep", str(kept))
                    self.assertEqual(code, 1, output)
                    self.assertIn(f"VIOLATION: no order explains what clients were told about {kind}", output)
                    self.assertEqual(json.loads(kept.read_text().splitlines()[0])["kind"], kind)
                    code, output = self.run_history("--check", str(kept))
                    self.assertEqual(code, 1, output)


if __name__ == "__main__":
    unittest.main()
