// Pending copies: what ends one that does not end by itself.
#include "transfer/pending_copy.h"

#include <gtest/gtest.h>

#include <future>

#include "http/fetch.h"
#include "lifetime/directory.h"
#include "service/test_support.h"

namespace kyanite::transfer {
namespace {

constexpr store::Family kNotes = 'N';

// Never has time.
class BusyFetcher final : public http::Fetcher {
 public:
  Task<Result<std::unique_ptr<http::Fetched>, http::FetchError>> get(http::Url, Lines, Lines,
                                                                     std::string) override {
    asked.set_value();
    co_return http::FetchError{http::FetchError::kBusy, "later"};
  }

  std::promise<void> asked;
};

class Destination final : public CopyDestinations {
 public:
  Task<store::Result<bool>> progress(service::Context&, const PendingCopy&,
                                     uint64_t) const override {
    co_return true;
  }
  Task<store::Result<bool>> complete(service::Context&, const PendingCopy&, const content::Pieces&,
                                     uint64_t) const override {
    ended.set_value("completed");
    co_return true;
  }
  Task<store::Result<bool>> fail(service::Context&, const PendingCopy&,
                                 const std::string& why) const override {
    ended.set_value(why);
    co_return true;
  }

  mutable std::promise<std::string> ended;
};

TEST(PendingCopies, FailAfterTwoWeeks) {
  service::TestContext around;
  around.accounts.replace({{"account", {auth::Key("key")}}});
  BusyFetcher fetcher;
  around.context.fetcher = &fetcher;
  Destination destination;
  const store::Key note(lifetime::directory_space("account"), kNotes, "id");
  {
    CopyRunner runner(destination, kNotes);
    PendingCopy copy;
    copy.id = "id";
    copy.url = "http://other.example/page";
    copy.started = around.clock.now();
    ASSERT_TRUE(RunLoop::run(runner.note(around.memory, "account", copy)).ok());
    runner.submit(around.context, "account", copy);
    fetcher.asked.get_future().wait();
  }
  EXPECT_NE(*RunLoop::run(around.memory.get(note)), nullptr);
  around.clock.advance_seconds(CopyRunner::kMaxSeconds);
  {
    CopyRunner runner(destination, kNotes);
    const auto job = runner.resume_job("copies", around.context);
    jobs::Step step(around.memory, around.clock, "account");
    EXPECT_TRUE(*RunLoop::run(job.run(step)));
    EXPECT_EQ(destination.ended.get_future().get(),
              "500 OperationCancelled \"The copy is pending for too long.\"");
  }
  EXPECT_EQ(*RunLoop::run(around.memory.get(note)), nullptr);
}

}  // namespace
}  // namespace kyanite::transfer
