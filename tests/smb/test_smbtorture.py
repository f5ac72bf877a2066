"""Every test of smbtorture ends as smbtorture.tsv expects it to. A test that has begun to pass is told as well: the table is
to be kept true (smbtorture.py --record)."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from harness import Server  # noqa: E402
from smbtorture import NOT_RUN, Runner, read_table  # noqa: E402

TAIL = 1500


class Smbtorture(unittest.TestCase):
    """One test for each row, made below."""

    @classmethod
    def setUpClass(cls):
        server = Server()
        cls.addClassCleanup(server.stop)
        runner = Runner(server)
        wanted = [name for name in TESTS if cls.is_wanted(name)]
        cls.ended = runner.run_all(wanted)
        # What depends on time may fail on a busy machine: those run once more, one at a time.
        for name in wanted:
            if cls.ended[name].outcome != TESTS[name].outcome:
                cls.ended[name] = runner.run(name)

    @staticmethod
    def is_wanted(name):
        chosen = [word for word in sys.argv[3:] if not word.startswith("-")]
        return not chosen or any(word in name for word in chosen)


TESTS = {name: row for name, row in read_table().items() if row.outcome != NOT_RUN}


def make_test(name, expected):
    def test(self):
        end = self.ended[name]
        self.assertEqual(end.outcome, expected.outcome, f"{expected.reason}\n{end.output[-TAIL:]}")
    return test


for each, row in TESTS.items():
    setattr(Smbtorture, f"test_{each}", make_test(each, row))

if __name__ == "__main__":
    unittest.main()
