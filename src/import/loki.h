// The databases of Azurite: JSON files of LokiJS, each with collections of documents.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace kyanite::import {

// A document, or an object in one. What is absent, null or of another type is empty.
class Document {
 public:
  explicit Document(std::optional<simdjson::dom::element> element) : element_(element) {}

  bool has(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::optional<int64_t> number(std::string_view name) const;
  bool flag(std::string_view name) const;
  Time date(std::string_view name) const;          // ISO 8601
  Time milliseconds(std::string_view name) const;  // since 1970
  Document object(std::string_view name) const;
  std::vector<Document> list(std::string_view name) const;
  // Bytes in any of the forms in which JavaScript writes them: base64, or an object of numbers.
  std::string bytes(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> texts() const;  // all members that are texts
  // False when it is none.
  bool get(simdjson::dom::object& out) const {
    return element_ && element_->get(out) == simdjson::SUCCESS;
  }
  std::optional<int64_t> as_number() const;

 private:
  std::optional<simdjson::dom::element> find(std::string_view name) const;
  std::optional<simdjson::dom::element> element_;
};

class Database {
 public:
  // One without collections when there is no such file. The error is a clause.
  static Result<Database, std::string> load(const std::string& path);

  bool exists() const { return exists_; }
  // False: an error was found, and is kept by who sees.
  using See = std::function<bool(const Document& document)>;
  bool each(std::string_view collection, const See& see) const;
  using SeeCollection = std::function<bool(std::string_view name, const Document& collection)>;
  bool each_collection(const SeeCollection& see) const;

 private:
  std::unique_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element root_;
  bool exists_ = false;
};

}  // namespace kyanite::import
