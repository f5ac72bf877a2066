package clients

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
)

func newContainer(t *testing.T) *container.Client {
	credential := must(azblob.NewSharedKeyCredential(account, key))(t)
	options := &azblob.ClientOptions{ClientOptions: once()}
	service := must(azblob.NewClientWithSharedKeyCredential(os.Getenv("KYANITE_BLOB"), credential, options))(t)
	made := service.ServiceClient().NewContainerClient(newName())
	must(made.Create(ctx, nil))(t)
	t.Cleanup(func() { must(made.Delete(ctx, nil))(t) })
	return made
}

func put(t *testing.T, in *container.Client, name, content string) *blockblob.Client {
	made := in.NewBlockBlobClient(name)
	must(made.UploadBuffer(ctx, []byte(content), nil))(t)
	return made
}

func content(t *testing.T, of *blockblob.Client) string {
	return string(read(t, must(of.DownloadStream(ctx, nil))(t).Body))
}

func body(text string) *bodyOf { return &bodyOf{bytes.NewReader([]byte(text))} }

type bodyOf struct{ *bytes.Reader }

func (*bodyOf) Close() error { return nil }

func ifMatch(etag *azcore.ETag) *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: etag}}
}

func TestBlobUploadAndDownload(t *testing.T) {
	in := newContainer(t)
	data := noise(9_000_001)
	large := in.NewBlockBlobClient("large")
	must(large.UploadBuffer(ctx, data, &blockblob.UploadBufferOptions{
		BlockSize: 1 << 20, Concurrency: 4, Metadata: map[string]*string{"kind": pointer("noise")}}))(t)
	got := make([]byte, len(data))
	must(large.DownloadBuffer(ctx, got, &blob.DownloadBufferOptions{BlockSize: 700_000, Concurrency: 4}))(t)
	sameBytes(t, got, data)
	ranged := must(large.DownloadStream(ctx, &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 100, Count: 50}}))(t)
	sameBytes(t, read(t, ranged.Body), data[100:150])
	streamed := in.NewBlockBlobClient("streamed")
	must(streamed.UploadStream(ctx, bytes.NewReader(data), &blockblob.UploadStreamOptions{BlockSize: 2 << 20}))(t)
	sameBytes(t, read(t, must(streamed.DownloadStream(ctx, nil))(t).Body), data)
	_, err := large.DownloadStream(ctx, &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: int64(len(data)), Count: 1}})
	refused(t, 416, "InvalidRange", 0, err)
	_, err = in.NewBlobClient("none").DownloadStream(ctx, nil)
	refused(t, 404, "BlobNotFound", 0, err)
}

func TestBlobConditionsGuardWrites(t *testing.T) {
	guarded := put(t, newContainer(t), "guarded", "first")
	first := must(guarded.GetProperties(ctx, nil))(t).ETag
	upload := func(text string, conditions *blob.AccessConditions) error {
		_, err := guarded.Upload(ctx, streaming.NopCloser(bytes.NewReader([]byte(text))), &blockblob.UploadOptions{AccessConditions: conditions})
		return err
	}
	worked(t, 0, upload("second", ifMatch(first)))
	refused(t, 412, "ConditionNotMet", 0, upload("third", ifMatch(first)))
	anew := &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: pointer(azcore.ETagAny)}}
	refused(t, 409, "BlobAlreadyExists", 0, upload("third", anew))
	_, err := guarded.Delete(ctx, &blob.DeleteOptions{AccessConditions: ifMatch(first)})
	refused(t, 412, "ConditionNotMet", 0, err)
	_, err = guarded.SetMetadata(ctx, map[string]*string{"a": pointer("b")}, &blob.SetMetadataOptions{AccessConditions: ifMatch(first)})
	refused(t, 412, "ConditionNotMet", 0, err)
	same(t, content(t, guarded), "second")
	same(t, len(must(guarded.GetProperties(ctx, nil))(t).Metadata), 0)
}

func TestBlobLeaseKeepsOthersOut(t *testing.T) {
	in := newContainer(t)
	leased := put(t, in, "leased", "first")
	holder := must(lease.NewBlobClient(leased, nil))(t)
	must(holder.AcquireLease(ctx, 15, nil))(t)
	_, err := leased.UploadBuffer(ctx, []byte("no"), nil)
	refused(t, 412, "LeaseIdMissing", 0, err)
	other := must(lease.NewBlobClient(leased, nil))(t)
	_, err = other.AcquireLease(ctx, 15, nil)
	refused(t, 409, "LeaseAlreadyPresent", 0, err)
	_, err = other.ReleaseLease(ctx, nil)
	refused(t, 409, "LeaseIdMismatchWithLeaseOperation", 0, err)
	held := &blob.AccessConditions{LeaseAccessConditions: &blob.LeaseAccessConditions{LeaseID: holder.LeaseID()}}
	must(leased.UploadBuffer(ctx, []byte("second"), &blockblob.UploadBufferOptions{AccessConditions: held}))(t)
	must(holder.RenewLease(ctx, nil))(t)
	must(holder.BreakLease(ctx, &lease.BlobBreakOptions{BreakPeriod: pointer(int32(0))}))(t)
	same(t, *must(leased.GetProperties(ctx, nil))(t).LeaseState, lease.StateTypeBroken)
	same(t, content(t, leased), "second")

	whole := must(lease.NewContainerClient(in, nil))(t)
	must(whole.AcquireLease(ctx, 15, nil))(t)
	_, err = in.Delete(ctx, nil)
	refused(t, 412, "LeaseIdMissing", 0, err)
	must(whole.ReleaseLease(ctx, nil))(t)
}

