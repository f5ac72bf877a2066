// How libFuzzer changes the stories of front_fuzz: besides its own changes of bytes, steps made
// from the services' operation tables come and go, and steps get other lines, parameters, flags and
// paths. What the tables know is never out of date here; the values below are worth a try.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blob/operations.h"
#include "file/operations.h"
#include "fuzz/story_script.h"
#include "queue/operations.h"
#include "service/operation.h"
#include "table/operations.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {
using namespace kyanite;
using service::Operation;
using Texts = std::vector<std::string_view>;

struct Known {
  std::string_view name;
  Texts values;
};

const std::vector<Known> kHeaders = {
    {"x-ms-blob-type", {"BlockBlob", "PageBlob", "AppendBlob"}},
    {"x-ms-version", {"2026-04-06", "2015-02-21", "2009-09-19", "2011-08-18", "2019-12-12"}},
    {"x-ms-lease-action", {"acquire", "renew", "change", "release", "break"}},
    {"x-ms-lease-duration", {"15", "60", "-1", "61"}},
    {"x-ms-lease-break-period", {"0", "10", "60"}},
    {"x-ms-lease-id", {"{x-ms-lease-id}", "c9da6455-213d-42c9-9a79-3e9149a57833"}},
    {"x-ms-proposed-lease-id",
     {"c9da6455-213d-42c9-9a79-3e9149a57833", "d9da6455-213d-42c9-9a79-3e9149a57833"}},
    {"x-ms-source-lease-id", {"{x-ms-lease-id}"}},
    {"x-ms-destination-lease-id", {"{x-ms-lease-id}"}},
    {"x-ms-meta-a", {"1", "", "\xc3\xa4", "<&>"}},
    {"x-ms-meta-B", {"2"}},
    {"x-ms-tags", {"a=1", "a=1&b=2", "k%20=v"}},
    {"x-ms-if-tags", {"\"a\" = '1'", "a > '0'"}},
    {"x-ms-access-tier", {"Hot", "Cool", "Archive", "P10", "TransactionOptimized"}},
    {"x-ms-rehydrate-priority", {"High", "Standard"}},
    {"x-ms-blob-content-length", {"512", "1024", "0", "8796093022208"}},
    {"x-ms-blob-sequence-number", {"1", "0", "9223372036854775807"}},
    {"x-ms-sequence-number-action", {"max", "update", "increment"}},
    {"x-ms-if-sequence-number-le", {"1"}},
    {"x-ms-if-sequence-number-lt", {"1"}},
    {"x-ms-if-sequence-number-eq", {"0"}},
    {"x-ms-blob-content-type", {"text/plain"}},
    {"x-ms-blob-content-md5", {"1B2M2Y8AsgTpgAmY7PhCfg=="}},
    {"x-ms-blob-condition-maxsize", {"4"}},
    {"x-ms-blob-condition-appendpos", {"0", "4"}},
    {"x-ms-page-write", {"update", "clear"}},
    {"x-ms-write", {"update", "clear"}},
    {"x-ms-range", {"bytes=0-511", "bytes=0-3", "bytes=1-", "bytes=512-1023", "bytes=0-0"}},
    {"Range", {"bytes=0-3", "bytes=2-"}},
    {"x-ms-range-get-content-md5", {"true"}},
    {"x-ms-range-get-content-crc64", {"true"}},
    {"x-ms-source-range", {"bytes=0-511", "bytes=0-3"}},
    {"x-ms-copy-source",
     {"http://127.0.0.1:10000/devstoreaccount1/con/b?{sas}",
      "http://127.0.0.1:10000/devstoreaccount1/con/p?{sas}",
      "http://127.0.0.1:10000/devstoreaccount1/con/p?snapshot={x-ms-snapshot}&{sas}",
      "http://127.0.0.1:10000/devstoreaccount2/con/b?{sas2}",
      "http://127.0.0.1:10004/devstoreaccount1/shr/f?{sas}", "http://other/200/hello"}},
    {"x-ms-copy-action", {"abort"}},
    {"x-ms-requires-sync", {"true"}},
    {"x-ms-copy-source-tag-option", {"COPY", "REPLACE"}},
    {"x-ms-copy-source-blob-properties", {"false", "true"}},
    {"x-ms-source-if-match", {"{ETag}", "*"}},
    {"x-ms-source-if-none-match", {"{ETag}", "*"}},
    {"x-ms-source-content-md5", {"XUFAKrxLKna5cZ2REBfFkg=="}},
    {"x-ms-delete-snapshots", {"include", "only"}},
    {"x-ms-blob-public-access", {"blob", "container"}},
    {"x-ms-expiry-option", {"RelativeToNow", "RelativeToCreation", "Absolute", "NeverExpire"}},
    {"x-ms-expiry-time", {"1000", "Wed, 15 Nov 2023 22:13:20 GMT"}},
    {"x-ms-legal-hold", {"true", "false"}},
    {"x-ms-immutability-policy-until-date", {"Wed, 15 Nov 2023 22:13:20 GMT"}},
    {"x-ms-immutability-policy-mode", {"unlocked", "locked"}},
    {"x-ms-encryption-algorithm", {"AES256"}},
    {"x-ms-encryption-key", {"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}},
    {"x-ms-encryption-key-sha256", {"hhAJ7E1Zn6sfQKvHbm+JiAz/WDPHnFSMmfkEXxkc2Qs="}},
    {"x-ms-seal-blob", {"true"}},
    {"x-ms-structured-body", {"XSM/1.0; properties=crc64"}},
    {"x-ms-structured-content-length", {"4"}},
    {"x-ms-deleted-container-name", {"con"}},
    {"x-ms-deleted-container-version", {"{Version}"}},
    {"x-ms-deleted-share-name", {"shr"}},
    {"x-ms-deleted-share-version", {"{Version}"}},
    {"x-ms-type", {"file"}},
    {"x-ms-content-length", {"0", "512", "1048576"}},
    {"x-ms-share-quota", {"1", "5120"}},
    {"x-ms-enabled-protocols", {"SMB", "NFS"}},
    {"x-ms-root-squash", {"RootSquash", "NoRootSquash"}},
    {"x-ms-file-permission", {"inherit", "O:SYG:SYD:(A;;FA;;;SY)", "preserve"}},
    {"x-ms-file-permission-key", {"{x-ms-file-permission-key}"}},
    {"x-ms-file-permission-format", {"sddl", "binary"}},
    {"x-ms-file-attributes", {"None", "ReadOnly|Hidden", "Directory", "preserve"}},
    {"x-ms-file-creation-time", {"now", "2023-11-14T22:13:20.0000000Z", "preserve"}},
    {"x-ms-file-last-write-time", {"now", "preserve", "2023-11-14T22:13:20.1234567Z"}},
    {"x-ms-file-change-time", {"now", "preserve"}},
    {"x-ms-file-rename-source",
     {"http://127.0.0.1:10004/devstoreaccount1/shr/f",
      "http://127.0.0.1:10004/devstoreaccount1/shr/d",
      "http://127.0.0.1:10004/devstoreaccount2/shr/f"}},
    {"x-ms-file-rename-replace-if-exists", {"true", "false"}},
    {"x-ms-file-rename-ignore-readonly", {"true"}},
    {"x-ms-file-copy-ignore-readonly", {"true"}},
    {"x-ms-file-copy-set-archive", {"true"}},
    {"x-ms-file-permission-copy-mode", {"source", "override"}},
    {"x-ms-file-request-intent", {"backup"}},
    {"x-ms-allow-trailing-dot", {"true"}},
    {"x-ms-source-allow-trailing-dot", {"true"}},
    {"x-ms-handle-id", {"*", "1"}},
    {"x-ms-recursive", {"true"}},
    {"x-ms-content-md5", {"XUFAKrxLKna5cZ2REBfFkg=="}},
    {"x-ms-content-crc64", {"AAAAAAAAAAA="}},
    {"Content-MD5", {"XUFAKrxLKna5cZ2REBfFkg=="}},
    {"Content-Type", {"application/json", "text/plain", "multipart/mixed; boundary=x"}},
    {"Content-Encoding", {"gzip"}},
    {"Transfer-Encoding", {"chunked"}},
    {"If-Match", {"*", "{ETag}", "\"0x1\"", "W/\"datetime'2023-11-14T22%3A13%3A20.1Z'\""}},
    {"If-None-Match", {"*", "{ETag}"}},
    {"If-Modified-Since", {"Tue, 14 Nov 2023 22:13:20 GMT"}},
    {"If-Unmodified-Since", {"Tue, 14 Nov 2023 22:13:20 GMT", "{Last-Modified}"}},
    {"Accept",
     {"application/json;odata=fullmetadata", "application/json;odata=nometadata",
      "application/atom+xml", "application/xml"}},
    {"Prefer", {"return-no-content", "return-content"}},
    {"DataServiceVersion", {"3.0"}},
    {"X-HTTP-Method", {"MERGE", "PUT", "DELETE", "PATCH"}},
    {"Origin", {"http://a"}},
    {"Access-Control-Request-Method", {"GET"}},
    {"Access-Control-Request-Headers", {"x-ms-meta-a"}},
    {"x-ms-client-request-id", {"me"}},
    {"x-ms-date", {"Tue, 14 Nov 2023 22:13:20 GMT"}},
};

const std::vector<Known> kParameters = {
    {"prefix", {"a", "b", "c", "d/"}},
    {"delimiter", {"/", "b"}},
    {"maxresults", {"1", "2", "5000"}},
    {"marker", {"{NextMarker}", "b"}},
    {"startFrom", {"b"}},
    {"include",
     {"metadata", "snapshots,deleted,versions", "deletedwithversions", "uncommittedblobs",
      "copy,tags,legalhold,immutabilitypolicy,permissions", "timestamps,etag", "system"}},
    {"snapshot", {"{x-ms-snapshot}", "2023-11-14T22:13:20.1250000Z"}},
    {"versionid", {"{x-ms-version-id}", "{VersionId}"}},
    {"sharesnapshot", {"{x-ms-snapshot}"}},
    {"prevsnapshot", {"{x-ms-snapshot}"}},
    {"prevsharesnapshot", {"{x-ms-snapshot}"}},
    {"blockid", {"YQ==", "Yg==", "YWFh"}},
    {"blocklisttype", {"all", "committed", "uncommitted"}},
    {"copyid", {"{x-ms-copy-id}"}},
    {"deletetype", {"permanent"}},
    {"where", {"\"a\"='1'", "\"a\">='0' AND \"b\"='2'", "@container='con' AND \"a\"='1'"}},
    {"popreceipt", {"{PopReceipt}", "{x-ms-popreceipt}"}},
    {"visibilitytimeout", {"0", "30", "604800"}},
    {"messagettl", {"-1", "1", "60"}},
    {"numofmessages", {"1", "32"}},
    {"peekonly", {"true"}},
    {"$filter",
     {"PartitionKey%20eq%20'p'", "a%20gt%201%20and%20not%20(b%20eq%20'x')",
      "RowKey%20ge%20'1'%20or%20c%20eq%20true", "TableName%20ge%20'T'"}},
    {"$top", {"1", "1000"}},
    {"$select", {"a", "PartitionKey,b"}},
    {"$format", {"application/json;odata=nometadata"}},
    {"NextPartitionKey", {"{x-ms-continuation-NextPartitionKey}"}},
    {"NextRowKey", {"{x-ms-continuation-NextRowKey}"}},
    {"NextTableName", {"{x-ms-continuation-NextTableName}"}},
    {"timeout", {"30"}},
    {"api-version", {"2019-02-02"}},
    {"comp", {"list", "metadata", "properties", "acl", "lease", "tier", "tags", "copy"}},
    {"sv",
     {"2025-01-05&sr=c&sp=rwdl&se=2040-01-01&sig=?", "2025-01-05&sr=b&sp=rcw&se=2040-01-01&sig=?",
      "2025-01-05&sr=c&si=p&sig=?", "2025-01-05&ss=bqtf&srt=sco&sp=rwdlacup&se=2040-01-01&sig=?",
      "2019-02-02&tn=Tab&sp=raud&spk=a&epk=q&se=2040-01-01&sig=?",
      "2025-01-05&sp=raup&se=2040-01-01&sig=?"}},
};

const Texts kBodies = {
    "",
    "abcd",
    "hello, world",
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList><Latest>YQ==</Latest>"
    "<Uncommitted>Yg==</Uncommitted><Committed>YWFh</Committed></BlockList>",
    "<QueueMessage><MessageText>hi &amp; bye</MessageText></QueueMessage>",
    "<Tags><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tags>",
    "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Start>2020-01-01</Start>"
    "<Expiry>2040-01-01</Expiry><Permission>raup</Permission></AccessPolicy></SignedIdentifier>"
    "</SignedIdentifiers>",
    "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>3</Days>"
    "<AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>"
    "</StorageServiceProperties>",
    "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>"
    "GET,PUT</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>*"
    "</ExposedHeaders><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>"
    "</StorageServiceProperties>",
    "<StorageServiceProperties><StaticWebsite><Enabled>true</Enabled><IndexDocument>i</"
    "IndexDocument>"
    "<ErrorDocument404Path>b</ErrorDocument404Path></StaticWebsite></StorageServiceProperties>",
    "{\"TableName\":\"Tab\"}",
    "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"a\":1,\"b\":\"x\",\"c\":true,\"d\":1.5,"
    "\"e@odata.type\":\"Edm.Int64\",\"e\":\"5\"}",
    "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"t@odata.type\":\"Edm.DateTime\","
    "\"t\":\"2023-11-14T22:13:20Z\",\"g@odata.type\":\"Edm.Guid\","
    "\"g\":\"c9da6455-213d-42c9-9a79-3e9149a57833\",\"z@odata.type\":\"Edm.Binary\",\"z\":\"YQ=="
    "\"}",
    "{\"permission\":\"O:SYG:SYD:(A;;FA;;;SY)\"}",
    "<KeyInfo><Start>2023-11-14T22:13:20Z</Start><Expiry>2023-11-15T22:13:20Z</Expiry></KeyInfo>",
};

class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}
  size_t below(size_t limit) { return random_() % limit; }
  template <class T>
  auto& one_of(T& list) {
    return list[below(std::size(list))];
  }

 private:
  std::minstd_rand random_;
};

