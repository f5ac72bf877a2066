#include "auth/sas_string.h"

#include <initializer_list>

#include "base/bytes.h"

namespace kyanite::auth {

namespace {
// Query values on lines of their own; absent ones give empty lines.
class Lines {
 public:
  explicit Lines(const wire::Query& query) : query_(query) {}

  Lines& values(std::initializer_list<std::string_view> parameters) {
    for (std::string_view parameter : parameters) line(query_.get(parameter));
    return *this;
  }
  Lines& line(std::string_view text) {
    if (!first_) text_.push_back('\n');
    first_ = false;
    text_.append(text);
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  const wire::Query& query_;
  std::string text_;
  bool first_ = true;
};

void add_overrides(Lines& lines) { lines.values({"rscc", "rscd", "rsce", "rscl", "rsct"}); }

// Calls visit(name) for each entry of a comma-separated list.
template <class Visit>
void for_each_name(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (const std::string_view name = trim(list.substr(0, comma)); !name.empty()) visit(name);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
}

std::string named_headers(const http::Request& request, std::string_view names) {
  std::string out;
  for_each_name(names, [&](std::string_view name) {
    out.append(name).append(":").append(request.headers.get(name)).append("\n");
  });
  return out;
}

std::string named_parameters(const wire::Query& query, std::string_view names) {
  std::string out;
  for_each_name(names, [&](std::string_view name) {
    out.append("\n").append(name).append(":").append(query.get(name));
  });
  return out;
}
}  // namespace

std::string canonical_resource(const Target& target, std::string_view container,
                               std::string_view path, bool with_service) {
  std::string out;
  if (with_service) out.append("/").append(name(target.service));
  out.append("/").append(target.account).append("/").append(container);
  if (!path.empty()) out.append("/").append(path);
  return out;
}

std::string account_string_to_sign(const wire::Query& query, std::string_view account,
                                   wire::Version version) {
  Lines lines(query);
  lines.line(account).values({"sp", "ss", "srt", "st", "se", "sip", "spr", "sv"});
  if (version >= kSignsEncryptionScope) lines.values({"ses"});
  lines.line("");  // The string ends with a newline.
  return lines.take();
}

std::string service_string_to_sign(const wire::Query& query, wire::Service service,
                                   std::string_view resource, std::string_view snapshot,
                                   wire::Version version) {
  Lines lines(query);
  lines.values({"sp", "st", "se"}).line(resource).values({"si"});
  if (version >= kSignsAddressAndProtocol) lines.values({"sip", "spr"});
  lines.values({"sv"});
  switch (service) {
    case wire::Service::kBlob:
      if (version >= kSignsResourceAndSnapshot) lines.values({"sr"}).line(snapshot);
      if (version >= kSignsEncryptionScope) lines.values({"ses"});
      if (version >= kSignsOverrides) add_overrides(lines);
      break;
    case wire::Service::kFile:
      if (version >= kSignsOverrides) add_overrides(lines);
      break;
    case wire::Service::kQueue:
      break;
    case wire::Service::kTable:
      lines.values({"spk", "srk", "epk", "erk"});
      break;
  }
  return lines.take();
}

std::string delegation_string_to_sign(const http::Request& request, const wire::Query& query,
                                      wire::Service service, std::string_view resource,
                                      std::string_view snapshot, wire::Version version) {
  Lines lines(query);
  lines.values({"sp", "st", "se"}).line(resource);
  lines.values({"skoid", "sktid", "skt", "ske", "sks", "skv"});
  const bool blob = service == wire::Service::kBlob;
  if (blob && version >= kSignsAgents) lines.values({"saoid", "suoid", "scid"});
  if (version >= kSignsDelegatedUser) lines.values({"skdutid", "sduoid"});
  lines.values({"sip", "spr", "sv"});
  if (blob) {
    lines.values({"sr"}).line(snapshot);
    if (version >= kSignsEncryptionScope) lines.values({"ses"});
    if (version >= kSignsRequestParts) {
      lines.line(named_headers(request, query.get("srh")));
      lines.line(named_parameters(query, query.get("srq")));
    }
  }
  if (blob || service == wire::Service::kFile) add_overrides(lines);
  return lines.take();
}

}  // namespace kyanite::auth
