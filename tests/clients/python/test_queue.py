"""Queues through the newest Python SDK."""

from azure.storage.queue import QueueServiceClient

import fixtures


class QueueTest(fixtures.ClientTest):
    def setUp(self):
        self.service = QueueServiceClient(fixtures.endpoint("queue"), **fixtures.ONCE)
        self.queue = self.service.create_queue(fixtures.new_name(), metadata={"kind": "test"})
        self.addCleanup(self.queue.delete_queue)

    def test_a_message_is_received_by_one_and_deleted_by_its_receipt(self):
        for text in ("one", "two"):
            self.queue.send_message(text)
        first = self.queue.receive_message(visibility_timeout=60)
        self.assertEqual((first.content, first.dequeue_count), ("one", 1))
        self.assertEqual([message.content for message in self.queue.peek_messages(max_messages=5)], ["two"])
        self.refused(404, "MessageNotFound", self.queue.delete_message, first.id, "AgAAAAMAAAAAAAAAAAAAAAAAAAA=")
        changed = self.queue.update_message(first, content="one again", visibility_timeout=0)
        self.refused(404, "MessageNotFound", self.queue.delete_message, first.id, first.pop_receipt)
        again = self.queue.receive_message(visibility_timeout=60)
        self.assertEqual((again.id, again.content), (first.id, "one again") if again.id == first.id else (again.id, "two"))
        self.assertNotEqual(changed.pop_receipt, first.pop_receipt)
        self.queue.delete_message(again)
        self.assertEqual(self.queue.get_queue_properties().approximate_message_count, 1)

    def test_messages_come_by_the_batch(self):
        for number in range(40):
            self.queue.send_message(str(number), time_to_live=-1)
        pages = [len([*page]) for page in self.queue.receive_messages(messages_per_page=32).by_page()][:2]
        self.assertEqual(pages, [32, 8])
        self.queue.clear_messages()
        self.assertEqual(self.queue.get_queue_properties().approximate_message_count, 0)

    def test_failures_change_nothing(self):
        name = self.queue.queue_name
        self.refused(409, "QueueAlreadyExists", self.service.create_queue, name, metadata={"kind": "other"})
        self.assertEqual(self.queue.get_queue_properties().metadata, {"kind": "test"})
        self.refused(404, "QueueNotFound", self.service.get_queue_client(fixtures.new_name()).send_message, "no")
        self.refused(400, "OutOfRangeQueryParameterValue", self.queue.send_message, "no", visibility_timeout=604801)
        self.refused(413, "RequestBodyTooLarge", self.queue.send_message, "x" * 70_000)
        self.assertEqual(self.queue.get_queue_properties().approximate_message_count, 0)
        self.assertIn(name, [queue.name for queue in self.service.list_queues(name_starts_with=name)])
