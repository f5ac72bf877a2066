// The Queue service row by row: operations, ranges, the life of a message, receipts, documents.
#include "queue/service.h"

#include "queue/parameters.h"
#include "queue/test_support.h"

namespace kyanite::queue {
namespace {

class QueueServiceTest : public testing::Test {
 protected:
  QueueServiceTest() { test.create(); }
  void advance(int64_t seconds) { test.around.clock.advance_seconds(seconds); }
  // The only message of an answer.
  static Answer::Message only(const Answer& answer) {
    EXPECT_LT(answer.status, 300) << answer.code;
    const auto messages = answer.messages();
    EXPECT_EQ(messages.size(), 1u);
    return messages.empty() ? Answer::Message() : messages[0];
  }
  TestService test;
};

struct RefusedCase {
  const char* name;
  TestService::Request request;
  int status;
  const char* code;
};
class Refused : public QueueServiceTest, public testing::WithParamInterface<RefusedCase> {};

TEST_P(Refused, WithStatusAndCode) {
  const auto& expected = GetParam();
  const auto answer = test.send(expected.request);
  EXPECT_EQ(answer.status, expected.status);
  EXPECT_EQ(answer.code, expected.code);
  EXPECT_EQ(test.count(), "0");
}

constexpr const char* kText = "<QueueMessage><MessageText>hello</MessageText></QueueMessage>";
constexpr const char* kGoodTicket =
    "popreceipt=AwAAAEtZMUgI3pp%2BmnG5AAAAAAAAAAAB&visibilitytimeout=0";
constexpr const char* kMessagePath = "jobs/messages/1ede34ab-0000-6000-8000-000000000001";
constexpr const char* kOutOfRange = "OutOfRangeQueryParameterValue";
constexpr const char* kInvalid = "InvalidQueryParameterValue";
constexpr const char* kMissing = "MissingRequiredQueryParameter";

INSTANTIATE_TEST_SUITE_P(
    Queue, Refused,
    testing::Values(
        RefusedCase{"NameTooShort", {"PUT", "ab"}, 400, "OutOfRangeInput"},
        RefusedCase{"NameTooLong",
                    {"PUT", "a123456789012345678901234567890123456789012345678901234567890123"},
                    400,
                    "OutOfRangeInput"},
        RefusedCase{"NameUpperCase", {"PUT", "Jobs"}, 400, "InvalidResourceName"},
        RefusedCase{"NameTwoDashes", {"PUT", "jo--bs"}, 400, "InvalidResourceName"},
        RefusedCase{"NameDashAtEnd", {"PUT", "jobs-"}, 400, "InvalidResourceName"},
        RefusedCase{"OtherMetadata",
                    {"PUT", "jobs", "", "", "2021-02-12", {{"x-ms-meta-a", "b"}}},
                    409,
                    "QueueAlreadyExists"},
        RefusedCase{"MetadataWithoutName",
                    {"PUT", "jobs", "comp=metadata", "", "2021-02-12", {{"x-ms-meta-", "b"}}},
                    400,
                    "EmptyMetadataKey"},
        RefusedCase{"MetadataBadName",
                    {"PUT", "jobs", "comp=metadata", "", "2021-02-12", {{"x-ms-meta-a-b", "b"}}},
                    400,
                    "InvalidMetadata"},
        RefusedCase{"DeleteMissing", {"DELETE", "none"}, 404, "QueueNotFound"},
        RefusedCase{"MetadataMissing", {"GET", "none", "comp=metadata"}, 404, "QueueNotFound"},
        RefusedCase{"SetMetadataMissing", {"PUT", "none", "comp=metadata"}, 404, "QueueNotFound"},
        RefusedCase{"AclMissing", {"GET", "none", "comp=acl"}, 404, "QueueNotFound"},
        RefusedCase{"SetAclMissing", {"PUT", "none", "comp=acl"}, 404, "QueueNotFound"},
        RefusedCase{"PutMissing", {"POST", "none/messages", "", kText}, 404, "QueueNotFound"},
        RefusedCase{"GetMissing", {"GET", "none/messages"}, 404, "QueueNotFound"},
        RefusedCase{"PeekMissing", {"GET", "none/messages", "peekonly=true"}, 404, "QueueNotFound"},
        RefusedCase{"ClearMissing", {"DELETE", "none/messages"}, 404, "QueueNotFound"},
        RefusedCase{"DeleteMessageMissing",
                    {"DELETE", "none/messages/x", kGoodTicket},
                    404,
                    "QueueNotFound"},
        RefusedCase{"UpdateMissing", {"PUT", "none/messages/x", kGoodTicket}, 404, "QueueNotFound"},
        RefusedCase{"OtherPath", {"GET", "jobs/other"}, 400, "InvalidUri"},
        RefusedCase{"WrongVerb", {"PATCH", "jobs/messages"}, 405, "UnsupportedHttpVerb"},
        RefusedCase{"CountZero", {"GET", "jobs/messages", "numofmessages=0"}, 400, kOutOfRange},
        RefusedCase{"Count33", {"GET", "jobs/messages", "numofmessages=33"}, 400, kOutOfRange},
        RefusedCase{"CountText", {"GET", "jobs/messages", "numofmessages=x"}, 400, kInvalid},
        RefusedCase{"PeekCount33",
                    {"GET", "jobs/messages", "peekonly=true&numofmessages=33"},
                    400,
                    kOutOfRange},
        RefusedCase{
            "GetHideZero", {"GET", "jobs/messages", "visibilitytimeout=0"}, 400, kOutOfRange},
        RefusedCase{"GetHideTooLong",
                    {"GET", "jobs/messages", "visibilitytimeout=604801"},
                    400,
                    kOutOfRange},
        RefusedCase{"GetHideTooLongOnce",
                    {"GET", "jobs/messages", "visibilitytimeout=7201", "", "2009-09-19"},
                    400,
                    kOutOfRange},
        RefusedCase{"PutHideNegative",
                    {"POST", "jobs/messages", "visibilitytimeout=-1", kText},
                    400,
                    kOutOfRange},
        RefusedCase{"PutHideTooLong",
                    {"POST", "jobs/messages", "visibilitytimeout=604801&messagettl=-1", kText},
                    400,
                    kOutOfRange},
        RefusedCase{"PutHideAsLongAsLife",
                    {"POST", "jobs/messages", "visibilitytimeout=5&messagettl=5", kText},
                    400,
                    kInvalid},
        RefusedCase{"LifeZero", {"POST", "jobs/messages", "messagettl=0", kText}, 400, kOutOfRange},
        RefusedCase{
            "LifeMinusTwo", {"POST", "jobs/messages", "messagettl=-2", kText}, 400, kOutOfRange},
        RefusedCase{"LifeLongOnce",
                    {"POST", "jobs/messages", "messagettl=604801", kText, "2017-04-17"},
                    400,
                    kOutOfRange},
        RefusedCase{"LifeForeverOnce",
                    {"POST", "jobs/messages", "messagettl=-1", kText, "2017-04-17"},
                    400,
                    kOutOfRange},
        RefusedCase{"NoBody", {"POST", "jobs/messages"}, 400, "InvalidXmlDocument"},
        RefusedCase{"NotXml", {"POST", "jobs/messages", "", "hello"}, 400, "InvalidXmlDocument"},
        RefusedCase{"CutShort",
                    {"POST", "jobs/messages", "", "<QueueMessage><MessageText>"},
                    400,
                    "InvalidXmlDocument"},
        RefusedCase{"NoText",
                    {"POST", "jobs/messages", "", "<QueueMessage></QueueMessage>"},
                    400,
                    "MissingRequiredXmlNode"},
        RefusedCase{"ControlCharacter",
                    {"POST", "jobs/messages", "",
                     "<QueueMessage><MessageText>\x01</MessageText></QueueMessage>"},
                    400,
                    "InvalidXmlDocument"},
        RefusedCase{"ControlReference",
                    {"POST", "jobs/messages", "",
                     "<QueueMessage><MessageText>&#1;</MessageText></QueueMessage>"},
                    400,
                    "InvalidXmlDocument"},
        RefusedCase{"NoReceipt", {"DELETE", kMessagePath}, 400, kMissing},
        RefusedCase{"BadReceipt", {"DELETE", kMessagePath, "popreceipt=no+receipt"}, 400, kInvalid},
        RefusedCase{"UnknownReceipt",
                    {"DELETE", "jobs/messages/1", "popreceipt=nonsense"},
                    404,
                    "MessageNotFound"},
        RefusedCase{"UnknownId", {"DELETE", kMessagePath, kGoodTicket}, 404, "MessageNotFound"},
        RefusedCase{"NoGuid", {"DELETE", "jobs/messages/1", kGoodTicket}, 404, "MessageNotFound"},
        RefusedCase{"UpdateUnknown", {"PUT", kMessagePath, kGoodTicket}, 404, "MessageNotFound"},
        RefusedCase{"UpdateBadReceipt",
                    {"PUT", kMessagePath, "popreceipt=no+receipt&visibilitytimeout=0"},
                    400,
                    kInvalid},
        RefusedCase{"UpdateNoVisibility",
                    {"PUT", kMessagePath, "popreceipt=AwAAAEtZMUgI3pp%2BmnG5AAAAAAAAAAAB"},
                    400,
                    kMissing},
        RefusedCase{"UpdateTooLong",
                    {"PUT", kMessagePath,
                     "popreceipt=AwAAAEtZMUgI3pp%2BmnG5AAAAAAAAAAAB&visibilitytimeout=604801"},
                    400,
                    kOutOfRange},
        RefusedCase{"IncludeUnknown", {"GET", "", "comp=list&include=tags"}, 400, kInvalid},
        RefusedCase{"MaxResultsZero", {"GET", "", "comp=list&maxresults=0"}, 400, kOutOfRange}),
    [](const auto& each) { return each.param.name; });

TEST_F(QueueServiceTest, RangeErrorsNameTheRange) {
  const auto answer = test.get("numofmessages=33");
  EXPECT_EQ(answer.detail("QueryParameterName"), "numofmessages");
  EXPECT_EQ(answer.detail("QueryParameterValue"), "33");
  EXPECT_EQ(answer.detail("MinimumAllowed"), "1");
  EXPECT_EQ(answer.detail("MaximumAllowed"), "32");
  const auto malformed = test.send({"DELETE", kMessagePath, "popreceipt=no+receipt"});
  EXPECT_EQ(malformed.detail("QueryParameterName"), "popreceipt");
  EXPECT_EQ(malformed.detail("Reason"), "Invalid pop receipt format");
}

TEST_F(QueueServiceTest, AcceptsTheEndsOfEveryRange) {
  for (const char* query : {"visibilitytimeout=604800&messagettl=-1", "messagettl=1",
                            "visibilitytimeout=0&messagettl=1", "messagettl=1073741824",
                            "messagettl=2147483647", "visibilitytimeout=4&messagettl=5"}) {
    EXPECT_EQ(test.put("x", query).status, 201) << query;
  }
  for (const char* query : {"numofmessages=1", "numofmessages=32", "visibilitytimeout=1",
                            "visibilitytimeout=604800", "peekonly=false"}) {
    EXPECT_EQ(test.get(query).status, 200) << query;
  }
}

TEST_F(QueueServiceTest, CreatingAgainIsFineWithTheSameMetadata) {
  EXPECT_EQ(test.send({"PUT", "jobs"}).status, 204);
  const TestService::Request with{
      "PUT", "more", "", "", "2021-02-12", {{"x-ms-meta-a", "1"}, {"x-ms-meta-b", "2"}}};
  const TestService::Request reordered{
      "PUT", "more", "", "", "2021-02-12", {{"x-ms-meta-B", "2"}, {"x-ms-meta-a", "1"}}};
  EXPECT_EQ(test.send(with).status, 201);
  EXPECT_EQ(test.send(reordered).status, 204);
  EXPECT_EQ(test.send({"PUT", "more"}).code, "QueueAlreadyExists");
}

TEST_F(QueueServiceTest, MetadataIsReplacedAsAWhole) {
  const TestService::Request set{"PUT", "jobs",       "comp=metadata",
                                 "",    "2021-02-12", {{"x-ms-meta-Colour", "blue"}}};
  EXPECT_EQ(test.send(set).status, 204);
  for (const char* method : {"GET", "HEAD"}) {
    const auto answer = test.send({method, "jobs", "comp=metadata"});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("x-ms-meta-Colour"), "blue");
    EXPECT_EQ(answer.header("x-ms-approximate-messages-count"), "0");
    EXPECT_EQ(answer.header("Cache-Control"), "no-cache");
  }
  EXPECT_EQ(test.send({"PUT", "jobs", "comp=metadata"}).status, 204);
  EXPECT_EQ(test.send({"GET", "jobs", "comp=metadata"}).header("x-ms-meta-Colour"), "");
}

TEST_F(QueueServiceTest, PoliciesComeBack) {
  const char* document =
      "<SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy><Permission>raup</Permission>"
      "</AccessPolicy></SignedIdentifier></SignedIdentifiers>";
  EXPECT_EQ(test.send({"PUT", "jobs", "comp=acl", document}).status, 204);
  const auto answer = test.send({"GET", "jobs", "comp=acl"});
  EXPECT_NE(answer.body.find("<Permission>raup</Permission>"), std::string::npos);
  std::string six = "<SignedIdentifiers>";
  for (int i = 0; i < 6; ++i) {
    six += "<SignedIdentifier><Id>" + std::to_string(i) + "</Id></SignedIdentifier>";
  }
  six += "</SignedIdentifiers>";
  EXPECT_EQ(test.send({"PUT", "jobs", "comp=acl", six}).code, "InvalidXmlDocument");
}

TEST_F(QueueServiceTest, ListsByNameAndPage) {
  const TestService::Request with{"PUT", "joke", "", "", "2021-02-12", {{"x-ms-meta-a", "1"}}};
  test.send(with);
  test.send({"PUT", "other"});
  const auto first = test.send({"GET", "", "comp=list&prefix=jo&maxresults=1&include=metadata"});
  EXPECT_NE(first.body.find("<Queue><Name>jobs</Name><Metadata /></Queue>"), std::string::npos)
      << first.body;
  const size_t from = first.body.find("<NextMarker>") + 12;
  const std::string marker = first.body.substr(from, first.body.find('<', from) - from);
  const std::string query = "comp=list&prefix=jo&include=metadata&marker=" + marker;
  const auto second = test.send({"GET", "", query});
  EXPECT_NE(second.body.find("<Name>joke</Name><Metadata><a>1</a></Metadata>"), std::string::npos);
  EXPECT_EQ(second.body.find("other"), std::string::npos);
  EXPECT_NE(second.body.find("<NextMarker />"), std::string::npos);
}

TEST_F(QueueServiceTest, DeletedQueueIsGoneAndItsNameFree) {
  test.put("old");
  EXPECT_EQ(test.send({"DELETE", "jobs"}).status, 204);
  EXPECT_EQ(test.get().code, "QueueNotFound");
  test.create();
  EXPECT_EQ(test.count(), "0");
  EXPECT_TRUE(test.get().messages().empty());
}

TEST_F(QueueServiceTest, PutAnswersWithWhatItTakesToDelete) {
  const auto answer = test.put("hello", "messagettl=100&visibilitytimeout=10");
  EXPECT_EQ(answer.status, 201);
  const auto message = only(answer);
  EXPECT_EQ(message.elements, "MessageId InsertionTime ExpirationTime PopReceipt TimeNextVisible ");
  EXPECT_EQ(message.inserted, "Tue, 14 Nov 2023 22:13:20 GMT");
  EXPECT_EQ(message.next_visible, "Tue, 14 Nov 2023 22:13:30 GMT");
  EXPECT_EQ(message.expires, "Tue, 14 Nov 2023 22:15:00 GMT");
  EXPECT_EQ(test.remove(message).status, 204);
  EXPECT_EQ(test.count(), "0");
}

TEST_F(QueueServiceTest, OldVersionsGetNoBodyFromPut) {
  const auto answer = test.send({"POST", "jobs/messages", "", kText, "2015-12-11"});
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(only(test.get()).text, "hello");
}

TEST_F(QueueServiceTest, LivesAWeekUnlessToldOtherwise) {
  EXPECT_EQ(only(test.put("x")).expires, "Tue, 21 Nov 2023 22:13:20 GMT");
  EXPECT_EQ(only(test.put("x", "messagettl=-1")).expires, "Fri, 31 Dec 9999 23:59:59 GMT");
  advance(7 * 24 * 3600);
  EXPECT_EQ(test.get("numofmessages=32").messages().size(), 1u);
}

TEST_F(QueueServiceTest, GetHidesCountsAndGivesAReceipt) {
  const auto put = only(test.put("hello"));
  const auto first = only(test.get());
  EXPECT_EQ(first.elements,
            "MessageId InsertionTime ExpirationTime PopReceipt TimeNextVisible DequeueCount "
            "MessageText ");
  EXPECT_EQ(first.id, put.id);
  EXPECT_NE(first.receipt, put.receipt);
  EXPECT_EQ(first.dequeue_count, "1");
  EXPECT_EQ(first.next_visible, "Tue, 14 Nov 2023 22:13:50 GMT");
  EXPECT_TRUE(test.get().messages().empty());
  advance(29);
  EXPECT_TRUE(test.get().messages().empty());
  advance(1);
  const auto second = only(test.get("visibilitytimeout=5"));
  EXPECT_EQ(second.dequeue_count, "2");
  EXPECT_NE(second.receipt, first.receipt);
  EXPECT_EQ(test.remove(first).code, "MessageNotFound");
  EXPECT_EQ(test.remove(second).status, 204);
  EXPECT_EQ(test.remove(second).code, "MessageNotFound");
}

TEST_F(QueueServiceTest, ReappearsToTheTick) {
  test.put("x");
  const Time taken = test.around.clock.now();
  only(test.get("visibilitytimeout=10"));
  test.around.clock.set({after_seconds(taken, 10).ticks - 1});
  EXPECT_TRUE(test.get().messages().empty());
  test.around.clock.set(after_seconds(taken, 10));
  EXPECT_EQ(test.get().messages().size(), 1u);
}

TEST_F(QueueServiceTest, OldReceiptIsGoodUntilTheNextGet) {
  test.put("x");
  const auto taken = only(test.get());
  advance(1000);
  const auto updated = test.update(taken, "0");
  EXPECT_EQ(updated.status, 204);
  EXPECT_EQ(test.remove(taken).code, "MessageNotFound");
}

TEST_F(QueueServiceTest, ANonsenseReceiptIsMalformedForAMessageThatIsThere) {
  test.put("x");
  auto message = only(test.get());
  std::string receipt = std::exchange(message.receipt, "nonsense");
  EXPECT_EQ(test.remove(message).code, "InvalidQueryParameterValue");
  EXPECT_EQ(test.update(message, "0").code, "InvalidQueryParameterValue");
  std::swap(message.receipt, receipt);
  EXPECT_EQ(test.remove(message).status, 204);
  std::swap(message.receipt, receipt);
  EXPECT_EQ(test.update(message, "0").code, "MessageNotFound");
}

TEST_F(QueueServiceTest, UpdateChangesVisibilityTextAndReceipt) {
  const auto put = only(test.put("one"));
  const auto hidden = test.update(put, "60", TestService::document("two"));
  EXPECT_EQ(hidden.status, 204);
  EXPECT_EQ(hidden.header("x-ms-time-next-visible"), "Tue, 14 Nov 2023 22:14:20 GMT");
  EXPECT_TRUE(test.get().messages().empty());
  auto now = put;
  now.receipt = hidden.header("x-ms-popreceipt");
  EXPECT_NE(now.receipt, put.receipt);
  EXPECT_EQ(test.update(put, "0").code, "MessageNotFound");
  EXPECT_EQ(test.update(now, "0").status, 204);
  const auto taken = only(test.get());
  EXPECT_EQ(taken.text, "two");
  EXPECT_EQ(taken.dequeue_count, "1");
}

TEST_F(QueueServiceTest, UpdateToTheSameInstantChangesTheReceipt) {
  test.put("x");
  const auto taken = only(test.get("visibilitytimeout=30"));
  const auto updated = test.update(taken, "30");
  EXPECT_EQ(updated.status, 204);
  EXPECT_EQ(test.remove(taken).code, "MessageNotFound");
  auto now = taken;
  now.receipt = updated.header("x-ms-popreceipt");
  advance(30);
  EXPECT_EQ(test.get().messages().size(), 1u);
}

TEST_F(QueueServiceTest, UpdateCannotOutliveTheMessage) {
  const auto put = only(test.put("x", "messagettl=100"));
  EXPECT_EQ(test.update(put, "101").code, kOutOfRange);
  EXPECT_EQ(test.update(put, "100").status, 204);
}

TEST_F(QueueServiceTest, PeekShowsAndChangesNothing) {
  test.put("one");
  test.put("hidden", "visibilitytimeout=10");
  test.put("two");
  for (int i = 0; i < 2; ++i) {
    const auto seen = test.peek().messages();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].text, "one");
    EXPECT_EQ(seen[1].text, "two");
    EXPECT_EQ(seen[0].elements, "MessageId InsertionTime ExpirationTime DequeueCount MessageText ");
    EXPECT_EQ(seen[0].dequeue_count, "0");
  }
  EXPECT_EQ(test.peek("numofmessages=1").messages().size(), 1u);
  EXPECT_EQ(only(test.get()).dequeue_count, "1");
}

