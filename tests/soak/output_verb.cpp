// What a target prints, line by line.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ham/offload/on_output.hpp"
#include "soak/verbs.hpp"

namespace soak {
namespace {

/// Lines that have come, by key; of all workers.
class arrivals {
 public:
  void expect(std::uint64_t key) {
    const std::lock_guard guard(mutex_);
    lines_[key];
  }
  [[nodiscard]] std::vector<std::string> take(std::uint64_t key) {
    const std::lock_guard guard(mutex_);
    auto found = lines_.extract(key);
    return found.empty() ? std::vector<std::string>() : std::move(found.mapped());
  }
  /// False: nobody has asked for it.
  [[nodiscard]] bool add(std::string_view line) {
    constexpr std::string_view head = "soak-line ";
    if (!line.starts_with(head)) return false;
    const std::lock_guard guard(mutex_);
    const auto found = lines_.find(std::strtoull(std::string(line.substr(head.size())).c_str(), nullptr, 10));
    if (found == lines_.end()) return false;
    found->second.emplace_back(line);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<std::string>> lines_;
};
arrivals& arrived() {
  static arrivals all;
  return all;
}

/// What else targets print are problems of theirs.
void take_line(node_t /*node*/, offload::output_stream /*stream*/, offload::output_line line) {
  if (arrived().add(line.text) || line.end != offload::line_end::newline || line.text.starts_with("soak-line ")) return;
  const std::string text = std::string(line.text) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

struct awaited_lines {
  explicit awaited_lines(std::uint64_t of) : key(of) { arrived().expect(key); }
  awaited_lines(const awaited_lines&) = delete;
  awaited_lines& operator=(const awaited_lines&) = delete;
  ~awaited_lines() { static_cast<void>(arrived().take(key)); }
  const std::uint64_t key;
};

}  // namespace

/// All lines of a call have come when the handler is set once more behind it, in their order.
void output_verb(worker& self) {
  const node_t node = self.any_started_here();
  if (node < 0) return;
  const awaited_lines lines(self.random());
  const std::uint64_t count = 1 + self.below(50);
  const auto captured = [&] {
    try {
      offload::on_output(node, &take_line);
      return true;
    } catch (const config_error&) {  // it is being replaced
      if (!self.gone(node)) throw;
      return false;
    }
  };
  if (!captured()) return;
  const stamp made = self.claim();
  self.take(offload::async(node, fn<&print_lines>, made, lines.key, count), made, node, mixed(lines.key));
  if (!captured()) return;
  std::vector<std::string> wanted;
  for (std::uint64_t i = 0; i < count; ++i) wanted.push_back(line_text(lines.key, i));
  if (arrived().take(lines.key) != wanted) self.wrong(node, "lines of its output are missing, or are others");
}

}  // namespace soak
