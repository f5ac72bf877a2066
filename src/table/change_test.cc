#include "table/change.h"

#include <gtest/gtest.h>

#include "service/test_support.h"
#include "store/test_support.h"
#include "table/json_entity.h"

namespace kyanite::table {
namespace {

constexpr store::SpaceId kSpace = 9;
const Time kNow = Time::from_unix_seconds(1'700'000'000);

Change change(Verb verb, std::optional<Condition> condition = {}, std::string_view json = "{}",
              std::string row = "r") {
  return {verb, "p", std::move(row), condition, parse_entity(json)->properties};
}

store::RecordPtr stored(Time timestamp, std::string_view json) {
  return store::record_of(encode_entity(timestamp, parse_entity(json)->properties));
}

TEST(Decide, WhatMayBeDoneToWhatIsThere) {
  const Condition any{.any = true, .timestamp = {}};
  const Condition same{.any = false, .timestamp = kNow};
  const Condition stale{.any = false, .timestamp = Time{kNow.ticks - 1}};
  const Condition unknown{.any = false, .timestamp = {}};
  struct Case {
    Verb verb;
    std::optional<Condition> condition;
    std::string_view when_missing;
    std::string_view when_there;
  };
  for (const Case& c : std::initializer_list<Case>{
           {Verb::kInsert, {}, "", "EntityAlreadyExists"},
           {Verb::kReplace, {}, "", ""},
           {Verb::kMerge, {}, "", ""},
           {Verb::kReplace, any, "ResourceNotFound", ""},
           {Verb::kMerge, any, "ResourceNotFound", ""},
           {Verb::kDelete, any, "ResourceNotFound", ""},
           {Verb::kReplace, same, "ResourceNotFound", ""},
           {Verb::kMerge, same, "ResourceNotFound", ""},
           {Verb::kDelete, same, "ResourceNotFound", ""},
           {Verb::kReplace, stale, "ResourceNotFound", "UpdateConditionNotSatisfied"},
           {Verb::kMerge, stale, "ResourceNotFound", "UpdateConditionNotSatisfied"},
           {Verb::kDelete, stale, "ResourceNotFound", "UpdateConditionNotSatisfied"},
           {Verb::kDelete, unknown, "ResourceNotFound", "UpdateConditionNotSatisfied"}}) {
    const auto code = [&](const store::RecordPtr& before) {
      const auto changed = decide(change(c.verb, c.condition), before, kNow);
      return changed ? "" : wire::name(changed.error().code);
    };
    EXPECT_EQ(code(nullptr), c.when_missing) << static_cast<int>(c.verb);
    EXPECT_EQ(code(stored(kNow, "{}")), c.when_there) << static_cast<int>(c.verb);
  }
}

TEST(Decide, TimestampsNeverRepeat) {
  for (const Time now : {kNow, Time{kNow.ticks - 1000}}) {
    const auto changed = decide(change(Verb::kReplace), stored(kNow, "{}"), now);
    ASSERT_TRUE(changed);
    EXPECT_GT(changed->timestamp, kNow);
  }
  const auto later = Time{kNow.ticks + 1000};
  EXPECT_EQ(decide(change(Verb::kReplace), stored(kNow, "{}"), later)->timestamp, later);
}

TEST(Decide, MergeKeepsAndReplaceDrops) {
  const auto before = stored(kNow, R"({"a":1,"b":2})");
  const auto properties = [&](Verb verb) {
    const auto changed = decide(change(verb, {}, R"({"b":"x","c":null})"), before, kNow);
    return std::string(decode_entity("p", "r", changed->record->value)->properties);
  };
  EXPECT_EQ(properties(Verb::kMerge), parse_entity(R"({"a":1,"b":"x"})")->properties);
  EXPECT_EQ(properties(Verb::kReplace), parse_entity(R"({"b":"x"})")->properties);
}

TEST(Decide, LimitsHoldForWhatMergeMakes) {
  std::string many = "{\"x\":1";
  for (size_t i = 1; i < kMaxProperties; ++i) many += ",\"p" + std::to_string(i) + "\":1";
  many += "}";
  const auto full = stored(kNow, many);
  EXPECT_TRUE(decide(change(Verb::kMerge, {}, R"({"x":2})"), full, kNow));
  EXPECT_EQ(decide(change(Verb::kMerge, {}, R"({"y":2})"), full, kNow).error().code,
            wire::Code::kTooManyProperties);

  const auto texts = [](char prefix) {
    std::string json = "{";
    for (int i = 0; i < 8; ++i) {
      if (i > 0) json += ",";
      json += std::string("\"") + prefix + std::to_string(i) + "\":\"" + std::string(32'768, 'x') +
              "\"";
    }
    return json + "}";
  };
  const auto half = stored(kNow, texts('a'));
  EXPECT_TRUE(decide(change(Verb::kMerge, {}, texts('a')), half, kNow));
  EXPECT_EQ(decide(change(Verb::kMerge, {}, texts('b')), half, kNow).error().code,
            wire::Code::kEntityTooLarge);
}

TEST(Decide, DamageIsAnErrorOfTheServer) {
  const auto changed = decide(change(Verb::kMerge), store::record_of("\x7f"), kNow);
  EXPECT_EQ(changed.error().status, 500);
}

// Runs a hook before the first commit: another writer that comes in between.
class InterruptedStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    if (before_commit) {
      auto hook = std::exchange(before_commit, nullptr);
      co_await MemoryStore::commit(hook());
    }
    co_return co_await MemoryStore::commit(std::move(commit));
  }

  std::function<store::Commit()> before_commit;
};

class ApplyTest : public testing::Test {
 protected:
  static store::Key key(std::string_view row) { return store::Key(kSpace, kEntities, "p", row); }
  Result<std::vector<Changed>, Refusal> apply(const std::vector<Change>& changes) {
    service::TestCall call(around_);
    return RunLoop::run(apply_changes(call.call, kSpace, changes));
  }
  store::RecordPtr read(std::string_view row) { return *RunLoop::run(store_.get(key(row))); }
  void interrupt(std::string_view row, store::RecordPtr record) {
    store_.before_commit = [row, record] {
      store::Commit commit;
      commit.put(key(row), record);
      return commit;
    };
  }