TEST_F(QueueServiceTest, EmptyQueueAnswersAnEmptyList) {
  for (const auto& answer : {test.get(), test.peek()}) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body,
              "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><QueueMessagesList />");
  }
}

TEST_F(QueueServiceTest, FirstVisibleFirstOut) {
  for (const char* text : {"1", "2", "3"}) test.put(text);
  test.put("later", "visibilitytimeout=1");
  advance(2);
  test.put("last");
  std::string order;
  for (const auto& message : test.get("numofmessages=32").messages()) order += message.text + " ";
  EXPECT_EQ(order, "1 2 3 later last ");
}

TEST_F(QueueServiceTest, ExpiredMessagesVanish) {
  const auto put = only(test.put("x", "messagettl=10"));
  test.put("y", "messagettl=20");
  EXPECT_EQ(test.count(), "2");
  advance(10);
  EXPECT_EQ(test.count(), "1");
  EXPECT_EQ(test.peek().messages().size(), 1u);
  EXPECT_EQ(only(test.get("numofmessages=32")).text, "y");
  EXPECT_EQ(test.remove(put).code, "MessageNotFound");
  EXPECT_EQ(test.update(put, "0").code, "MessageNotFound");
}

TEST_F(QueueServiceTest, ExpiresWhileHidden) {
  test.put("x", "messagettl=10");
  const auto taken = only(test.get("visibilitytimeout=100"));
  advance(100);
  EXPECT_TRUE(test.get().messages().empty());
  EXPECT_EQ(test.remove(taken).code, "MessageNotFound");
}