func TestBlobListings(t *testing.T) {
	in := newContainer(t)
	for number := range 12 {
		put(t, in, fmt.Sprintf("dir/%02d", number), "x")
	}
	put(t, in, "other", "y")
	var sizes []int
	for pager := in.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: pointer(int32(5))}); pager.More(); {
		sizes = append(sizes, len(must(pager.NextPage(ctx))(t).Segment.BlobItems))
	}
	sameList(t, sizes, []int{5, 5, 3})
	page := must(in.NewListBlobsHierarchyPager("/", nil).NextPage(ctx))(t)
	same(t, *page.Segment.BlobPrefixes[0].Name, "dir/")
	same(t, *page.Segment.BlobItems[0].Name, "other")
}

func TestAppendAndPageBlobs(t *testing.T) {
	in := newContainer(t)
	log := in.NewAppendBlobClient("log")
	must(log.Create(ctx, nil))(t)
	must(log.AppendBlock(ctx, body("one,"), nil))(t)
	at := &appendblob.AppendPositionAccessConditions{AppendPosition: pointer(int64(4))}
	must(log.AppendBlock(ctx, body("two"), &appendblob.AppendBlockOptions{AppendPositionAccessConditions: at}))(t)
	_, err := log.AppendBlock(ctx, body("three"), &appendblob.AppendBlockOptions{AppendPositionAccessConditions: at})
	refused(t, 412, "AppendPositionConditionNotMet", 0, err)
	same(t, content(t, in.NewBlockBlobClient("log")), "one,two")

	disk := in.NewPageBlobClient("disk")
	must(disk.Create(ctx, 4096, nil))(t)
	must(disk.UploadPages(ctx, &bodyOf{bytes.NewReader(make([]byte, 512))}, blob.HTTPRange{Offset: 512, Count: 512}, nil))(t)
	ranges := must(disk.NewGetPageRangesPager(nil).NextPage(ctx))(t)
	same(t, len(ranges.PageRange), 1)
	same(t, *ranges.PageRange[0].Start, 512)
	_, err = disk.UploadPages(ctx, &bodyOf{bytes.NewReader(make([]byte, 512))}, blob.HTTPRange{Offset: 4096, Count: 512}, nil)
	refused(t, 416, "InvalidPageRange", 0, err)
}

func TestBlobSnapshotsCopiesAndTags(t *testing.T) {
	in := newContainer(t)
	base := put(t, in, "base", "first")
	moment := must(base.CreateSnapshot(ctx, nil))(t).Snapshot
	must(base.UploadBuffer(ctx, []byte("second"), nil))(t)
	same(t, content(t, must(base.WithSnapshot(*moment))(t)), "first")
	copied := in.NewBlockBlobClient("copy")
	must(copied.StartCopyFromURL(ctx, base.URL(), nil))(t)
	same(t, content(t, copied), "second")
	must(copied.SetTags(ctx, map[string]string{"kind": "copy"}, nil))(t)
	same(t, *must(copied.GetTags(ctx, nil))(t).BlobTagSet[0].Value, "copy")
	_, err := base.Delete(ctx, nil)
	refused(t, 409, "SnapshotsPresent", 0, err)
	must(base.Delete(ctx, &blob.DeleteOptions{DeleteSnapshots: pointer(blob.DeleteSnapshotsOptionTypeInclude)}))(t)
	_, err = base.GetProperties(ctx, nil)
	refused(t, 404, "BlobNotFound", 0, err)
}

func TestBlocksCountOnceCommitted(t *testing.T) {
	blocks := put(t, newContainer(t), "blocks", "before")
	must(blocks.StageBlock(ctx, "b25l", body("one"), nil))(t)
	same(t, content(t, blocks), "before")
	_, err := blocks.CommitBlockList(ctx, []string{"b25l", "b3RoZXI="}, nil)
	refused(t, 400, "InvalidBlockList", 0, err)
	same(t, content(t, blocks), "before")
	must(blocks.CommitBlockList(ctx, []string{"b25l"}, nil))(t)
	same(t, content(t, blocks), "one")
}
