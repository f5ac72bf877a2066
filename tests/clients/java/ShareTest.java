import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpPipelineCallContext;
import com.azure.core.http.HttpPipelineNextPolicy;
import com.azure.core.http.HttpPipelinePosition;
import com.azure.core.http.HttpRequest;
import com.azure.core.http.HttpResponse;
import com.azure.core.http.policy.HttpPipelinePolicy;
import com.azure.core.util.Context;
import com.azure.storage.file.share.ShareClient;
import com.azure.storage.file.share.ShareDirectoryClient;
import com.azure.storage.file.share.ShareFileClient;
import com.azure.storage.file.share.ShareFileClientBuilder;
import com.azure.storage.file.share.ShareServiceClient;
import com.azure.storage.file.share.ShareServiceClientBuilder;
import com.azure.storage.file.share.models.ShareFileItem;
import com.azure.storage.file.share.models.ShareSnapshotsDeleteOptionType;
import com.azure.storage.file.share.options.ShareDeleteOptions;
import com.azure.storage.file.share.options.ShareFileRenameOptions;
import com.azure.storage.file.share.specialized.ShareLeaseClient;
import com.azure.storage.file.share.specialized.ShareLeaseClientBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ShareTest {
  private static final String ENDPOINT = Fixtures.endpoint("FILE");

  /** Of an endpoint this client keeps only the host: port and account are put back before anything is signed. */
  private static final class WholeEndpoint implements HttpPipelinePolicy {
    private static final HttpHeaderName SOURCE = HttpHeaderName.fromString("x-ms-file-rename-source");

    private static String whole(String url) {
      return url.replaceFirst("^http://[^/]*", ENDPOINT.replaceFirst("/$", ""));
    }

    @Override
    public Mono<HttpResponse> process(HttpPipelineCallContext context, HttpPipelineNextPolicy next) {
      HttpRequest request = context.getHttpRequest();
      request.setUrl(whole(request.getUrl().toString()));
      String source = request.getHeaders().getValue(SOURCE);
      if (source != null) request.setHeader(SOURCE, whole(source));
      return next.process();
    }

    @Override
    public HttpPipelinePosition getPipelinePosition() {
      return HttpPipelinePosition.PER_CALL;
    }
  }

  private final ShareServiceClient service =
      new ShareServiceClientBuilder().endpoint(ENDPOINT).credential(Fixtures.CREDENTIAL)
          .retryOptions(Fixtures.ONCE).addPolicy(new WholeEndpoint()).buildClient();
  private ShareClient share;

  @BeforeEach
  void make() {
    share = service.createShare(Fixtures.newName());
  }

  @AfterEach
  void remove() {
    share.deleteWithResponse(
        new ShareDeleteOptions().setDeleteSnapshotsOptions(ShareSnapshotsDeleteOptionType.INCLUDE), null, Context.NONE);
  }

  private ShareFileClient put(String path, byte[] data) {
    ShareFileClient file = share.getFileClient(path);
    file.create(data.length);
    file.upload(new ByteArrayInputStream(data), data.length, null);
    return file;
  }

  private static byte[] content(ShareFileClient file) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    file.download(out);
    return out.toByteArray();
  }

  @Test
  void whatIsUploadedIsDownloaded() {
    byte[] data = Fixtures.noise(9_000_001);
    ShareFileClient file = put("large", data);
    assertArrayEquals(data, content(file));
    file.clearRange(4096);
    assertEquals(data.length, file.getProperties().getContentLength());
    Fixtures.refused(404, "ResourceNotFound", () -> content(share.getFileClient("none")));
  }

  @Test
  void directoriesListAndMove() {
    ShareDirectoryClient top = share.createDirectory("a");
    Fixtures.refused(409, "ResourceAlreadyExists", () -> share.createDirectory("a"));
    Fixtures.refused(404, "ParentNotFound", () -> share.createDirectory("none/b"));
    ShareFileClient one = put("a/one", Fixtures.bytes("1"));
    ShareFileClient two = put("a/two", Fixtures.bytes("2"));
    Fixtures.refused(409, "ResourceAlreadyExists", () -> one.rename("a/two"));
    assertArrayEquals(Fixtures.bytes("2"), content(two));
    one.renameWithResponse(new ShareFileRenameOptions("a/two").setReplaceIfExists(true), null, Context.NONE);
    assertArrayEquals(Fixtures.bytes("1"), content(two));
    Fixtures.refused(409, "DirectoryNotEmpty", top::delete);
    top.rename("b");
    assertEquals(List.of("two"), share.getDirectoryClient("b").listFilesAndDirectories().stream()
        .map(ShareFileItem::getName).collect(Collectors.toList()));
  }

  @Test
  void aLeaseKeepsOthersOut() {
    ShareFileClient file = put("leased", Fixtures.bytes("first"));
    ShareLeaseClient holder = new ShareLeaseClientBuilder().fileClient(file).buildClient();
    holder.acquireLease();
    Fixtures.refused(412, "LeaseIdMissing", file::delete);
    Fixtures.refused(409, "LeaseAlreadyPresent",
        () -> new ShareLeaseClientBuilder().fileClient(file).buildClient().acquireLease());
    holder.releaseLease();
    assertArrayEquals(Fixtures.bytes("first"), content(file));
  }

  @Test
  void snapshotsStayAsTheyWere() {
    put("kept", Fixtures.bytes("first"));
    String snapshot = share.createSnapshot().getSnapshot();
    put("kept", Fixtures.bytes("second"));
    ShareFileClient then = new ShareFileClientBuilder().endpoint(ENDPOINT).addPolicy(new WholeEndpoint())
        .credential(Fixtures.CREDENTIAL).shareName(share.getShareName()).resourcePath("kept").snapshot(snapshot).buildFileClient();
    // Downloads of this client leave the snapshot out; its properties tell the two apart.
    assertEquals(5, then.getProperties().getContentLength());
    Fixtures.refused(409, "ShareHasSnapshots", share::delete);
  }
}