class Story : Chance {
 public:
  Story(std::string_view text, unsigned seed) : Chance(seed) {
    while (!text.empty()) steps_.emplace_back(front::cut(text, kApart));
  }

  void change() {
    switch (below(steps_.empty() ? 1 : 10)) {
      case 0:
      case 1:
        return insert(made_step());
      case 2:
        return insert(std::string(one_of(steps_)));
      case 3:
        steps_.erase(steps_.begin() + static_cast<ptrdiff_t>(below(steps_.size())));
        return;
      case 4:
      case 5:
        return add_line();
      case 6:
        return remove_line();
      case 7:
        return add_parameter();
      case 8:
        return change_first_line();
      default:
        return change_body();
    }
  }

  std::string text(size_t most) const {
    std::string all;
    for (const auto& step : steps_) {
      if (!all.empty()) all.append(kApart);
      all.append(step);
    }
    all.resize(std::min(all.size(), most));
    return all;
  }

 private:
  static constexpr std::string_view kApart = "\n%%\n";

  void insert(std::string step) {
    if (steps_.size() >= front::kMostSteps) steps_.erase(steps_.begin());
    const size_t at = below(3) == 0 ? below(steps_.size() + 1) : steps_.size();
    steps_.insert(steps_.begin() + static_cast<ptrdiff_t>(at), std::move(step));
  }

