// What front_fuzz asks at the end of a story: do the services agree with themselves? Everything
// that is listed can be read, and lists are the same whole and page by page.
#pragma once

#include <simdjson.h>
#include <pugixml.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/story_world.h"

namespace kyanite::front {

class Audit {
 public:
  // `flags` tell which account.
  Audit(World& world, std::string flags) : world_(world), flags_(std::move(flags)) {}

  void run(char service) {
    if (service == 'b') blobs();
    if (service == 'q') queues();
    if (service == 't') tables();
    if (service == 'f') files();
  }

 private:
  static constexpr int kMostPages = 100;
  static constexpr int kDeepest = 4;

  struct Listed {
    std::string name;
    std::string about;  // Whatever tells it from others of the name.
    std::string etag;
    std::string length;
    bool current = true;
    bool directory = false;
    auto key() const { return name + '\n' + about; }
  };
  struct List {
    std::vector<Listed> all;
    std::string next;
  };

  Answer ask(char service, std::string method, std::string target) {
    Step step;
    step.service = service;
    step.flags = flags_;
    step.method = std::move(method);
    step.target = std::move(target);
    const auto answer = world_.send(step);
    if (!answer) return {};
    check_answer(step, *answer);
    // Those of a customer's key show themselves to the customer only.
    const bool open = answer->error_code != "BlobUsesCustomerSpecifiedEncryption";
    demand(!open || answer->status == 200, "what is there can be read", step, *answer);
    last_ = step;
    return *answer;
  }

  static std::string name_of(const pugi::xml_node& node) {
    const pugi::xml_node name = node.child("Name");
    if (!name.attribute("Encoded").as_bool()) return name.child_value();
    return wire::percent_decode(name.child_value()).value_or("");
  }

  static Listed listed(const pugi::xml_node& node) {
    Listed entry;
    const pugi::xml_node properties = node.child("Properties");
    entry.name = name_of(node);
    entry.about = std::string(node.name()) + ' ' + node.child_value("Snapshot") + ' ' +
                  node.child_value("VersionId") + ' ' + node.child_value("Version") + ' ' +
                  node.child_value("Deleted");
    entry.etag = properties.child_value("Etag");
    entry.length = properties.child_value("Content-Length");
    const bool former =
        node.child("VersionId") && std::string_view(node.child_value("IsCurrentVersion")) != "true";
    entry.current = !node.child("Snapshot") && !node.child("Deleted") && !former;
    entry.directory = std::string_view(node.name()) == "Directory";
    return entry;
  }

  List page(char service, const std::string& target, std::string_view below) {
    List list;
    const Answer answer = ask(service, "GET", target);
    pugi::xml_document document;
    document.load_buffer(answer.body.data(), answer.body.size(),
                         pugi::parse_default | pugi::parse_ws_pcdata_single);
    const pugi::xml_node root = document.child("EnumerationResults");
    for (const auto& node : root.child(std::string(below).c_str()))
      list.all.push_back(listed(node));
    list.next = root.child_value("NextMarker");
    return list;
  }

  // The list at once, found to be the same one by one.
  std::vector<Listed> list(char service, const std::string& target, std::string_view below) {
    const List whole = page(service, target, below);
    if (whole.all.size() < 2) return whole.all;
    std::vector<Listed> single;
    std::string marker;
    for (int pages = 0; pages < kMostPages; ++pages) {
      const List one =
          page(service, target + "&maxresults=1&marker=" + wire::percent_encode(marker), below);
      single.insert(single.end(), one.all.begin(), one.all.end());
      marker = one.next;
      if (marker.empty()) break;
    }
    const bool equal = std::equal(
        whole.all.begin(), whole.all.end(), single.begin(), single.end(),
        [](const Listed& a, const Listed& b) { return a.key() == b.key() && a.etag == b.etag; });
    if (marker.empty() && whole.next.empty()) hold(equal, "pages are the list");
    return whole.all;
  }

  void hold(bool holds, const char* rule) { demand(holds, rule, last_, {}); }