  InterruptedStore store_;
  service::TestContext around_{store_};
};

TEST_F(ApplyTest, AllOrNothing) {
  ASSERT_TRUE(apply({change(Verb::kInsert, {}, "{}", "1"), change(Verb::kInsert, {}, "{}", "2")}));
  const auto refused = apply({change(Verb::kInsert, {}, "{}", "3"),
                              change(Verb::kDelete, Condition{true, {}}, "{}", "1"),
                              change(Verb::kInsert, {}, "{}", "2")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().index, 2U);
  EXPECT_EQ(refused.error().error.code, wire::Code::kEntityAlreadyExists);
  EXPECT_NE(read("1"), nullptr);
  EXPECT_EQ(read("3"), nullptr);
}

TEST_F(ApplyTest, AnotherWriterInBetweenIsNoticed) {
  // An insert that guessed that there is nothing.
  interrupt("r", stored(kNow, "{}"));
  const auto inserted = apply({change(Verb::kInsert)});
  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().error.code, wire::Code::kEntityAlreadyExists);

  // A merge decides again from what is there now.
  interrupt("r", stored(kNow, R"({"theirs":1})"));
  ASSERT_TRUE(apply({change(Verb::kMerge, {}, R"({"ours":1})")}));
  EXPECT_EQ(decode_entity("p", "r", read("r")->value)->properties,
            parse_entity(R"({"theirs":1,"ours":1})")->properties);

  // A tag that was right when it was read is wrong when it counts.
  const Time before = decode_entity("p", "r", read("r")->value)->timestamp;
  interrupt("r", stored(Time{before.ticks + 5}, "{}"));
  const auto replaced = apply({change(Verb::kReplace, Condition{false, before})});
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().error.code, wire::Code::kUpdateConditionNotSatisfied);
}

TEST(DecodeCondition, FormsOfTags) {
  const Time time = *parse_date_time("2022-05-06T00:44:28.9094416Z");
  struct Case {
    std::string_view header;
    bool valid;
    Time timestamp;
  };
  service::TestContext around;
  for (const Case& c :
       std::initializer_list<Case>{{"W/\"datetime'2022-05-06T00%3A44%3A28.9094416Z'\"", true, time},
                                   {"W/\"datetime'2022-05-06T00:44:28.9094416Z'\"", true, time},
                                   {"\"datetime'2022-05-06T00%3a44%3a28.9094416Z'\"", false, {}},
                                   {"W/\"0x8D9\"", true, {}},
                                   {"W/\"datetime'x'\"", true, {}},
                                   {"W/\"\"", true, {}},
                                   {"\"0x8D9\"", false, {}},
                                   {"\"\"", false, {}},
                                   {"W/\"", false, {}},
                                   {"W/", false, {}},
                                   {"w/\"a\"", false, {}},
                                   {"W/a", false, {}},
                                   {"", false, {}},
                                   {"x", false, {}},
                                   {"W/\"a\", W/\"b\"", false, {}},
                                   {"W/\"a", false, {}}}) {
    service::TestCall call(around, {}, {{"If-Match", c.header}});
    const auto condition = decode_condition(call.call);
    ASSERT_EQ(condition.ok(), c.valid) << c.header;
    EXPECT_EQ(condition ? (*condition)->timestamp : Time{}, c.timestamp) << c.header;
  }
  service::TestCall any(around, {}, {{"If-Match", "*"}});
  EXPECT_TRUE((*decode_condition(any.call))->any);
  service::TestCall none(around);
  EXPECT_FALSE(*decode_condition(none.call));
  service::TestCall wrong(around, {}, {{"If-None-Match", "*"}});
  EXPECT_FALSE(decode_condition(wrong.call));
}

}  // namespace
}  // namespace kyanite::table
