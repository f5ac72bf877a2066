package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func newTable(t *testing.T) *aztables.Client {
	credential := must(aztables.NewSharedKeyCredential(account, key))(t)
	options := &aztables.ClientOptions{ClientOptions: once()}
	service := must(aztables.NewServiceClientWithSharedKey(os.Getenv("KYANITE_TABLE"), credential, options))(t)
	made := service.NewClient(newName())
	must(made.CreateTable(ctx, nil))(t)
	t.Cleanup(func() { must(made.Delete(ctx, nil))(t) })
	return made
}

func entity(t *testing.T, row string, properties map[string]any) []byte {
	return must(json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: "p", RowKey: row}, Properties: properties}))(t)
}

func stored(t *testing.T, in *aztables.Client, row string) map[string]any {
	var got aztables.EDMEntity
	worked(t, 0, json.Unmarshal(must(in.GetEntity(ctx, "p", row, nil))(t).Value, &got))
	return got.Properties
}

func TestTableConditionsGuardEntities(t *testing.T) {
	table := newTable(t)
	added := must(table.AddEntity(ctx, entity(t, "e", map[string]any{"n": int32(1), "big": aztables.EDMInt64(1 << 40)}), nil))(t)
	same(t, stored(t, table, "e")["big"], any(aztables.EDMInt64(1<<40)))
	_, err := table.AddEntity(ctx, entity(t, "e", nil), nil)
	refused(t, 409, "EntityAlreadyExists", 0, err)
	replace := func(n int32, etag *azcore.ETag) error {
		_, err := table.UpdateEntity(ctx, entity(t, "e", map[string]any{"n": n}),
			&aztables.UpdateEntityOptions{IfMatch: etag, UpdateMode: aztables.UpdateModeReplace})
		return err
	}
	worked(t, 0, replace(2, &added.ETag))
	refused(t, 412, "UpdateConditionNotSatisfied", 0, replace(3, &added.ETag))
	_, err = table.DeleteEntity(ctx, "p", "e", &aztables.DeleteEntityOptions{IfMatch: &added.ETag})
	refused(t, 412, "UpdateConditionNotSatisfied", 0, err)
	same(t, stored(t, table, "e")["n"], any(int32(2)))
	must(table.DeleteEntity(ctx, "p", "e", nil))(t)
	_, err = table.GetEntity(ctx, "p", "e", nil)
	refused(t, 404, "ResourceNotFound", 0, err)
}

func TestTableTransactionsAndQueries(t *testing.T) {
	table := newTable(t)
	var actions []aztables.TransactionAction
	for n := range 50 {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd,
			Entity: entity(t, fmt.Sprintf("%02d", n), map[string]any{"n": int32(n)})})
	}
	must(table.SubmitTransaction(ctx, actions, nil))(t)
	_, err := table.SubmitTransaction(ctx, []aztables.TransactionAction{
		{ActionType: aztables.TransactionTypeAdd, Entity: entity(t, "new", nil)}, actions[0]}, nil)
	// The client says the status of the transaction as a whole, and the code in its text.
	if err == nil || !strings.Contains(err.Error(), "EntityAlreadyExists") {
		t.Fatal(err)
	}
	_, err = table.GetEntity(ctx, "p", "new", nil)
	refused(t, 404, "ResourceNotFound", 0, err)
	var sizes []int
	for pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Top: pointer(int32(20)), Filter: pointer("n ge 20")}); pager.More(); {
		sizes = append(sizes, len(must(pager.NextPage(ctx))(t).Entities))
	}
	sameList(t, sizes, []int{20, 10})
}
