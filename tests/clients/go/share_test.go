package clients

import (
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azfile/directory"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azfile/file"
	sharelease "github.com/Azure/azure-sdk-for-go/sdk/storage/azfile/lease"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azfile/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azfile/share"
)

func newShare(t *testing.T) *share.Client {
	credential := must(service.NewSharedKeyCredential(account, key))(t)
	options := &service.ClientOptions{ClientOptions: once()}
	client := must(service.NewClientWithSharedKeyCredential(os.Getenv("KYANITE_FILE"), credential, options))(t)
	made := client.NewShareClient(newName())
	must(made.Create(ctx, nil))(t)
	t.Cleanup(func() {
		must(made.Delete(ctx, &share.DeleteOptions{DeleteSnapshots: pointer(share.DeleteSnapshotsOptionTypeInclude)}))(t)
	})
	return made
}

func putShared(t *testing.T, in *directory.Client, name string, data []byte) *file.Client {
	made := in.NewFileClient(name)
	must(made.Create(ctx, int64(len(data)), nil))(t)
	worked(t, 0, made.UploadBuffer(ctx, data, nil))
	return made
}

func sharedContent(t *testing.T, of *file.Client) string {
	return string(read(t, must(of.DownloadStream(ctx, nil))(t).Body))
}

func TestFileUploadAndDownload(t *testing.T) {
	data := noise(9_000_001)
	large := putShared(t, newShare(t).NewRootDirectoryClient(), "large", data)
	got := make([]byte, len(data))
	must(large.DownloadBuffer(ctx, got, nil))(t)
	sameBytes(t, got, data)
	must(large.ClearRange(ctx, file.HTTPRange{Offset: 0, Count: 4096}, nil))(t)
	start := must(large.DownloadStream(ctx, &file.DownloadStreamOptions{Range: file.HTTPRange{Offset: 4000, Count: 100}}))(t)
	sameBytes(t, read(t, start.Body), append(make([]byte, 96), data[4096:4100]...))
	must(large.Resize(ctx, 100, nil))(t)
	same(t, *must(large.GetProperties(ctx, nil))(t).ContentLength, int64(100))
	_, err := large.UploadRange(ctx, 200, body("past the end"), nil)
	refused(t, 416, "InvalidRange", 0, err)
}

func TestFileDirectoriesAndRenames(t *testing.T) {
	in := newShare(t)
	top := in.NewDirectoryClient("a")
	must(top.Create(ctx, nil))(t)
	_, err := top.Create(ctx, nil)
	refused(t, 409, "ResourceAlreadyExists", 0, err)
	_, err = in.NewDirectoryClient("none").NewSubdirectoryClient("b").Create(ctx, nil)
	refused(t, 404, "ParentNotFound", 0, err)
	one := putShared(t, top, "one", []byte("1"))
	target := putShared(t, top, "two", []byte("2"))
	_, err = one.Rename(ctx, "a/two", nil)
	refused(t, 409, "ResourceAlreadyExists", 0, err)
	same(t, sharedContent(t, target), "2")
	must(one.Rename(ctx, "a/two", &file.RenameOptions{ReplaceIfExists: pointer(true)}))(t)
	same(t, sharedContent(t, target), "1")
	_, err = top.Delete(ctx, nil)
	refused(t, 409, "DirectoryNotEmpty", 0, err)
	page := must(top.NewListFilesAndDirectoriesPager(nil).NextPage(ctx))(t)
	same(t, len(page.Segment.Files), 1)
	same(t, *page.Segment.Files[0].Name, "two")
}

func TestFileLeaseKeepsOthersOut(t *testing.T) {
	leased := putShared(t, newShare(t).NewRootDirectoryClient(), "leased", []byte("first"))
	holder := must(sharelease.NewFileClient(leased, nil))(t)
	must(holder.Acquire(ctx, nil))(t)
	_, err := leased.UploadRange(ctx, 0, body("n"), nil)
	refused(t, 412, "LeaseIdMissing", 0, err)
	_, err = must(sharelease.NewFileClient(leased, nil))(t).Acquire(ctx, nil)
	refused(t, 409, "LeaseAlreadyPresent", 0, err)
	must(holder.Release(ctx, nil))(t)
	must(leased.UploadRange(ctx, 0, body("F"), nil))(t)
	same(t, sharedContent(t, leased), "First")
}

func TestShareSnapshots(t *testing.T) {
	in := newShare(t)
	kept := putShared(t, in.NewRootDirectoryClient(), "kept", []byte("first"))
	moment := must(in.CreateSnapshot(ctx, nil))(t).Snapshot
	must(kept.UploadRange(ctx, 0, body("FIRST"), nil))(t)
	then := must(in.WithSnapshot(*moment))(t).NewRootDirectoryClient().NewFileClient("kept")
	same(t, sharedContent(t, then), "first")
	same(t, sharedContent(t, kept), "FIRST")
	_, err := in.Delete(ctx, nil)
	refused(t, 409, "ShareHasSnapshots", 0, err)
}
