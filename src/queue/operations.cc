// The operation table of the Queue service.
#include "queue/operations.h"

#include "account/properties.h"
#include "account/user_delegation_key.h"
#include "queue/handlers.h"

namespace kyanite::queue {

using auth::Level;
using auth::Need;
using auth::Role;
using service::Operation;

namespace {

// Who may do what, by the letters of account and service SAS.
constexpr Need service_read{
    .resource_type = 's', .account_sas = "r", .service_sas = "", .role = Role::kReader};
constexpr Need service_write{.resource_type = 's', .account_sas = "w", .service_sas = ""};
constexpr Need service_list{
    .resource_type = 's', .account_sas = "l", .service_sas = "", .role = Role::kReader};
constexpr Need delegation{.resource_type = 's',
                          .account_sas = "",
                          .service_sas = "",
                          .bearer_only = true,
                          .role = Role::kReader};
constexpr Need queue_create{.resource_type = 'c', .account_sas = "cw", .service_sas = ""};
constexpr Need queue_delete{.resource_type = 'c', .account_sas = "d", .service_sas = ""};
constexpr Need queue_read{
    .resource_type = 'c', .account_sas = "r", .service_sas = "r", .role = Role::kReader};
constexpr Need queue_write{.resource_type = 'c', .account_sas = "w", .service_sas = ""};
constexpr Need queue_acl{
    .resource_type = 'c', .account_sas = "", .service_sas = "", .bearer = false};
constexpr Need message_add{.resource_type = 'o', .account_sas = "a", .service_sas = "a"};
constexpr Need message_process{.resource_type = 'o', .account_sas = "p", .service_sas = "p"};
constexpr Need message_peek{
    .resource_type = 'o', .account_sas = "r", .service_sas = "r", .role = Role::kReader};
constexpr Need message_update{.resource_type = 'o', .account_sas = "u", .service_sas = "u"};
constexpr Need message_clear{.resource_type = 'o', .account_sas = "d", .service_sas = "p"};

// Rows are tried in order.
constexpr Operation kOperations[] = {
    // The service.
    {"List Queues",
     "Service_ListQueuesSegment",
     "GET",
     Level::kService,
     "",
     "list",
     {},
     service_list,
     list_queues},
    {"Get Queue Service Properties",
     "Service_GetProperties",
     "GET",
     Level::kService,
     "service",
     "properties",
     {},
     service_read,
     get_queue_service_properties},
    {"Set Queue Service Properties",
     "Service_SetProperties",
     "PUT",
     Level::kService,
     "service",
     "properties",
     {},
     service_write,
     account::set_service_properties},
    {"Get Queue Service Stats",
     "Service_GetStatistics",
     "GET",
     Level::kService,
     "service",
     "stats",
     {},
     service_read,
     get_queue_service_stats},
    {"Get User Delegation Key (Queue)",
     "Service_GetUserDelegationKey",
     "POST",
     Level::kService,
     "service",
     "userdelegationkey",
     {},
     delegation,
     account::get_user_delegation_key},

    // Queues.
    {"Create Queue",
     "Queue_Create",
     "PUT",
     Level::kContainer,
     "",
     "",
     {},
     queue_create,
     create_queue},
    {"Delete Queue",
     "Queue_Delete",
     "DELETE",
     Level::kContainer,
     "",
     "",
     {},
     queue_delete,
     delete_queue},
    {"Get Queue Metadata",
     "Queue_GetProperties",
     "GET",
     Level::kContainer,
     "",
     "metadata",
     {},
     queue_read,
     get_queue_metadata},
    {"Get Queue Metadata",
     "Queue_GetPropertiesWithHead",
     "HEAD",
     Level::kContainer,
     "",
     "metadata",
     {},
     queue_read,
     get_queue_metadata},
    {"Set Queue Metadata",
     "Queue_SetMetadata",
     "PUT",
     Level::kContainer,
     "",
     "metadata",
     {},
     queue_write,
     set_queue_metadata},
    {"Get Queue ACL",
     "Queue_GetAccessPolicy",
     "GET",
     Level::kContainer,
     "",
     "acl",
     {},
     queue_acl,
     get_queue_acl},
    {"Get Queue ACL",
     "Queue_GetAccessPolicyWithHead",
     "HEAD",
     Level::kContainer,
     "",
     "acl",
     {},
     queue_acl,
     get_queue_acl},
    {"Set Queue ACL",
     "Queue_SetAccessPolicy",
     "PUT",
     Level::kContainer,
     "",
     "acl",
     {},
     queue_acl,
     set_queue_acl},

    // Messages.
    {"Put Message",
     "Messages_Enqueue",
     "POST",
     Level::kMessages,
     "",
     "",
     {},
     message_add,
     put_message},
    {"Peek Messages",
     "Messages_Peek",
     "GET",
     Level::kMessages,
     "",
     "",
     {},
     message_peek,
     peek_messages,
     {"peekonly", "true"}},
    {"Get Messages",
     "Messages_Dequeue",
     "GET",
     Level::kMessages,
     "",
     "",
     {},
     message_process,
     get_messages},
    {"Clear Messages",
     "Messages_Clear",
     "DELETE",
     Level::kMessages,
     "",
     "",
     {},
     message_clear,
     clear_messages},
    {"Update Message",
     "MessageId_Update",
     "PUT",
     Level::kObject,
     "",
     "",
     {},
     message_update,
     update_message},
    {"Delete Message",
     "MessageId_Delete",
     "DELETE",
     Level::kObject,
     "",
     "",
     {},
     message_process,
     delete_message},
};

}  // namespace

std::span<const Operation> operations() { return kOperations; }

}  // namespace kyanite::queue
