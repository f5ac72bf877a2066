"""Every test of smbtorture ends as smbtorture.tsv expects it to. A test that has begun to pass is told as well: the table is
to be kept true (smbtorture.py --record)."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from smbtorture import NOT_RUN, Places, can_run, read_table  # noqa: E402

TAIL = 1500


class Smbtorture(unittest.TestCase):
    """One test for each row, made below."""

    @classmethod
    def setUpClass(cls):
        places = Places()
        cls.addClassCleanup(places.close)
        cls.ended = places.run_all({name: row for name, row in TESTS.items() if cls.is_wanted(name) and can_run(name)})

    @staticmethod
    def is_wanted(name):
        chosen = [word for word in sys.argv[3:] if not word.startswith("-")]
        return not chosen or any(word in name for word in chosen)


TESTS = {name: row for name, row in read_table().items() if row.outcome != NOT_RUN}


def make_test(name, expected):
    def test(self):
        if not can_run(name):
            self.skipTest("only root can block connections")
        end = self.ended[name]
        self.assertEqual(end.outcome, expected.outcome, f"{expected.reason}\n{end.output[-TAIL:]}")
    return test


for each, row in TESTS.items():
    setattr(Smbtorture, f"test_{each}", make_test(each, row))

if __name__ == "__main__":
    unittest.main()
