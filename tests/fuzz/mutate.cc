#include "mutate.h"

#include <algorithm>
#include <string_view>

namespace kyanite::fuzz {

namespace {

constexpr size_t kMostChanges = 4;
constexpr size_t kMostPart = 32;
// Bytes at which parsers decide.
constexpr char kDecisiveBytes[] = "\0\x01\x7f\x80\xff\r\n \"'&%=:;/<>()[]{}-+09azAZ";
constexpr std::string_view kDecisive(kDecisiveBytes, sizeof kDecisiveBytes - 1);

class Mutation {
 public:
  Mutation(std::string text, const std::vector<std::string>& seeds, std::mt19937_64& random)
      : text_(std::move(text)), seeds_(seeds), random_(random) {}

  void change() {
    switch (below(7)) {
      case 0:
        return flip();
      case 1:
        return replace(1, std::string(1, decisive()));
      case 2:
        return replace(0, std::string(1 + below(3), decisive()));
      case 3:
        return replace(1 + below(kMostPart), {});
      case 4:
        return replace(0, part_of(text_));
      case 5:
        return replace(below(kMostPart), part_of(seeds_[below(seeds_.size())]));
      default:
        return text_.resize(below(text_.size() + 1));
    }
  }

  std::string take() {
    text_.resize(std::min(text_.size(), kMostInputBytes));
    return std::move(text_);
  }

 private:
  size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }
  char decisive() { return kDecisive[below(kDecisive.size())]; }

  void flip() {
    if (text_.empty()) return;
    char& byte = text_[below(text_.size())];
    byte = static_cast<char>(byte ^ (1 << below(8)));
  }

  void replace(size_t count, const std::string& with) {
    text_.replace(below(text_.size() + 1), count, with);
  }

  std::string part_of(const std::string& text) {
    return text.substr(below(text.size() + 1), 1 + below(kMostPart));
  }

  std::string text_;
  const std::vector<std::string>& seeds_;
  std::mt19937_64& random_;
};

}  // namespace

std::string mutate(const std::vector<std::string>& seeds, std::mt19937_64& random) {
  Mutation mutation(seeds[random() % seeds.size()], seeds, random);
  for (uint64_t changes = 1 + random() % kMostChanges; changes > 0; --changes) mutation.change();
  return mutation.take();
}

}  // namespace kyanite::fuzz
