// The service of the blob port: the Blob API and the Data Lake API over the same objects.
#pragma once

#include <span>
#include <vector>

#include "blob/service.h"
#include "service/call.h"
#include "service/operation.h"
#include "wire/error.h"

namespace kyanite::datalake {

class LakeService final : public blob::BlobService {
 public:
  LakeService();

  std::span<const service::Operation> operations() const override { return all_; }
  std::span<const service::Operation> operations_for(const service::Call& call) const override;
  // Errors in the words of the API that was asked.
  void render(const service::Call& call, const wire::Error& error,
              http::Reply& reply) const override;

 private:
  std::vector<service::Operation> all_;  // Those of Data Lake come first.
  size_t lake_rows_;
};

// Whether the request is one of Data Lake. Both APIs come to one port; the host name tells them
// apart (ACCOUNT.dfs...), else what only one of them has. A plain GET, HEAD or DELETE of a path
// could be of both: clients of Data Lake accept JSON.
bool is_lake(const service::Call& call);

}  // namespace kyanite::datalake
