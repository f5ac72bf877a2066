package clients

import (
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azdatalake"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azdatalake/directory"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azdatalake/file"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azdatalake/filesystem"
	lakelease "github.com/Azure/azure-sdk-for-go/sdk/storage/azdatalake/lease"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azdatalake/service"
)

func newFileSystem(t *testing.T) *filesystem.Client {
	credential := must(azdatalake.NewSharedKeyCredential(account, key))(t)
	options := &service.ClientOptions{ClientOptions: once()}
	client := must(service.NewClientWithSharedKeyCredential(os.Getenv("KYANITE_LAKE"), credential, options))(t)
	made := client.NewFileSystemClient(newName())
	must(made.Create(ctx, nil))(t)
	t.Cleanup(func() { must(made.Delete(ctx, nil))(t) })
	return made
}

func putFile(t *testing.T, in *filesystem.Client, path, content string) *file.Client {
	made := in.NewFileClient(path)
	must(made.Create(ctx, nil))(t)
	worked(t, 0, made.UploadBuffer(ctx, []byte(content), nil))
	return made
}

func fileContent(t *testing.T, of *file.Client) string {
	return string(read(t, must(of.DownloadStream(ctx, nil))(t).Body))
}

func paths(t *testing.T, in *filesystem.Client, recursive bool, options *filesystem.ListPathsOptions) (names []string) {
	for pager := in.NewListPathsPager(recursive, options); pager.More(); {
		for _, path := range must(pager.NextPage(ctx))(t).Paths {
			names = append(names, *path.Name)
		}
	}
	return names
}

func TestLakeUploadAndDownload(t *testing.T) {
	in := newFileSystem(t)
	data := noise(5_000_001)
	large := in.NewFileClient("a/b/large")
	must(large.Create(ctx, nil))(t)
	worked(t, 0, large.UploadBuffer(ctx, data, &file.UploadBufferOptions{ChunkSize: 1 << 20}))
	sameBytes(t, read(t, must(large.DownloadStream(ctx, nil))(t).Body), data)
	anew := &file.AccessConditions{ModifiedAccessConditions: &file.ModifiedAccessConditions{IfNoneMatch: pointer(azcore.ETagAny)}}
	_, err := large.Create(ctx, &file.CreateOptions{AccessConditions: anew})
	refused(t, 409, "PathAlreadyExists", 0, err)
	same(t, *must(large.GetProperties(ctx, nil))(t).ContentLength, int64(len(data)))
}

func TestLakeAppendAndFlush(t *testing.T) {
	log := newFileSystem(t).NewFileClient("log")
	must(log.Create(ctx, nil))(t)
	must(log.AppendData(ctx, 3, body("two"), nil))(t)
	must(log.AppendData(ctx, 0, body("one"), nil))(t)
	same(t, fileContent(t, log), "")
	_, err := log.FlushData(ctx, 7, nil)
	refused(t, 400, "InvalidFlushPosition", 0, err)
	must(log.FlushData(ctx, 6, nil))(t)
	same(t, fileContent(t, log), "onetwo")
}

func TestLakeRenameOfTrees(t *testing.T) {
	in := newFileSystem(t)
	putFile(t, in, "from/x/1", "1")
	two := putFile(t, in, "from/2", "2")
	target := putFile(t, in, "to", "kept")
	stale := &file.AccessConditions{ModifiedAccessConditions: &file.ModifiedAccessConditions{IfMatch: pointer(azcore.ETag(`"0x1"`))}}
	_, err := two.Rename(ctx, "to", &file.RenameOptions{AccessConditions: stale})
	refused(t, 412, "ConditionNotMet", 0, err)
	same(t, fileContent(t, target), "kept")
	must(in.NewDirectoryClient("from").Rename(ctx, "moved", nil))(t)
	sameList(t, paths(t, in, true, nil), []string{"moved", "moved/2", "moved/x", "moved/x/1", "to"})
	_, err = two.Rename(ctx, "elsewhere", nil)
	refused(t, 404, "SourcePathNotFound", 0, err)
}

func TestLakeLeaseKeepsOthersOut(t *testing.T) {
	leased := putFile(t, newFileSystem(t), "leased", "first")
	holder := must(lakelease.NewPathClient(leased, nil))(t)
	must(holder.AcquireLease(ctx, 15, nil))(t)
	_, err := leased.AppendData(ctx, 5, body("no"), nil)
	refused(t, 412, "LeaseIdMissing", 0, err)
	_, err = leased.Delete(ctx, nil)
	refused(t, 412, "LeaseIdMissing", 0, err)
	must(holder.ReleaseLease(ctx, nil))(t)
	must(leased.Delete(ctx, nil))(t)
}

func TestLakeAccessControl(t *testing.T) {
	in := newFileSystem(t)
	deep := putFile(t, in, "t/a/1", "1")
	top := in.NewDirectoryClient("t")
	entry := "user:11111111-2222-3333-4444-555555555555:r-x"
	must(top.UpdateAccessControlRecursive(ctx, entry, &directory.UpdateAccessControlRecursiveOptions{BatchSize: pointer(int32(1))}))(t)
	if acl := *must(deep.GetAccessControl(ctx, nil))(t).ACL; !strings.Contains(acl, entry) {
		t.Fatal(acl)
	}
	must(deep.SetAccessControl(ctx, &file.SetAccessControlOptions{Permissions: pointer("0640")}))(t)
	same(t, *must(deep.GetAccessControl(ctx, nil))(t).Permissions, "rw-r-----+")
}

func TestLakeListingsAndDeletion(t *testing.T) {
	in := newFileSystem(t)
	for _, name := range []string{"d/1", "d/2", "d/e/3"} {
		putFile(t, in, name, name)
	}
	sameList(t, paths(t, in, true, &filesystem.ListPathsOptions{MaxResults: pointer(int32(2))}), []string{"d", "d/1", "d/2", "d/e", "d/e/3"})
	sameList(t, paths(t, in, false, &filesystem.ListPathsOptions{Prefix: pointer("d")}), []string{"d/1", "d/2", "d/e"})
	must(in.NewDirectoryClient("d").Delete(ctx, nil))(t)
	same(t, len(paths(t, in, true, nil)), 0)
	_, err := in.NewFileClient("d/1").GetAccessControl(ctx, nil)
	refused(t, 404, "PathNotFound", 0, err)
}