TEST_F(QueueServiceTest, ClearTakesEverythingAndNothingElse) {
  test.put("x");
  const auto taken = only(test.get());
  test.put("y");
  test.put("z", "visibilitytimeout=10");
  EXPECT_EQ(test.count(), "3");
  EXPECT_EQ(test.send({"DELETE", "jobs/messages"}).status, 204);
  EXPECT_EQ(test.count(), "0");
  EXPECT_EQ(test.remove(taken).code, "MessageNotFound");
  advance(100);
  EXPECT_TRUE(test.get().messages().empty());
  test.put("new");
  EXPECT_EQ(only(test.get()).text, "new");
}

struct TextCase {
  const char* name;
  const char* sent;
  std::string kept;
};
class Texts : public QueueServiceTest, public testing::WithParamInterface<TextCase> {};
TEST_P(Texts, ComeBackAsTheyWere) {
  EXPECT_EQ(test.put(GetParam().sent).status, 201);
  EXPECT_EQ(only(test.peek()).text, GetParam().kept);
  EXPECT_EQ(only(test.get()).text, GetParam().kept);
}
INSTANTIATE_TEST_SUITE_P(Queue, Texts,
                         testing::Values(TextCase{"Empty", "", ""}, TextCase{"Blanks", "  ", "  "},
                                         TextCase{"Escaped", "&lt;a&gt; &amp; b", "<a> & b"},
                                         TextCase{"Cdata", "<![CDATA[<a>]]>b", "<a>b"},
                                         TextCase{"Unicode", "\xE5\x95\x8A\xF0\x9F\x98\x80",
                                                  "\xE5\x95\x8A\xF0\x9F\x98\x80"},
                                         TextCase{"Reference", "&#x554A;", "\xE5\x95\x8A"},
                                         TextCase{"Markup", "a<b>c</b>d", "ad"}),
                         [](const auto& each) { return each.param.name; });

