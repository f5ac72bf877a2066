// Whole requests through the fronts of all services (story_script.h tells how they are written). No
// story harms the server; every reply is one that clients can read (story_reply.h); a request that
// was refused, and one that only reads, changed nothing; what was written can be read; and in the
// end all services agree with themselves (story_audit.h).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/story_audit.h"
#include "fuzz/story_world.h"

namespace kyanite::front {
namespace {

bool has_line(const Step& step, std::string_view start) {
  for (const auto& line : step.lines)
    if (ascii_lower(line).starts_with(start)) return true;
  return false;
}

// A request by which the bytes that `step` wrote can be read.
Step reader(const Step& step, std::string range) {
  Step get;
  get.service = step.service;
  for (const char flag : step.flags)
    if (flag == '2') get.flags.push_back(flag);
  get.method = "GET";
  get.target = step.target.substr(0, step.target.find('?'));
  for (const auto& line : step.lines)
    if (ascii_lower(line).starts_with("x-ms-encryption-")) get.lines.push_back(line);
  if (!range.empty()) get.lines.push_back("x-ms-range: " + range);
  return get;
}

void check_written(World& world, const Step& step, const Answer& answer) {
  if (step.method != "PUT" || answer.status != 201 || answer.sent.empty()) return;
  // Those are not stored as they are sent.
  if (has_line(step, "x-ms-structured-body:") || has_line(step, "x-ms-copy-source:")) return;
  const std::string_view target = step.target;
  const std::string_view query = target.substr(std::min(target.find('?'), target.size()));
  std::string range;
  if (step.service == 'b' && query == "?comp=appendblock") {
    const auto offset = parse_uint(answer.get("x-ms-blob-append-offset"));
    demand(offset.has_value(), "an append tells where", step, answer);
    range =
        "bytes=" + std::to_string(*offset) + '-' + std::to_string(*offset + answer.sent.size() - 1);
  } else if ((step.service == 'b' && query == "?comp=page") ||
             (step.service == 'f' && query == "?comp=range")) {
    for (const auto& line : step.lines) {
      std::string_view value = line;
      const auto name = ascii_lower(cut(value, ":"));
      if (name == "x-ms-range") range = trim(value);
      if (name == "range" && range.empty()) range = trim(value);
    }
  } else if (step.service != 'b' || !query.empty()) {
    return;
  }
  const Step get = reader(step, range);
  const auto read = world.send(get);
  if (!read || read->error_code == "BlobArchived") return;
  check_answer(get, *read);
  demand(read->good() && read->body == answer.sent, "what was written can be read", get, *read);
}

bool only_reads(const Step& step) {
  if (step.method == "OPTIONS" || step.method == "HEAD") return true;
  // A message that is got is hidden.
  return step.method == "GET" && step.service != 'q';
}

bool refused(const Step& step, const Answer& answer) {
  if (answer.status >= 300) return true;
  // A transaction is one request to the store, whatever its parts.
  return step.service == 't' && answer.body.find("\nHTTP/1.1 4") != std::string::npos &&
         step.target.starts_with("/$batch");
}

void tell(const Step& step, const Answer& answer) {
  std::fprintf(stderr, "%c%s %s %s -> %d %s\n", step.service, step.flags.c_str(),
               step.method.c_str(), step.target.c_str(), answer.status, answer.error_code.c_str());
}

// With KYANITE_TELL in the environment it says what was answered to each step.
void run(std::string_view script) {
  static const bool tells = std::getenv("KYANITE_TELL") != nullptr;
  restart_random();
  World world;
  std::set<std::pair<char, bool>> used;
  Picture before;
  for (const Step& step : parse_script(script)) {
    if (step.wait_s > 0) {
      world.wait(step.wait_s);
      before = world.picture();
      continue;
    }
    const auto answer = world.send(step);
    if (!answer) continue;
    if (tells) tell(step, *answer);
    used.emplace(step.service, step.has('2'));
    check_answer(step, *answer);
    Picture after = world.picture();
    if (refused(step, *answer))
      demand(same(before, after), "what is refused changes nothing", step, *answer);
    if (only_reads(step)) demand(same(before, after), "reading changes nothing", step, *answer);
    before = std::move(after);
    check_written(world, step, *answer);
  }
  for (const auto& [service, other] : used) Audit(world, other ? "2" : "").run(service);
  demand(same(before, world.picture()), "looking around changes nothing", {}, {});
}

}  // namespace
}  // namespace kyanite::front

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kyanite::front::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
