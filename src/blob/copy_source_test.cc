#include "blob/copy_source.h"

#include <gtest/gtest.h>

namespace kyanite::blob {
namespace {

using concurrency::Condition;
using concurrency::Verdict;
using wire::Code;

TEST(CopySource, ToldByStatusAndMessageOfItsOwnError) {
  for (const auto family : {CopyFamily::kCopyBlob, CopyFamily::kWhole}) {
    const auto told = source_error(family, Code::kBlobNotFound);
    EXPECT_EQ(told.code, Code::kCannotVerifyCopySource);
    EXPECT_EQ(told.status, 404);
    EXPECT_EQ(told.message, wire::default_message(Code::kBlobNotFound));
  }
  const auto told = source_error(CopyFamily::kPart, Code::kBlobNotFound);
  EXPECT_EQ(told.status, 404);
  EXPECT_EQ(told.message, wire::default_message(Code::kCannotVerifyCopySource));
}

TEST(CopySource, UnmetConditionsHaveTheirCodesByOperation) {
  constexpr auto kNotModified = Verdict::kNotModified;
  constexpr auto kUnmet = Verdict::kConditionNotMet;
  const struct {
    CopyFamily family;
    Verdict verdict;
    Condition condition;
    int status;
    Code code;
  } cases[] = {
      {CopyFamily::kCopyBlob, kUnmet, Condition::kIfMatch, 412, Code::kSourceConditionNotMet},
      {CopyFamily::kCopyBlob, kNotModified, Condition::kIfNoneMatch, 412,
       Code::kSourceConditionNotMet},
      {CopyFamily::kCopyBlob, kNotModified, Condition::kIfModifiedSince, 412,
       Code::kSourceConditionNotMet},
      {CopyFamily::kCopyBlob, kUnmet, Condition::kIfUnmodifiedSince, 412,
       Code::kSourceConditionNotMet},
      {CopyFamily::kCopyBlob, kUnmet, Condition::kIfTags, 412, Code::kConditionNotMet},
      {CopyFamily::kWhole, kUnmet, Condition::kIfMatch, 412, Code::kSourceConditionNotMet},
      {CopyFamily::kWhole, kNotModified, Condition::kIfNoneMatch, 304,
       Code::kCannotVerifyCopySource},
      {CopyFamily::kWhole, kNotModified, Condition::kIfModifiedSince, 304,
       Code::kCannotVerifyCopySource},
      {CopyFamily::kWhole, kUnmet, Condition::kIfUnmodifiedSince, 412,
       Code::kCannotVerifyCopySource},
      {CopyFamily::kPart, kUnmet, Condition::kIfMatch, 412, Code::kCannotVerifyCopySource},
      {CopyFamily::kPart, kNotModified, Condition::kIfNoneMatch, 304,
       Code::kCannotVerifyCopySource},
      {CopyFamily::kPart, kNotModified, Condition::kIfModifiedSince, 304,
       Code::kCannotVerifyCopySource},
      {CopyFamily::kPart, kUnmet, Condition::kIfUnmodifiedSince, 412,
       Code::kCannotVerifyCopySource},
  };
  for (const auto& each : cases) {
    const auto told = source_condition_error(each.family, {each.verdict, each.condition});
    EXPECT_EQ(told.status, each.status) << static_cast<int>(each.condition);
    EXPECT_EQ(told.code, each.code) << wire::name(told.code);
  }
}

}  // namespace
}  // namespace kyanite::blob