TEST_F(QueueServiceTest, TextsOfEverySizeUpToTheLimit) {
  for (const size_t size : {kMaxInlineText, kMaxInlineText + 1, kMaxTextBytes}) {
    const std::string text(size, 'x');
    ASSERT_EQ(test.put(text).status, 201) << size;
    EXPECT_EQ(only(test.peek()).text, text);
    auto taken = only(test.get());
    EXPECT_EQ(taken.text, text);
    // From long to short and back.
    for (const size_t other : {size_t{1}, kMaxTextBytes, kMaxTextBytes - 1}) {
      const std::string changed(other, 'y');
      const auto updated = test.update(taken, "0", TestService::document(changed));
      ASSERT_EQ(updated.status, 204);
      taken = only(test.get());
      EXPECT_EQ(taken.text, changed);
    }
    EXPECT_EQ(test.remove(taken).status, 204);
  }
  const auto refused = test.put(std::string(kMaxTextBytes + 1, 'x'));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.code, "RequestBodyTooLarge");
  EXPECT_EQ(test.put(std::string(10 * kMaxTextBytes, 'x')).status, 413);
  // Nothing is left of any of them.
  EXPECT_EQ(test.count(), "0");
}

TEST_F(QueueServiceTest, BelongsToNoOtherQueue) {
  test.send({"PUT", "other"});
  const auto put = only(test.put("x"));
  const std::string path = "other/messages/" + put.id;
  EXPECT_EQ(test.send({"DELETE", path, TestService::receipt_query(put.receipt)}).code,
            "MessageNotFound");
}

}  // namespace
}  // namespace kyanite::queue
