#include "account/properties.h"

#include <gtest/gtest.h>

#include <functional>

#include "store/fields.h"

namespace kyanite::account {
namespace {

using wire::Service;

std::string properties_document(const std::string& sections) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties>" + sections +
         "</StorageServiceProperties>";
}

std::string metrics(const std::string& tag, const std::string& days) {
  return "<" + tag +
         "><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>" +
         "<RetentionPolicy><Enabled>true</Enabled><Days>" + days + "</Days></RetentionPolicy></" +
         tag + ">";
}

std::string cors_rule(const std::string& origins, const std::string& methods = "GET",
                      const std::string& allowed = "", const std::string& exposed = "",
                      const std::string& max_age = "0") {
  return "<CorsRule><AllowedOrigins>" + origins + "</AllowedOrigins><AllowedMethods>" + methods +
         "</AllowedMethods><AllowedHeaders>" + allowed + "</AllowedHeaders><ExposedHeaders>" +
         exposed + "</ExposedHeaders><MaxAgeInSeconds>" + max_age + "</MaxAgeInSeconds></CorsRule>";
}
std::string cors(const std::string& rules) {
  return properties_document("<Cors>" + rules + "</Cors>");
}

// "a0,a1,..."
std::string numbered(const std::string& stem, size_t count, const std::string& end = "") {
  std::string list;
  for (size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + stem + std::to_string(i) + end;
  return list;
}

bool accepts(const std::string& xml, Service service = Service::kBlob) {
  ServiceProperties properties;
  const auto merged = merge_properties(xml, service, properties);
  if (merged) return true;
  EXPECT_EQ(merged.error().code, wire::Code::kInvalidXmlDocument) << xml;
  return false;
}

const std::string kEverything = properties_document(
    "<Logging><Version>2.0</Version><Delete>true</Delete><Read>false</Read><Write>TRUE</Write>"
    "<RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging>" +
    metrics("HourMetrics", "1") + metrics("MinuteMetrics", "365") + "<Cors>" +
    cors_rule("http://a.com,http://b.com", "GET,PUT", "x-ms-meta-*,x", "*", "200") +
    cors_rule("*") +
    "</Cors><DefaultServiceVersion>2020-02-10</DefaultServiceVersion>"
    "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>30</Days>"
    "<AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>"
    "<StaticWebsite><Enabled>true</Enabled><IndexDocument>index.html</IndexDocument>"
    "<ErrorDocument404Path>404.html</ErrorDocument404Path></StaticWebsite>");

ServiceProperties everything() {
  ServiceProperties properties;
  EXPECT_TRUE(merge_properties(kEverything, Service::kBlob, properties).ok());
  return properties;
}

TEST(ServiceProperties, RefusesTextThatCouldNotBeToldBack) {
  EXPECT_TRUE(accepts(properties_document("<Cors>" + cors_rule("http://a") + "</Cors>")));
  for (const std::string origin : {"http://\xff", "http://\x01", "http://&#x1;", "http://&#xFFFE;"})
    EXPECT_FALSE(accepts(properties_document("<Cors>" + cors_rule(origin) + "</Cors>"))) << origin;
}

TEST(ServiceProperties, ReadsEverySection) {
  const auto properties = everything();
  EXPECT_EQ(properties.logging.version, "2.0");
  EXPECT_TRUE(properties.logging.deletes);
  EXPECT_FALSE(properties.logging.reads);
  EXPECT_TRUE(properties.logging.writes);
  EXPECT_EQ(properties.logging.retention.days, 7u);
  EXPECT_TRUE(properties.hour_metrics.enabled);
  EXPECT_TRUE(properties.hour_metrics.include_apis);
  EXPECT_EQ(properties.hour_metrics.retention.days, 1u);
  EXPECT_EQ(properties.minute_metrics.retention.days, 365u);
  ASSERT_EQ(properties.cors.size(), 2u);
  EXPECT_EQ(properties.cors[0].origins, "http://a.com,http://b.com");
  EXPECT_EQ(properties.cors[0].methods, "GET,PUT");
  EXPECT_EQ(properties.cors[0].allowed_headers, "x,x-ms-meta-*");
  EXPECT_EQ(properties.cors[0].exposed_headers, "*");
  EXPECT_EQ(properties.cors[0].max_age_s, 200u);
  EXPECT_EQ(properties.default_version, "2020-02-10");
  EXPECT_EQ(properties.delete_retention.days, 30u);
  EXPECT_TRUE(properties.delete_retention.allow_permanent_delete);
  EXPECT_TRUE(properties.static_website.enabled);
  EXPECT_EQ(properties.static_website.index_document, "index.html");
  EXPECT_EQ(properties.static_website.error_document_404, "404.html");
}

TEST(ServiceProperties, RoundTripThroughXmlAndRecord) {
  for (auto service : {Service::kBlob, Service::kQueue, Service::kTable, Service::kFile}) {
    for (const auto& properties : {everything(), ServiceProperties()}) {
      const std::string written = write_properties(properties, service, wire::Version{20260406});
      ServiceProperties read;
      ASSERT_TRUE(merge_properties(written, service, read).ok()) << written;
      EXPECT_EQ(write_properties(read, service, wire::Version{20260406}), written);
      const auto stored = store::decode<ServiceProperties>(store::encode(properties));
      ASSERT_TRUE(stored);
      EXPECT_EQ(write_properties(*stored, service, wire::Version{20260406}), written);
    }
  }
}

TEST(ServiceProperties, AnAbsentVersionIsTheFirstBeforeStoringAndAfter) {
  ServiceProperties properties;
  const auto xml = properties_document("<Logging><Read>true</Read></Logging>");
  ASSERT_TRUE(merge_properties(xml, Service::kBlob, properties).ok());
  const auto stored = store::decode<ServiceProperties>(store::encode(properties));
  ASSERT_TRUE(stored);
  for (const auto& each : {properties, *stored, ServiceProperties()}) {
    const auto written = write_properties(each, Service::kBlob, wire::Version{20260406});
    EXPECT_NE(written.find("<Logging><Version>1.0</Version>"), std::string::npos) << written;
  }
}

TEST(ServiceProperties, AbsentSectionsStay) {
  auto properties = everything();
  const std::string before = write_properties(properties, Service::kBlob, wire::Version{20260406});
  // A document without any section changes nothing.
  EXPECT_TRUE(merge_properties(properties_document(""), Service::kBlob, properties).ok());
  EXPECT_TRUE(merge_properties("<StorageServiceProperties/>", Service::kBlob, properties).ok());
  const auto of_queues =
      merge_properties("<StorageServiceProperties/>", Service::kQueue, properties);
  ASSERT_FALSE(of_queues.ok());
  EXPECT_EQ(of_queues.error().code, wire::Code::kInvalidXmlDocument);
  EXPECT_EQ(write_properties(properties, Service::kBlob, wire::Version{20260406}), before);

  ASSERT_TRUE(merge_properties(cors(""), Service::kBlob, properties).ok());
  EXPECT_TRUE(properties.cors.empty());
  EXPECT_EQ(properties.default_version, "2020-02-10");
  EXPECT_TRUE(properties.logging.deletes);
}

TEST(ServiceProperties, CorsListsNamesBeforePrefixes) {
  const std::pair<std::string, std::string> cases[] = {
      {"a-*,b-*,c,d", "c,d,a-*,b-*"}, {"c, a-*", "c,a-*"}, {"a, b", "a, b"}, {"*", "*"}, {"", ""}};
  for (const auto& [sent, kept] : cases) {
    ServiceProperties properties;
    ASSERT_TRUE(
        merge_properties(cors(cors_rule("*", "GET", sent, sent)), Service::kQueue, properties));
    EXPECT_EQ(properties.cors[0].allowed_headers, kept);
    EXPECT_EQ(properties.cors[0].exposed_headers, kept);
  }
}

TEST(ServiceProperties, TellsWhereARetentionPolicyIsWrong) {
  const auto policy = [](const std::string& inner) {
    return "<StorageServiceProperties>\n<DeleteRetentionPolicy>" + inner +
           "</DeleteRetentionPolicy></StorageServiceProperties>";
  };
  // The place is that of the name in the end tag.
  const struct {
    std::string xml;
    std::string position;
    std::string reason;
  } cases[] = {
      {policy(""), "26", "Element is missing: Enabled."},
      {policy("<Enabled>true</Enabled>"), "49", "Element is missing: Days."},
      {policy("<Enabled>true</Enabled><Days>366</Days>"), "65",
       "Retention days must be greater than 0 and less than or equal to 365 days."},
      {"<StorageServiceProperties>\n<DeleteRetentionPolicy /></StorageServiceProperties>", "2",
       "Element is missing: Enabled."},
  };
  for (const auto& [xml, position, reason] : cases) {
    ServiceProperties properties;
    const auto merged = merge_properties(xml, Service::kBlob, properties);
    ASSERT_FALSE(merged) << xml;
    const decltype(merged.error().details) expected = {
        {"LineNumber", "2"}, {"LinePosition", position}, {"Reason", reason}};
    EXPECT_EQ(merged.error().details, expected) << xml;
  }
}

TEST(ServiceProperties, RefusesBadDocuments) {
  const std::string cases[] = {
      "",
      "x",
      "<Other/>",
      "<StorageServiceProperties>",
      properties_document("<Unknown/>"),
      properties_document("text"),
      properties_document("<Logging><Delete>yes</Delete></Logging>"),
      properties_document("<HourMetrics><Enabled/></HourMetrics>"),
      properties_document("<DefaultServiceVersion>new</DefaultServiceVersion>"),
      properties_document("<DefaultServiceVersion/>"),
      properties_document("<StaticWebsite><Enabled>1</Enabled></StaticWebsite>"),
      properties_document("<DeleteRetentionPolicy><Enabled>true</Enabled></DeleteRetentionPolicy>"),
      properties_document("<DeleteRetentionPolicy/>"),
      properties_document("<DeleteRetentionPolicy><Days>3</Days></DeleteRetentionPolicy>"),
      properties_document("<HourMetrics><RetentionPolicy></RetentionPolicy></HourMetrics>"),
      cors(cors_rule("")),
      cors(cors_rule(" , ")),
      cors(cors_rule("*", "")),
      cors(cors_rule("*", "GET,FETCH")),
      cors(cors_rule("*", "get")),
      cors(cors_rule("*", "GET", "x*y")),
      cors(cors_rule("*", "GET", "", "*x")),
      cors(cors_rule("*", "GET", "x**")),
      cors(cors_rule("*", "GET", "", "", "-1")),
      cors(cors_rule("*", "GET", "", "", "1.5")),
  };
  for (const auto& xml : cases) EXPECT_FALSE(accepts(xml)) << xml;
}

TEST(ServiceProperties, ProtocolSettingsOfFiles) {
  const auto smb = [](const std::string& inside) {
    return properties_document("<ProtocolSettings><SMB>" + inside + "</SMB></ProtocolSettings>");
  };
  const std::string channels = "<Multichannel><Enabled>true</Enabled></Multichannel>";
  const std::string sealed = "<EncryptionInTransit><Required>true</Required></EncryptionInTransit>";
  ServiceProperties properties;
  ASSERT_TRUE(merge_properties(smb(channels), Service::kFile, properties).ok());
  EXPECT_TRUE(properties.protocols.smb_multichannel);
  EXPECT_FALSE(properties.protocols.smb_encryption_required);
  // What is not mentioned stays.
  ASSERT_TRUE(merge_properties(smb(sealed), Service::kFile, properties).ok());
  EXPECT_TRUE(properties.protocols.smb_multichannel);
  EXPECT_EQ(properties.protocols.smb_encryption_required, true);

  const auto stored = store::decode<ServiceProperties>(store::encode(properties));
  ASSERT_TRUE(stored);
  const std::string written = write_properties(*stored, Service::kFile, wire::Version{20260406});
  EXPECT_NE(written.find("<ProtocolSettings><SMB>" + channels + sealed + "</SMB>"),
            std::string::npos);
  EXPECT_EQ(write_properties(*stored, Service::kFile, wire::Version{20181109}).find("Protocol"),
            std::string::npos);

  EXPECT_FALSE(accepts(smb("<Multichannel><Enabled>1</Enabled></Multichannel>"), Service::kFile));
  EXPECT_FALSE(accepts(smb(channels), Service::kBlob));
}

TEST(ServiceProperties, SectionsBelongToServices) {
  const std::string logging = properties_document("<Logging><Version>1.0</Version></Logging>");
  const std::string version =
      properties_document("<DefaultServiceVersion>2020-02-10</DefaultServiceVersion>");
  const std::string website =
      properties_document("<StaticWebsite><Enabled>false</Enabled></StaticWebsite>");
  EXPECT_TRUE(accepts(logging, Service::kQueue));
  EXPECT_FALSE(accepts(logging, Service::kFile));
  for (auto service : {Service::kQueue, Service::kTable, Service::kFile}) {
    EXPECT_FALSE(accepts(version, service));
    EXPECT_FALSE(accepts(website, service));
  }
}

TEST(ServiceProperties, RetentionIsOneToThreeHundredAndSixtyFiveDays) {
  const std::pair<const char*, bool> cases[] = {{"0", false},         {"1", true}, {"365", true},
                                                {"366", false},       {"", false}, {"-1", false},
                                                {"4294967297", false}};
  for (const auto& [days, fine] : cases) {
    EXPECT_EQ(accepts(properties_document(metrics("HourMetrics", days))), fine) << days;
    EXPECT_EQ(accepts(properties_document(
                  std::string("<DeleteRetentionPolicy><Enabled>true</Enabled><Days>") + days +
                  "</Days></DeleteRetentionPolicy>")),
              fine)
        << days;
  }
  // Days of a policy that is off do not matter.
  EXPECT_TRUE(accepts(properties_document(
      "<DeleteRetentionPolicy><Enabled>false</Enabled><Days>0</Days></DeleteRetentionPolicy>")));
}

TEST(ServiceProperties, LimitsOfCorsRules) {
  std::string rules;
  for (size_t i = 0; i < kMaxCorsRules; ++i) rules += cors_rule("*");
  EXPECT_TRUE(accepts(cors(rules)));
  EXPECT_FALSE(accepts(cors(rules + cors_rule("*"))));

  EXPECT_TRUE(accepts(cors(cors_rule(numbered("o", kMaxCorsOrigins)))));
  EXPECT_FALSE(accepts(cors(cors_rule(numbered("o", kMaxCorsOrigins + 1)))));
  EXPECT_TRUE(accepts(cors(cors_rule(std::string(kMaxCorsNameLength, 'o')))));
  EXPECT_FALSE(accepts(cors(cors_rule(std::string(kMaxCorsNameLength + 1, 'o')))));

  // Allowed and exposed headers have the same limits, each for itself.
  const auto allowed = [](const std::string& list) { return cors(cors_rule("*", "GET", list)); };
  const auto exposed = [](const std::string& list) {
    return cors(cors_rule("*", "GET", "", list));
  };
  const std::string names = numbered("h", kMaxCorsHeaders);
  const std::string prefixes = numbered("p", kMaxCorsPrefixes, "*");
  const std::string long_name(kMaxCorsNameLength, 'n');
  for (const auto& with : {std::function(allowed), std::function(exposed)}) {
    EXPECT_TRUE(accepts(with(names + "," + prefixes)));
    EXPECT_FALSE(accepts(with(names + ",one-more")));
    EXPECT_FALSE(accepts(with(prefixes + ",one-more-*")));
    EXPECT_TRUE(accepts(with(long_name)));
    EXPECT_FALSE(accepts(with(long_name + "n")));
  }
  EXPECT_TRUE(accepts(cors(cors_rule("*", "GET", names + "," + prefixes, names + "," + prefixes))));
}

TEST(ServiceProperties, CorsRulesTogetherAreLimitedToTwoKibibytes) {
  // Two rules of 6 origins of 160 characters each: "GET" and "0" bring each to 6 * 160 + 5 + 4.
  const auto rules = [](size_t more) {
    std::string origins;
    for (int i = 0; i < 6; ++i) origins += (i == 0 ? "" : ",") + std::string(160, 'o');
    return cors(cors_rule(origins) + cors_rule(origins, "GET", std::string(more, 'h')));
  };
  const size_t used = 2 * (6 * 160 + 5 + 4);
  EXPECT_TRUE(accepts(rules(kMaxCorsBytes - used)));
  EXPECT_FALSE(accepts(rules(kMaxCorsBytes - used + 1)));
}

}  // namespace
}  // namespace kyanite::account
