import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.core.util.Context;
import com.azure.storage.queue.QueueClient;
import com.azure.storage.queue.QueueServiceClient;
import com.azure.storage.queue.QueueServiceClientBuilder;
import com.azure.storage.queue.models.QueueMessageItem;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QueueTest {
  private final QueueServiceClient service =
      new QueueServiceClientBuilder().endpoint(Fixtures.endpoint("QUEUE")).credential(Fixtures.CREDENTIAL)
          .retryOptions(Fixtures.ONCE).buildClient();
  private QueueClient queue;

  @BeforeEach
  void make() {
    queue = service.createQueue(Fixtures.newName());
  }

  @AfterEach
  void remove() {
    queue.delete();
  }

  @Test
  void aMessageIsReceivedByOneAndDeletedByItsReceipt() {
    queue.sendMessage("one");
    queue.sendMessage("two");
    QueueMessageItem first = queue.receiveMessage();
    assertEquals("one", first.getBody().toString());
    assertEquals("two", queue.peekMessage().getBody().toString());
    String receipt = queue.updateMessage(first.getMessageId(), first.getPopReceipt(), "changed", Duration.ofSeconds(60))
        .getPopReceipt();
    Fixtures.refused(404, "MessageNotFound", () -> queue.deleteMessage(first.getMessageId(), first.getPopReceipt()));
    queue.deleteMessage(first.getMessageId(), receipt);
    assertEquals(1, queue.getProperties().getApproximateMessagesCount());
    queue.clearMessages();
    assertEquals(0, queue.receiveMessages(32).stream().count());
  }

  @Test
  void failuresChangeNothing() {
    Fixtures.refused(409, "QueueAlreadyExists",
        () -> service.createQueueWithResponse(queue.getQueueName(), Map.of("a", "b"), null, Context.NONE));
    Fixtures.refused(404, "QueueNotFound", () -> service.getQueueClient(Fixtures.newName()).sendMessage("no"));
    Fixtures.refused(413, "RequestBodyTooLarge", () -> queue.sendMessage("x".repeat(70_000)));
    assertEquals(0, queue.getProperties().getApproximateMessagesCount());
  }
}
