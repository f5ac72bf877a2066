"""Runs the unittest cases of one file and reports them as JSON: run.py FILE REPORT [NAME-PART]."""

import json
import pathlib
import sys
import unittest


class Counting(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    script, report = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(script.parent))
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{part}*" for part in sys.argv[3:]] or None
    suite = loader.loadTestsFromName(script.stem)
    result = unittest.TextTestRunner(resultclass=Counting, verbosity=2).run(suite)
    failed = [str(test) for test, _ in [*result.failures, *result.errors]]
    failed += [str(test) for test in result.unexpectedSuccesses]
    report.write_text(json.dumps({"passed": result.passed, "failed": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