  std::string line() {
    const Known& header = one_of(kHeaders);
    return std::string(header.name) + ": " + std::string(one_of(header.values));
  }
  std::string parameter() {
    const Known& parameter = one_of(kParameters);
    return std::string(parameter.name) + '=' + std::string(one_of(parameter.values));
  }

  std::string path(char service, auth::Level level) {
    static const Texts containers = {"/con", "/con", "/con2", "/$root", "/$web"};
    static const Texts names = {"b", "b", "p", "a", "d/e", "i", "\xc3\xa4", "b%00", "x."};
    static const Texts files = {"f", "f", "d", "d/g", "d/e/h", "F", "x.", "%C3%A4"};
    static const Texts keys = {"(PartitionKey='p',RowKey='1')", "(PartitionKey='p',RowKey='2')",
                               "(PartitionKey='q',RowKey='')"};
    static const Texts tables = {"/Tables", "/Tables('Tab')"};
    if (level == auth::Level::kTables) return std::string(one_of(tables));
    if (level == auth::Level::kBatch) return "/$batch";
    if (level == auth::Level::kService) return "/";
    const std::string container = service == 'b'   ? std::string(one_of(containers))
                                  : service == 'q' ? "/que"
                                  : service == 't' ? "/Tab"
                                                   : "/shr";
    if (level == auth::Level::kMessages) return container + "/messages";
    if (level == auth::Level::kContainer) return container + (service == 't' ? "()" : "");
    if (service == 'q') return container + "/messages/{MessageId}";
    if (service == 't') return container + std::string(one_of(keys));
    return container + "/" + std::string(service == 'b' ? one_of(names) : one_of(files));
  }

