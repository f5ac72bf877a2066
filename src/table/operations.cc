// The operation table of the Table service.
#include "table/operations.h"

#include "account/properties.h"
#include "account/stats.h"
#include "table/handlers.h"

namespace kyanite::table {

using auth::Level;
using auth::Need;
using auth::Role;
using service::Operation;

namespace {

// Who may do what, by the letters of account and service SAS. An upsert takes add and update, which
// table/change.cc checks.
constexpr Need account_read{
    .resource_type = 's', .account_sas = "r", .service_sas = "", .role = Role::kReader};
constexpr Need account_write{.resource_type = 's', .account_sas = "w", .service_sas = ""};
constexpr Need tables_list{
    .resource_type = 'c', .account_sas = "l", .service_sas = "", .role = Role::kReader};
constexpr Need table_create{.resource_type = 'c', .account_sas = "cw", .service_sas = ""};
constexpr Need table_delete{.resource_type = 'c', .account_sas = "d", .service_sas = ""};
constexpr Need table_acl{
    .resource_type = 'c', .account_sas = "", .service_sas = "", .bearer = false};
constexpr Need entity_read{
    .resource_type = 'o', .account_sas = "r", .service_sas = "r", .role = Role::kReader};
constexpr Need entity_add{.resource_type = 'o', .account_sas = "a", .service_sas = "a"};
constexpr Need entity_update{.resource_type = 'o', .account_sas = "u", .service_sas = "u"};
constexpr Need entity_delete{.resource_type = 'o', .account_sas = "d", .service_sas = "d"};
// Each part of a batch is authorized by itself.
// Each part is authorized by itself.
constexpr Need batch{
    .resource_type = 'o', .account_sas = "raud", .service_sas = "raud", .role = Role::kNone};

constexpr Operation::Selector kIfMatch{"If-Match", ""};

// Rows are tried in order; of rows that differ in headers the most particular comes first.
constexpr Operation kOperations[] = {
    {"Get Table Service Properties",
     "Service_GetProperties",
     "GET",
     Level::kService,
     "service",
     "properties",
     {},
     account_read,
     account::get_service_properties},
    {"Set Table Service Properties",
     "Service_SetProperties",
     "PUT",
     Level::kService,
     "service",
     "properties",
     {},
     account_write,
     account::set_service_properties},
    {"Get Table Service Stats",
     "Service_GetStatistics",
     "GET",
     Level::kService,
     "service",
     "stats",
     {},
     account_read,
     account::get_service_stats},

    {"Query Tables", "Table_Query", "GET", Level::kTables, "", "", {}, tables_list, query_tables},
    {"Create Table",
     "Table_Create",
     "POST",
     Level::kTables,
     "",
     "",
     {},
     table_create,
     create_table},
    {"Delete Table",
     "Table_Delete",
     "DELETE",
     Level::kTables,
     "",
     "",
     {},
     table_delete,
     delete_table},
    {"Get Table ACL",
     "Table_GetAccessPolicy",
     "GET",
     Level::kContainer,
     "",
     "acl",
     {},
     table_acl,
     get_table_acl},
    {"Get Table ACL",
     "Table_GetAccessPolicy",
     "HEAD",
     Level::kContainer,
     "",
     "acl",
     {},
     table_acl,
     get_table_acl},
    {"Set Table ACL",
     "Table_SetAccessPolicy",
     "PUT",
     Level::kContainer,
     "",
     "acl",
     {},
     table_acl,
     set_table_acl},

    {"Query Entities",
     "Table_QueryEntities",
     "GET",
     Level::kContainer,
     "",
     "",
     {},
     entity_read,
     query_entities},
    {"Query Entities (point)",
     "Table_QueryEntitiesWithPartitionAndRowKey",
     "GET",
     Level::kObject,
     "",
     "",
     {},
     entity_read,
     get_entity},
    {"Insert Entity",
     "Table_InsertEntity",
     "POST",
     Level::kContainer,
     "",
     "",
     {},
     entity_add,
     insert_entity},
    {"Update Entity",
     "Table_UpdateEntity",
     "PUT",
     Level::kObject,
     "",
     "",
     {kIfMatch},
     entity_update,
     update_entity},
    {"Insert Or Replace Entity",
     "-",
     "PUT",
     Level::kObject,
     "",
     "",
     {},
     entity_update,
     update_entity},
    {"Merge Entity",
     "Table_MergeEntity",
     "PATCH",
     Level::kObject,
     "",
     "",
     {kIfMatch},
     entity_update,
     merge_entity},
    {"Insert Or Merge Entity",
     "-",
     "PATCH",
     Level::kObject,
     "",
     "",
     {},
     entity_update,
     merge_entity},
    {"Merge Entity",
     "Table_MergeEntity",
     "MERGE",
     Level::kObject,
     "",
     "",
     {kIfMatch},
     entity_update,
     merge_entity},
    {"Insert Or Merge Entity",
     "-",
     "MERGE",
     Level::kObject,
     "",
     "",
     {},
     entity_update,
     merge_entity},
    {"Delete Entity",
     "Table_DeleteEntity",
     "DELETE",
     Level::kObject,
     "",
     "",
     {kIfMatch},
     entity_delete,
     delete_entity},
    {"Entity Group Transaction",
     "Table_Batch",
     "POST",
     Level::kBatch,
     "",
     "",
     {},
     batch,
     entity_group_transaction},

    // Methods that a proxy would not let through, tunnelled through POST.
    {"Merge Entity",
     "Table_MergeEntity",
     "POST",
     Level::kObject,
     "",
     "",
     {{"X-HTTP-Method", "MERGE"}, kIfMatch},
     entity_update,
     merge_entity},
    {"Insert Or Merge Entity",
     "-",
     "POST",
     Level::kObject,
     "",
     "",
     {{"X-HTTP-Method", "MERGE"}},
     entity_update,
     merge_entity},
    {"Merge Entity",
     "Table_MergeEntity",
     "POST",
     Level::kObject,
     "",
     "",
     {{"X-HTTP-Method", "PATCH"}, kIfMatch},
     entity_update,
     merge_entity},
    {"Insert Or Merge Entity",
     "-",
     "POST",
     Level::kObject,
     "",
     "",
     {{"X-HTTP-Method", "PATCH"}},
     entity_update,
     merge_entity},
    {"Update Entity",
     "Table_UpdateEntity",
     "POST",
     Level::kObject,
     "",
     "",
     {{"X-HTTP-Method", "PUT"}, kIfMatch},
     entity_update,
     update_entity},
    {"Insert Or Replace Entity",
     "-",
     "POST",
     Level::kObject,
     "",
     "",
     {{"X-HTTP-Method", "PUT"}},
     entity_update,
     update_entity},
    {"Delete Entity",
     "Table_DeleteEntity",
     "POST",
     Level::kObject,
     "",
     "",
     {{"X-HTTP-Method", "DELETE"}, kIfMatch},
     entity_delete,
     delete_entity},
};

}  // namespace

std::span<const Operation> operations() { return kOperations; }

std::optional<Verb> verb_of(const Operation& operation) {
  if (operation.run == insert_entity) return Verb::kInsert;
  if (operation.run == update_entity) return Verb::kReplace;
  if (operation.run == merge_entity) return Verb::kMerge;
  if (operation.run == delete_entity) return Verb::kDelete;
  return {};
}

}  // namespace kyanite::table