  void blobs() {
    for (const auto& container : list('b', "/?comp=list&include=metadata,deleted", "Containers")) {
      if (!container.current) continue;
      const std::string path = "/" + wire::percent_encode(container.name);
      list('b', path + "?restype=container&comp=list&include=uncommittedblobs,tags&delimiter=/",
           "Blobs");
      const std::string all =
          "?restype=container&comp=list&include=copy,metadata,snapshots,versions,tags,deleted,"
          "legalhold,immutabilitypolicy";
      for (const auto& blob : list('b', path + all, "Blobs")) {
        if (!blob.current) continue;
        const Answer found = ask('b', "HEAD", path + "/" + wire::percent_encode(blob.name, "/"));
        const std::string etag = found.get("ETag");
        hold(!found.good() || etag == blob.etag || etag == '"' + blob.etag + '"',
             "a list has the blob's ETag");
      }
    }
  }

  void queues() {
    for (const auto& queue : list('q', "/?comp=list&include=metadata", "Queues")) {
      const std::string path = "/" + wire::percent_encode(queue.name);
      ask('q', "HEAD", path + "?comp=metadata");
      ask('q', "GET", path + "/messages?peekonly=true&numofmessages=32");
    }
  }

  void files() {
    for (const auto& share :
         list('f', "/?comp=list&include=metadata,snapshots,deleted", "Shares")) {
      if (share.current) directory("/" + wire::percent_encode(share.name), 0);
    }
  }

  void directory(const std::string& path, int depth) {
    if (depth == kDeepest) return;
    const std::string asked = "?restype=directory&comp=list&include=timestamps,etag,attributes";
    for (const auto& entry : list('f', path + asked, "Entries")) {
      const std::string below = path + "/" + wire::percent_encode(entry.name);
      ask('f', "HEAD", below + (entry.directory ? "?restype=directory" : ""));
      if (entry.directory) directory(below, depth + 1);
    }
  }

  using Element = simdjson::dom::element;

  // The entities (or tables) of a reply, which live as long as the parser.
  std::vector<Element> values(const Answer& answer, simdjson::dom::parser& parser) {
    Element root;
    simdjson::dom::array array;
    std::vector<Element> all;
    if (parser.parse(answer.body.data(), answer.body.size()).get(root) != simdjson::SUCCESS ||
        root["value"].get(array) != simdjson::SUCCESS)
      return all;
    for (const Element element : array) all.push_back(element);
    return all;
  }
  static std::string text(const Element& element, std::string_view name) {
    std::string_view value;
    return element[name].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
  }
  static std::string quoted(std::string_view key) {
    std::string text = "'";
    for (const char c : key) text.append(c == '\'' ? 2 : 1, c);
    return wire::percent_encode(text + "'");
  }

  void tables() {
    simdjson::dom::parser parser;
    for (const auto& table : values(ask('t', "GET", "/Tables"), parser)) {
      const std::string path = "/" + text(table, "TableName");
      simdjson::dom::parser rows;
      const auto entities = values(ask('t', "GET", path + "()"), rows);
      for (const auto& entity : entities) {
        const Answer found = ask('t', "GET",
                                 path + "(PartitionKey=" + quoted(text(entity, "PartitionKey")) +
                                     ",RowKey=" + quoted(text(entity, "RowKey")) + ")");
        hold(found.get("ETag") == text(entity, "odata.etag"), "a query has the entity's ETag");
      }
      if (entities.size() > 1)
        hold(count_single(path) == entities.size(), "pages are the entities");
    }
  }

  size_t count_single(const std::string& path) {
    size_t count = 0;
    std::string next;
    for (int pages = 0; pages < kMostPages; ++pages) {
      simdjson::dom::parser parser;
      const Answer answer = ask('t', "GET", path + "()?$top=1" + next);
      count += values(answer, parser).size();
      const auto partition = answer.find("x-ms-continuation-NextPartitionKey");
      if (!partition) break;
      next = "&NextPartitionKey=" + wire::percent_encode(*partition) +
             "&NextRowKey=" + wire::percent_encode(answer.get("x-ms-continuation-NextRowKey"));
    }
    return count;
  }

  World& world_;
  const std::string flags_;
  Step last_;
};

}  // namespace kyanite::front
