// x-ms-version: a date. Any well-formed one is served, newer ones included; behaviour changes at
// named cuts.
#pragma once

#include <optional>
#include <string_view>

namespace kyanite::wire {

// A protocol version as a number that compares like the date: 2019-12-12 is 20191212.
struct Version {
  int number = 0;
  auto operator<=>(const Version&) const = default;

  // "YYYY-MM-DD" with a plausible month and day, nothing else.
  static constexpr std::optional<Version> parse(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return {};
    int number = 0;
    for (size_t i = 0; i < 10; ++i) {
      if (i == 4 || i == 7) continue;
      if (text[i] < '0' || text[i] > '9') return {};
      number = number * 10 + (text[i] - '0');
    }
    const int month = number / 100 % 100;
    const int day = number % 100;
    if (month < 1 || month > 12 || day < 1 || day > 31) return {};
    return Version{number};
  }
};

// Cuts of behaviour; the names say what begins there.
inline constexpr Version kQuotedETags{20110818};
inline constexpr Version kSharedAccessWithVersion{20120212};
inline constexpr Version kAsynchronousCopies{20120212};
inline constexpr Version kMixedReadConditions{20130815};
inline constexpr Version kEmptyContentLengthSigned{20150221};
inline constexpr Version kErrorCodeHeader{20170729};
inline constexpr Version kBearerTokens{20171109};
inline constexpr Version kCrc64Replies{20190202};
inline constexpr Version kLargeBlocks{20191212};
inline constexpr Version kHundredMiBBlocks{20160531};
inline constexpr Version kEncryptionScopes{20190707};
inline constexpr Version kBlobTags{20191212};
inline constexpr Version kRehydratePriority{20191212};
inline constexpr Version kHierarchicalNamespaceTold{20190707};
inline constexpr Version kVersionLevelImmutability{20200612};
inline constexpr Version kPathTimesInLists{20200210};
inline constexpr Version kOwnersOfBlobs{20200612};
inline constexpr Version kResourceTypes{20201002};
inline constexpr Version kResourceTypesInLists{20210212};
inline constexpr Version kEncodedNamesInLists{20210212};
inline constexpr Version kEncryptionContextInLists{20221102};
inline constexpr Version kAclsOfBlobs{20231103};
inline constexpr Version kLargeAppendBlocks{20221102};
inline constexpr Version kPaginatedDeletes{20230803};

}  // namespace kyanite::wire
