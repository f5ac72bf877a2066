// Path - Lease: POST /{filesystem}/{path} with x-ms-lease-action
#include "blob/handlers.h"
#include "datalake/handlers.h"

namespace kyanite::datalake {

// One lease for both APIs, and the same answers.
Outcome lease_path(service::Call& call) { return blob::lease_blob(call); }

}  // namespace kyanite::datalake
