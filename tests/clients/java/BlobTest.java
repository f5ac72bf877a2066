import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.blob.BlobClient;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.BlobServiceClient;
import com.azure.storage.blob.BlobServiceClientBuilder;
import com.azure.storage.blob.models.AppendBlobRequestConditions;
import com.azure.storage.blob.models.BlobItem;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.models.DeleteSnapshotsOptionType;
import com.azure.storage.blob.models.LeaseStateType;
import com.azure.storage.blob.models.ListBlobsOptions;
import com.azure.storage.blob.models.PageRange;
import com.azure.storage.blob.models.ParallelTransferOptions;
import com.azure.storage.blob.options.BlobParallelUploadOptions;
import com.azure.storage.blob.sas.BlobSasPermission;
import com.azure.storage.blob.sas.BlobServiceSasSignatureValues;
import com.azure.storage.blob.specialized.BlobLeaseClient;
import com.azure.storage.blob.specialized.BlobLeaseClientBuilder;
import java.io.ByteArrayInputStream;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BlobTest {
  private final BlobServiceClient service =
      new BlobServiceClientBuilder().endpoint(Fixtures.endpoint("BLOB")).credential(Fixtures.CREDENTIAL)
          .retryOptions(Fixtures.ONCE).buildClient();
  private BlobContainerClient container;

  @BeforeEach
  void make() {
    container = service.createBlobContainer(Fixtures.newName());
  }

  @AfterEach
  void remove() {
    container.delete();
  }

  private BlobClient put(String name, String content) {
    BlobClient blob = container.getBlobClient(name);
    blob.upload(BinaryData.fromString(content), true);
    return blob;
  }

  private static String content(BlobClient blob) {
    return blob.downloadContent().toString();
  }

  @Test
  void whatIsUploadedInBlocksIsDownloaded() {
    byte[] data = Fixtures.noise(9_000_001);
    BlobClient blob = container.getBlobClient("large");
    blob.uploadWithResponse(
        new BlobParallelUploadOptions(new ByteArrayInputStream(data))
            .setParallelTransferOptions(new ParallelTransferOptions().setBlockSizeLong(1L << 20)
                .setMaxSingleUploadSizeLong(1L << 20).setMaxConcurrency(4))
            .setMetadata(Map.of("kind", "noise")).setTags(Map.of("size", "large")),
        null, Context.NONE);
    assertArrayEquals(data, blob.downloadContent().toBytes());
    assertEquals(Map.of("kind", "noise"), blob.getProperties().getMetadata());
    assertEquals(Map.of("size", "large"), blob.getTags());
    assertEquals(9, blob.getBlockBlobClient().listBlocks(
        com.azure.storage.blob.models.BlockListType.COMMITTED).getCommittedBlocks().size());
    Fixtures.refused(404, "BlobNotFound", () -> container.getBlobClient("none").downloadContent());
  }

  @Test
  void conditionsGuardWrites() {
    BlobClient blob = put("guarded", "first");
    BlobRequestConditions stale = new BlobRequestConditions().setIfMatch(blob.getProperties().getETag());
    put("guarded", "second");
    Fixtures.refused(409, "BlobAlreadyExists", () -> blob.upload(BinaryData.fromString("third")));
    Fixtures.refused(412, "ConditionNotMet", () -> blob.uploadWithResponse(
        new BlobParallelUploadOptions(BinaryData.fromString("third")).setRequestConditions(stale), null, Context.NONE));
    Fixtures.refused(412, "ConditionNotMet",
        () -> blob.setMetadataWithResponse(Map.of("a", "b"), stale, null, Context.NONE));
    Fixtures.refused(412, "ConditionNotMet", () -> blob.deleteWithResponse(null, stale, null, Context.NONE));
    assertEquals("second", content(blob));
    assertTrue(blob.getProperties().getMetadata().isEmpty());
  }

  @Test
  void aLeaseKeepsOthersOut() {
    BlobClient blob = put("leased", "first");
    BlobLeaseClient holder = new BlobLeaseClientBuilder().blobClient(blob).buildClient();
    String id = holder.acquireLease(15);
    Fixtures.refused(412, "LeaseIdMissing", () -> put("leased", "no"));
    Fixtures.refused(409, "LeaseAlreadyPresent",
        () -> new BlobLeaseClientBuilder().blobClient(blob).buildClient().acquireLease(15));
    blob.uploadWithResponse(new BlobParallelUploadOptions(BinaryData.fromString("second"))
        .setRequestConditions(new BlobRequestConditions().setLeaseId(id)), null, Context.NONE);
    holder.renewLease();
    assertEquals(LeaseStateType.LEASED, blob.getProperties().getLeaseState());
    holder.releaseLease();
    assertEquals("second", content(blob));
    BlobLeaseClient whole = new BlobLeaseClientBuilder().containerClient(container).buildClient();
    whole.acquireLease(-1);
    Fixtures.refused(412, "LeaseIdMissing", () -> container.delete());
    whole.breakLeaseWithResponse(new com.azure.storage.blob.options.BlobBreakLeaseOptions()
        .setBreakPeriod(java.time.Duration.ZERO), null, Context.NONE);
  }

  @Test
  void listingsHavePagesAndPrefixes() {
    for (int n = 0; n < 12; n++) put(String.format("dir/%02d", n), "x");
    put("other", "y");
    List<Integer> sizes = container.listBlobs(new ListBlobsOptions().setMaxResultsPerPage(5), null).streamByPage()
        .map(page -> page.getValue().size()).collect(Collectors.toList());
    assertEquals(List.of(5, 5, 3), sizes);
    assertEquals(List.of("dir/", "other"),
        container.listBlobsByHierarchy("").stream().map(BlobItem::getName).sorted().collect(Collectors.toList()));
  }

  @Test
  void appendAndPageBlobs() {
    var log = container.getBlobClient("log").getAppendBlobClient();
    log.create();
    log.appendBlock(new ByteArrayInputStream(Fixtures.bytes("one,")), 4);
    AppendBlobRequestConditions atFour = new AppendBlobRequestConditions().setAppendPosition(4L);
    log.appendBlockWithResponse(new ByteArrayInputStream(Fixtures.bytes("two")), 3, null, atFour, null, Context.NONE);
    Fixtures.refused(412, "AppendPositionConditionNotMet", () -> log.appendBlockWithResponse(
        new ByteArrayInputStream(Fixtures.bytes("two")), 3, null, atFour, null, Context.NONE));
    assertEquals("one,two", log.downloadContent().toString());
    var disk = container.getBlobClient("disk").getPageBlobClient();
    disk.create(4096);
    disk.uploadPages(new PageRange().setStart(512).setEnd(1023), new ByteArrayInputStream(new byte[512]));
    assertEquals(1, disk.listPageRanges(new com.azure.storage.blob.models.BlobRange(0)).stream().count());
    Fixtures.refused(416, "InvalidPageRange", () -> disk.uploadPages(
        new PageRange().setStart(4096).setEnd(4607), new ByteArrayInputStream(new byte[512])));
  }

  @Test
  void snapshotsAndCopies() {
    BlobClient blob = put("base", "first");
    BlobClient then = container.getBlobClient("base", blob.createSnapshot().getSnapshotId());
    put("base", "second");
    assertEquals("first", content(then));
    BlobClient copy = container.getBlobClient("copy");
    copy.beginCopy(blob.getBlobUrl(), null).waitForCompletion();
    assertEquals("second", content(copy));
    Fixtures.refused(409, "SnapshotsPresent", blob::delete);
    blob.deleteWithResponse(DeleteSnapshotsOptionType.INCLUDE, null, null, Context.NONE);
    Fixtures.refused(404, "BlobNotFound", blob::getProperties);
  }

  @Test
  void aSignedUrlDoesWhatItSaysAndNoMore() {
    BlobClient blob = put("signed", "first");
    String token = blob.generateSas(new BlobServiceSasSignatureValues(OffsetDateTime.now().plusHours(1),
        new BlobSasPermission().setReadPermission(true)));
    BlobClient reader = new com.azure.storage.blob.BlobClientBuilder().endpoint(blob.getBlobUrl()).sasToken(token)
        .retryOptions(Fixtures.ONCE).buildClient();
    assertEquals("first", content(reader));
    Fixtures.refused(403, "AuthorizationPermissionMismatch", () -> reader.upload(BinaryData.fromString("no"), true));
    assertEquals("first", content(blob));
  }
}
