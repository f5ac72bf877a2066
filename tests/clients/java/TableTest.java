import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.core.util.Context;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableServiceException;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class TableTest {
  private final TableServiceClient service =
      new TableServiceClientBuilder().endpoint(Fixtures.endpoint("TABLE"))
          .credential(new AzureNamedKeyCredential(Fixtures.ACCOUNT, Fixtures.KEY))
          .retryOptions(new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1)))).buildClient();
  private TableClient table;

  @BeforeEach
  void make() {
    table = service.createTable(Fixtures.newName());
  }

  @AfterEach
  void remove() {
    table.deleteTable();
  }

  private static TableEntity entity(String row, int n) {
    return new TableEntity("p", row).addProperty("n", n);
  }

  private static void refused(int status, String code, Executable action) {
    TableServiceException said = assertThrows(TableServiceException.class, action);
    assertEquals(status, said.getResponse().getStatusCode());
    assertEquals(code, said.getValue().getErrorCode().toString());
  }

  @Test
  void conditionsGuardEntities() {
    table.createEntity(entity("e", 1).addProperty("big", 1L << 40));
    TableEntity first = table.getEntity("p", "e");
    assertEquals(1L << 40, first.getProperty("big"));
    refused(409, "EntityAlreadyExists", () -> table.createEntity(entity("e", 2)));
    table.updateEntity(entity("e", 2), TableEntityUpdateMode.REPLACE);
    first.addProperty("n", 3);
    refused(412, "UpdateConditionNotSatisfied", () -> table.updateEntityWithResponse(
        first, TableEntityUpdateMode.REPLACE, true, null, Context.NONE));
    refused(412, "UpdateConditionNotSatisfied", () -> table.deleteEntityWithResponse(first, true, null, Context.NONE));
    assertEquals(2, table.getEntity("p", "e").getProperty("n"));
  }

  @Test
  void aTransactionIsAllOrNothing() {
    table.createEntity(entity("there", 1));
    assertThrows(TableServiceException.class, () -> table.submitTransaction(List.of(
        new TableTransactionAction(TableTransactionActionType.CREATE, entity("new", 1)),
        new TableTransactionAction(TableTransactionActionType.CREATE, entity("there", 2)))));
    refused(404, "ResourceNotFound", () -> table.getEntity("p", "new"));
  }

  @Test
  void queriesFilterAndGoOn() {
    List<TableTransactionAction> all = new ArrayList<>();
    for (int n = 0; n < 50; n++) {
      all.add(new TableTransactionAction(TableTransactionActionType.CREATE, entity(String.format("%02d", n), n)));
    }
    table.submitTransaction(all);
    List<Integer> sizes = table.listEntities(new ListEntitiesOptions().setFilter("n ge 20").setTop(20), null, Context.NONE)
        .streamByPage().map(page -> page.getValue().size()).collect(Collectors.toList());
    assertEquals(List.of(20, 10), sizes);
    refused(404, "TableNotFound", () -> service.getTableClient(Fixtures.newName()).createEntity(entity("e", 1)));
  }
}
