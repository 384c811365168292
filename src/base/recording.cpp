// Another process may write to the memory, and may be hostile: a copy is read, and every number in it is bounded.
#include "base/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "base/file_bytes.hpp"
#include "base/recorder_area.hpp"

namespace ham::inline v1::base {
namespace {

/// How old marks are.
class ages {
 public:
  ages(const recorder_head& head, const tick_reading& now) noexcept
      : now_(now), tick_ns_(tick_length_ns(head.source, {head.start_ticks, head.start_ns}, now)) {
    if (tick_ns_ != 0) since_start_ns_ = static_cast<double>(now.ns - head.start_ns);
  }
  /// Negative: not known.
  [[nodiscard]] std::int64_t of(std::uint64_t ticks) const noexcept {
    if (tick_ns_ == 0) return -1;
    if (ticks >= now_.ticks) return 0;
    const double age = static_cast<double>(now_.ticks - ticks) * tick_ns_;
    constexpr double slack_ns = 1e6;
    return age > since_start_ns_ + slack_ns ? -1 : static_cast<std::int64_t>(age);
  }

 private:
  const tick_reading now_;
  const double tick_ns_;  ///< 0: not known
  double since_start_ns_ = 0;
};

recording::event told_by(const recorded_event& one, const ages& old) {
  return {one.kind(), one.peer(), one.function(), one.call(), old.of(one.ticks)};
}

recording::thread read_ring(const recorder_ring& ring, const ages& old) {
  recording::thread result;
  result.id = ring.thread;
  for (const recorded_event& one : ring.open) {
    if (one.sound()) result.open.push_back(told_by(one, old));
  }
  std::vector<recorded_event> past;
  std::copy_if(std::begin(ring.past), std::end(ring.past), std::back_inserter(past),
               [](const recorded_event& one) { return one.sound(); });
  std::vector<std::size_t> newest_first(past.size());  // stable_sort does not align its buffer as the events want it
  std::iota(newest_first.begin(), newest_first.end(), std::size_t{0});
  std::stable_sort(newest_first.begin(), newest_first.end(),
                   [&](std::size_t one, std::size_t other) { return past[one].ticks > past[other].ticks; });
  for (const std::size_t i : newest_first) result.past.push_back(told_by(past[i], old));
  return result;
}

std::vector<std::string> read_names(std::uint32_t count, std::span<const std::byte>& from) {
  std::vector<std::string> names;
  for (std::uint16_t size = 0; names.size() < count && from.size() >= sizeof size;) {
    std::memcpy(&size, from.data(), sizeof size);
    from = from.subspan(sizeof size);
    if (size > from.size()) break;
    names.emplace_back(reinterpret_cast<const char*>(from.data()), size);
    from = from.subspan(size);
  }
  return names;
}

}  // namespace

tick_reading tick_reading::now() noexcept { return {read_ticks(), now_ns()}; }

double tick_length_ns(tick_source source, const tick_reading& before, const tick_reading& now) noexcept {
  if (source != own_tick_source || before.ticks >= now.ticks || before.ns < 0 || before.ns > now.ns) return 0;
  const double length = static_cast<double>(now.ns - before.ns) / static_cast<double>(now.ticks - before.ticks);
  constexpr double min_tick_ns = 0.01;
  constexpr double max_tick_ns = 10'000;
  return length > min_tick_ns && length < max_tick_ns ? length : 0;
}

std::vector<std::byte> read_recorder_area(int fd, std::uint64_t offset) {
  std::uint64_t magic = 0;
  if (::pread(fd, &magic, sizeof magic, static_cast<off_t>(offset)) != static_cast<ssize_t>(sizeof magic)) return {};
  if (magic != recorder_head::magic_value) return {};
  std::vector<std::byte> bytes(recorder_area::bytes);
  if (read_bytes(fd, bytes, offset) != bytes.size()) return {};
  return bytes;
}

std::optional<recording> parse_recording(std::span<const std::byte> area, const tick_reading& now) {
  if (area.size() != recorder_area::bytes) return std::nullopt;
  const auto copy = std::make_unique<recorder_area>();
  std::memcpy(static_cast<void*>(copy.get()), area.data(), area.size());
  if (copy->head.magic != recorder_head::magic_value) return std::nullopt;
  const ages old(copy->head, now);
  recording result;
  result.node = copy->head.node;
  result.pid = copy->head.pid;
  std::span<const std::byte> names = copy->names;
  result.names = read_names(copy->head.names, names);
  if (result.names.size() == copy->head.names) result.named = read_names(copy->head.named, names);
  for (const recorder_ring& ring : copy->rings) {
    recording::thread one = read_ring(ring, old);
    if (!one.open.empty() || !one.past.empty()) result.threads.push_back(std::move(one));
  }
  return result;
}

}  // namespace ham::base
