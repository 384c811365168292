// The counters of nodes, with any words anywhere, as ham-top and Prometheus show them.
// fuzz: -max_len=1024 -runs=2000
#include <memory>
#include <vector>

#include "base/counter_area.hpp"
#include "base/counter_reading.hpp"
#include "input.hpp"
#include "runtime/job_counters.hpp"
#include "runtime/metrics_text.hpp"

using namespace ham;
using namespace ham::base;

namespace {

/// Words go into the head and the first blocks and rows, where they mean something.
std::vector<std::byte> area_of(fuzz::input& from) {
  const auto area = std::make_unique<counter_area>();
  area->head.magic.store(counter_head::magic_value);
  area->head.node = from.byte() % 4;
  area->head.source = own_tick_source;
  area->head.rows.store(4);
  std::vector<std::byte> bytes(offsetof(counter_area, rows) + 4 * sizeof(counter_row));
  std::memcpy(bytes.data(), static_cast<const void*>(area.get()), bytes.size());
  for (int left = from.byte() % 32; left != 0; --left) {
    constexpr std::size_t offsets[] = {sizeof(std::uint64_t), offsetof(counter_area, threads),
                                       offsetof(counter_area, rows)};
    constexpr std::size_t sizes[] = {sizeof(counter_head) - 16, 2 * sizeof(counter_thread) - 8,
                                     4 * sizeof(counter_row) - 8};
    const std::size_t part = from.byte() % 3;
    const auto word = from.number<std::uint64_t>();
    std::memcpy(bytes.data() + offsets[part] + from.number<std::uint16_t>() % sizes[part], &word, sizeof word);
  }
  return bytes;
}

}  // namespace

HAM_FUZZ(from) {
  const tick_reading now{.ticks = UINT64_MAX / 2, .ns = INT64_MAX / 2};
  std::vector<detail::found_counters> found;
  for (int left = 1 + from.byte() % 3; left != 0; --left) {
    if (auto read = parse_counters(area_of(from), now)) found.push_back({std::move(*read), 4096});
  }
  std::size_t nodes = 0;
  const std::vector<job_counters> jobs = detail::jobs_of(found, 1);
  for (const job_counters& job : jobs) nodes += job.nodes.size();
  fuzz::require(nodes <= 5 * found.size(), "more nodes than there are rows");
  const std::string text = detail::metrics_text(jobs);
  for (const char one : text)
    fuzz::require(one == '\n' || (static_cast<unsigned char>(one) >= ' ' && static_cast<unsigned char>(one) < 0x7f),
                  "a character that nobody expects in a text for people");
}
