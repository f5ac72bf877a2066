"""Queues through the Python SDK of Debian: another signer, another version of the API, other encodings of the text."""

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.queue import BinaryBase64DecodePolicy, BinaryBase64EncodePolicy, QueueClient, QueueServiceClient

import harness


class QueueSdkTest(harness.ServerTestCase):
    def setUp(self):
        self.service = QueueServiceClient.from_connection_string(self.server.connection_string, retry_total=0)
        self.queue = self.service.get_queue_client(self.id().rsplit(".", 1)[1].replace("_", "-"))
        self.queue.create_queue()

    def assert_refused(self, code, call, *arguments, **options):
        with self.assertRaises(HttpResponseError) as refused:
            call(*arguments, **options)
        self.assertEqual(refused.exception.error_code, code)

    def test_there_and_back(self):
        for text in ["plain", "<&>\"'", "grüße", "日本語", " blanks ", "line\nline"]:
            with self.subTest(text):
                self.queue.send_message(text)
                self.assertEqual(self.queue.peek_messages()[0].content, text)
                message = next(self.queue.receive_messages())
                self.assertEqual(message.content, text)
                self.queue.delete_message(message)
        self.assertEqual(self.queue.get_queue_properties().approximate_message_count, 0)

    def test_binary(self):
        client = QueueClient.from_connection_string(
            self.server.connection_string, self.queue.queue_name,
            message_encode_policy=BinaryBase64EncodePolicy(), message_decode_policy=BinaryBase64DecodePolicy())
        data = bytes(range(256)) * 192  # 48 KiB, the most that fits
        client.send_message(data)
        self.assertEqual(next(client.receive_messages()).content, data)
        self.assert_refused("RequestBodyTooLarge", client.send_message, data + b"x")

    def test_pages_of_messages(self):
        for i in range(20):
            self.queue.send_message(str(i))
        pages = self.queue.receive_messages(messages_per_page=8, visibility_timeout=60).by_page()
        self.assertEqual([len(list(page)) for page in pages], [8, 8, 4])

    def test_receipts(self):
        self.queue.send_message("one")
        first = next(self.queue.receive_messages(visibility_timeout=100))
        second = self.queue.update_message(first, content="two", visibility_timeout=0)
        self.assertNotEqual(first.pop_receipt, second.pop_receipt)
        self.assert_refused("MessageNotFound", self.queue.delete_message, first.id, first.pop_receipt)
        third = next(self.queue.receive_messages())
        self.assertEqual((third.content, third.dequeue_count), ("two", 2))
        self.assert_refused("MessageNotFound", self.queue.delete_message, second.id, second.pop_receipt)
        self.assert_refused("InvalidQueryParameterValue", self.queue.delete_message, third.id, "nonsense")
        self.queue.delete_message(third)

    def test_what_is_wrong_is_said(self):
        self.assert_refused("OutOfRangeQueryParameterValue", self.queue.send_message, "x", time_to_live=0)
        self.assert_refused("OutOfRangeQueryParameterValue", self.queue.send_message, "x", visibility_timeout=604801,
                            time_to_live=-1)
        self.assert_refused("InvalidXmlDocument", self.queue.send_message, "\x01")
        with self.assertRaises(ResourceExistsError):
            self.queue.create_queue(metadata={"other": "metadata"})
        with self.assertRaises(ResourceNotFoundError):
            self.service.get_queue_client("nowhere").get_queue_properties()

    def test_list(self):
        names = [f"listed-{i}" for i in range(3)]
        for name in names:
            self.service.create_queue(name, metadata={"n": name[-1]})
        found = list(self.service.list_queues(name_starts_with="listed", include_metadata=True, results_per_page=2))
        self.assertEqual([queue.name for queue in found], names)
        self.assertEqual([queue.metadata for queue in found], [{"n": "0"}, {"n": "1"}, {"n": "2"}])
