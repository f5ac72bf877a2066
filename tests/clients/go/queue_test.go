package clients

import (
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func newQueue(t *testing.T) *azqueue.QueueClient {
	credential := must(azqueue.NewSharedKeyCredential(account, key))(t)
	options := &azqueue.ClientOptions{ClientOptions: once()}
	service := must(azqueue.NewServiceClientWithSharedKeyCredential(os.Getenv("KYANITE_QUEUE"), credential, options))(t)
	made := service.NewQueueClient(newName())
	must(made.Create(ctx, nil))(t)
	t.Cleanup(func() { must(made.Delete(ctx, nil))(t) })
	return made
}

func TestQueueMessages(t *testing.T) {
	queue := newQueue(t)
	must(queue.EnqueueMessage(ctx, "one", nil))(t)
	must(queue.EnqueueMessage(ctx, "two", nil))(t)
	first := must(queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: pointer(int32(60))}))(t).Messages[0]
	same(t, *first.MessageText, "one")
	same(t, *must(queue.PeekMessage(ctx, nil))(t).Messages[0].MessageText, "two")
	updated := must(queue.UpdateMessage(ctx, *first.MessageID, *first.PopReceipt, "changed", nil))(t)
	_, err := queue.DeleteMessage(ctx, *first.MessageID, *first.PopReceipt, nil)
	refused(t, 404, "MessageNotFound", 0, err)
	must(queue.DeleteMessage(ctx, *first.MessageID, *updated.PopReceipt, nil))(t)
	same(t, *must(queue.GetProperties(ctx, nil))(t).ApproximateMessagesCount, int32(1))
	must(queue.ClearMessages(ctx, nil))(t)
	same(t, len(must(queue.DequeueMessages(ctx, nil))(t).Messages), 0)
}

func TestQueueFailures(t *testing.T) {
	queue := newQueue(t)
	_, err := queue.Create(ctx, &azqueue.CreateOptions{Metadata: map[string]*string{"other": pointer("x")}})
	refused(t, 409, "QueueAlreadyExists", 0, err)
	_, err = queue.EnqueueMessage(ctx, string(make([]byte, 0)), &azqueue.EnqueueMessageOptions{VisibilityTimeout: pointer(int32(604801))})
	refused(t, 400, "OutOfRangeQueryParameterValue", 0, err)
	_, err = queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: pointer(int32(33))})
	refused(t, 400, "OutOfRangeQueryParameterValue", 0, err)
	same(t, *must(queue.GetProperties(ctx, nil))(t).ApproximateMessagesCount, int32(0))
}
