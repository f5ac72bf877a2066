// Pop receipts and message ids come from clients.
#include "base/check.h"
#include "queue/receipt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::queue;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto receipt = Receipt::parse(text); receipt && *receipt) {
    CHECK((*receipt)->text() == text);
  }
  if (auto id = MessageId::parse(text)) CHECK(MessageId::parse(id->text()) == id);
  return 0;
}
