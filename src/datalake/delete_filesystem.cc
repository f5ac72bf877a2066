// Filesystem - Delete: DELETE /{filesystem}?resource=filesystem
#include "blob/handlers.h"
#include "datalake/handlers.h"

namespace kyanite::datalake {

Outcome delete_filesystem(service::Call& call) { return blob::delete_container(call); }

}  // namespace kyanite::datalake