  std::string made_step() {
    if (below(12) == 0)
      return "wait " + std::to_string(below(2) == 0 ? below(100) : below(900'000));
    static constexpr char kServices[] = {'b', 'b', 'q', 't', 'f', 'f'};
    const char service = one_of(kServices);
    const std::span<const Operation> table = service == 'b'   ? blob::operations()
                                             : service == 'q' ? queue::operations()
                                             : service == 't' ? table::operations()
                                                              : file::operations();
    const Operation& operation = one_of(table);
    std::string text(1, service);
    if (below(4) == 0) text.push_back('2');
    text.append(" ").append(operation.method).append(" ").append(path(service, operation.level));
    char mark = '?';
    const auto parameter_text = [&](std::string_view name, std::string_view value) {
      if (value.empty()) return;
      text.append(1, mark).append(name).append("=").append(value);
      mark = '&';
    };
    parameter_text("restype", operation.restype);
    parameter_text("comp", operation.comp);
    parameter_text(operation.query_selector.parameter, operation.query_selector.value);
    for (size_t more = below(3); more > 0; --more) {
      text.append(1, mark).append(parameter());
      mark = '&';
    }
    for (const auto& selector : operation.selectors) {
      if (selector.header.empty()) continue;
      text.append("\n").append(selector.header).append(": ");
      text.append(selector.value.empty() ? known_value(selector.header) : selector.value);
    }
    for (size_t more = below(4); more > 0; --more) text.append("\n").append(line());
    if (operation.method == "GET" || operation.method == "HEAD") return text;
    return text.append("\n\n").append(one_of(kBodies));
  }
  std::string_view known_value(std::string_view name) {
    for (const auto& header : kHeaders)
      if (header.name == name) return one_of(header.values);
    return "*";
  }

  // Where the head ends.
  static size_t head_end(const std::string& step) {
    return std::min(step.find("\n\n"), step.size());
  }
  void add_line() {
    std::string& step = one_of(steps_);
    step.insert(std::min(step.find('\n'), step.size()), "\n" + line());
  }
  void remove_line() {
    std::string& step = one_of(steps_);
    const size_t end = head_end(step);
    size_t begin = step.find('\n', below(end + 1));
    if (begin == std::string::npos || begin >= end) return;
    step.erase(begin, step.find('\n', begin + 1) - begin);
  }
  void add_parameter() {
    std::string& step = one_of(steps_);
    const size_t end = std::min(step.find('\n'), step.size());
    step.insert(end, (step.find('?') < end ? "&" : "?") + parameter());
  }
  void change_first_line() {
    static const Texts flags = {"-", "~", "!", "2", "s"};
    std::string& step = one_of(steps_);
    if (below(2) == 0) {
      step.insert(std::min<size_t>(1, step.size()), one_of(flags));
      return;
    }
    static constexpr auth::Level kLevels[] = {auth::Level::kService, auth::Level::kContainer,
                                              auth::Level::kObject};
    const size_t begin = step.find(" /");
    if (begin == std::string::npos) return;
    const size_t end = step.find_first_of("?\n", begin);
    step.replace(begin + 1, std::min(end, step.size()) - begin - 1,
                 path(step.front(), one_of(kLevels)));
  }
  void change_body() {
    std::string& step = one_of(steps_);
    step.resize(head_end(step));
    step.append("\n\n").append(one_of(kBodies));
  }

  std::vector<std::string> steps_;
};

}  // namespace

// Short traces of allocations: stories allocate much, and taking long ones took a fifth of the
// time.
extern "C" const char* __asan_default_options() { return "malloc_context_size=4"; }

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 3 == 0) return LLVMFuzzerMutate(data, size, max_size);
  Story story({reinterpret_cast<const char*>(data), size}, seed);
  for (unsigned changes = 1 + seed / 3 % 3; changes > 0; --changes) story.change();
  const std::string text = story.text(max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
