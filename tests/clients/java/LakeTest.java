import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.common.ParallelTransferOptions;
import com.azure.storage.file.datalake.DataLakeFileClient;
import com.azure.storage.file.datalake.DataLakeFileSystemClient;
import com.azure.storage.file.datalake.DataLakeServiceClient;
import com.azure.storage.file.datalake.DataLakeServiceClientBuilder;
import com.azure.storage.file.datalake.models.DataLakeRequestConditions;
import com.azure.storage.file.datalake.models.ListPathsOptions;
import com.azure.storage.file.datalake.models.PathAccessControlEntry;
import com.azure.storage.file.datalake.models.PathItem;
import com.azure.storage.file.datalake.options.FileParallelUploadOptions;
import com.azure.storage.file.datalake.specialized.DataLakeLeaseClient;
import com.azure.storage.file.datalake.specialized.DataLakeLeaseClientBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LakeTest {
  private final DataLakeServiceClient service =
      new DataLakeServiceClientBuilder().endpoint(Fixtures.endpoint("LAKE")).credential(Fixtures.CREDENTIAL)
          .retryOptions(Fixtures.ONCE).buildClient();
  private DataLakeFileSystemClient files;

  @BeforeEach
  void make() {
    files = service.createFileSystem(Fixtures.newName());
  }

  @AfterEach
  void remove() {
    files.delete();
  }

  private DataLakeFileClient put(String path, String content) {
    DataLakeFileClient file = files.getFileClient(path);
    file.upload(BinaryData.fromString(content), true);
    return file;
  }

  private static byte[] content(DataLakeFileClient file) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    file.read(out);
    return out.toByteArray();
  }

  private List<String> paths() {
    return files.listPaths(new ListPathsOptions().setRecursive(true).setMaxResults(2), null).stream()
        .map(PathItem::getName).collect(Collectors.toList());
  }

  @Test
  void whatIsUploadedInPiecesIsDownloaded() {
    byte[] data = Fixtures.noise(5_000_001);
    DataLakeFileClient file = files.getFileClient("a/b/large");
    file.uploadWithResponse(new FileParallelUploadOptions(new ByteArrayInputStream(data)).setParallelTransferOptions(
        new ParallelTransferOptions().setBlockSizeLong(1L << 20).setMaxSingleUploadSizeLong(1L << 20)), null, Context.NONE);
    assertArrayEquals(data, content(file));
    assertEquals(List.of("a", "a/b", "a/b/large"), paths());
    Fixtures.refused(409, "PathAlreadyExists", () -> file.create(false));
  }

  @Test
  void appendedBytesCountOnceTheyAreFlushed() {
    DataLakeFileClient file = files.createFile("log");
    file.append(BinaryData.fromString("two"), 3);
    file.append(BinaryData.fromString("one"), 0);
    assertEquals(0, file.getProperties().getFileSize());
    Fixtures.refused(400, "InvalidFlushPosition", () -> file.flush(7, true));
    file.flush(6, true);
    assertArrayEquals(Fixtures.bytes("onetwo"), content(file));
  }

  @Test
  void renamesAreGuardedAndTakeAllAlong() {
    put("from/x/1", "1");
    DataLakeFileClient two = put("from/2", "2");
    DataLakeFileClient target = put("to", "kept");
    DataLakeRequestConditions none = new DataLakeRequestConditions().setIfNoneMatch("*");
    Fixtures.refused(409, "PathAlreadyExists", () -> two.renameWithResponse(null, "to", null, none, null, Context.NONE));
    assertArrayEquals(Fixtures.bytes("kept"), content(target));
    files.getDirectoryClient("from").rename(null, "moved");
    assertEquals(List.of("moved", "moved/2", "moved/x", "moved/x/1", "to"), paths());
    Fixtures.refused(404, "SourcePathNotFound", () -> two.rename(null, "elsewhere"));
  }

  @Test
  void aLeaseKeepsOthersOut() {
    DataLakeFileClient file = put("leased", "first");
    DataLakeLeaseClient holder = new DataLakeLeaseClientBuilder().fileClient(file).buildClient();
    holder.acquireLease(15);
    Fixtures.refused(412, "LeaseIdMissing", () -> file.append(BinaryData.fromString("no"), 5));
    Fixtures.refused(412, "LeaseIdMissing", file::delete);
    holder.releaseLease();
    file.delete();
  }

  @Test
  void accessControlGoesDownATree() {
    DataLakeFileClient deep = put("t/a/1", "1");
    List<PathAccessControlEntry> entry =
        PathAccessControlEntry.parseList("user:11111111-2222-3333-4444-555555555555:r-x");
    var counters = files.getDirectoryClient("t").updateAccessControlRecursive(entry).getCounters();
    assertEquals(2, counters.getChangedDirectoriesCount());
    assertEquals(1, counters.getChangedFilesCount());
    assertTrue(deep.getAccessControl().getAccessControlList().containsAll(entry));
  }

  @Test
  void deletingTakesAllBelow() {
    put("gone/deep/er", "x");
    Fixtures.refused(409, "DirectoryNotEmpty", () -> files.getDirectoryClient("gone").delete());
    files.getDirectoryClient("gone").deleteWithResponse(true, null, null, Context.NONE);
    assertEquals(List.of(), paths());
    Fixtures.refused(404, "PathNotFound", () -> files.getFileClient("gone/deep/er").getAccessControl());
  }
}
