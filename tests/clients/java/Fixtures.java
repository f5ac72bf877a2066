import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.core.exception.HttpResponseException;
import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.common.policy.RequestRetryOptions;
import com.azure.storage.common.policy.RetryPolicyType;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.function.Executable;

/** What the tests of all services have in common: the account, names of their own, and refusals. */
final class Fixtures {
  static final String ACCOUNT = System.getenv("KYANITE_ACCOUNT");
  static final String KEY = System.getenv("KYANITE_KEY");
  static final StorageSharedKeyCredential CREDENTIAL = new StorageSharedKeyCredential(ACCOUNT, KEY);
  /** A refusal is to be seen at once, and as the first request got it. */
  static final RequestRetryOptions ONCE =
      new RequestRetryOptions(RetryPolicyType.FIXED, 1, 60, null, null, null);

  private Fixtures() {}

  static String endpoint(String service) {
    return System.getenv("KYANITE_" + service);
  }

  static String newName() {
    return "n" + UUID.randomUUID().toString().replace("-", "");
  }

  static byte[] noise(int length) {
    byte[] data = new byte[length];
    new Random().nextBytes(data);
    return data;
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static void refused(int status, String code, Executable action) {
    HttpResponseException said = assertThrows(HttpResponseException.class, action);
    assertEquals(status, said.getResponse().getStatusCode());
    assertEquals(code, said.getResponse().getHeaderValue("x-ms-error-code"));
  }
}
