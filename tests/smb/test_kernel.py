"""A share mounted by the Linux kernel: every check of kernel_guest.py and kernel_rare.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import kernel  # noqa: E402

TAIL = 3000


@unittest.skipIf(kernel.why_not(), kernel.why_not())
class Kernel(unittest.TestCase):
    """One test for each check, made below."""

    @classmethod
    def setUpClass(cls):
        cls.ended, cls.said = kernel.run()
        # A guest that has stalled (its kernel spins now and then when connections break) is started once more.
        if len(cls.ended) < len(kernel.CHECKS):
            cls.ended, cls.said = kernel.run()


def make_test(way, check):
    def test(self):
        self.assertEqual(self.ended.get((way, check), "it was not run: " + self.said[-TAIL:]), "ok")
    return test


for each_way, each_check in kernel.CHECKS:
    setattr(Kernel, f"test_{each_way}_{each_check}", make_test(each_way, each_check))

if __name__ == "__main__":
    unittest.main()
