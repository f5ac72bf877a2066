"""What the tests of all services have in common: the account, names of their own, and refusals."""

import os
import re
import unittest
import uuid

from azure.core.exceptions import HttpResponseError

ACCOUNT, KEY = os.environ["KYANITE_ACCOUNT"], os.environ["KYANITE_KEY"]
CREDENTIAL = {"account_name": ACCOUNT, "account_key": KEY}
# A refusal is to be seen at once, and as the first request got it.
ONCE = {"credential": CREDENTIAL, "retry_total": 0}


def endpoint(service):
    return os.environ[f"KYANITE_{service.upper()}"]


def new_name():
    return f"n{uuid.uuid4().hex}"


class ClientTest(unittest.TestCase):
    def refused(self, status, code, action, *arguments, **named):
        with self.assertRaises(HttpResponseError) as caught:
            action(*arguments, **named)
        error = caught.exception
        # The client of tables does not always say the code: then the body of the reply does.
        said = getattr(error, "error_code", None) or re.search(r'"code":"(\w+)"', error.response.text())[1]
        self.assertEqual((error.status_code, said), (status, code))
