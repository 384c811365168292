#include "transport/cuda/geometry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/numbers.hpp"
#include "ham/error.hpp"

namespace ham::inline v0::transport::cuda {
namespace {

constexpr std::uint32_t max_threads = 256;
constexpr std::int64_t max_ns = 1'000'000'000;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::int64_t max_arena_mib = std::int64_t{1} << 20;
constexpr std::int64_t max_mb_s = 1'000'000;

struct key {
  std::string_view name;
  std::int64_t least, most;
  void (*set)(geometry&, std::int64_t);
};
constexpr std::array keys{
    key{"blocks", 1, max_threads, [](geometry& of, std::int64_t n) { of.blocks = static_cast<std::uint32_t>(n); }},
    key{"warps", 1, max_threads, [](geometry& of, std::int64_t n) { of.warps = static_cast<std::uint32_t>(n); }},
    key{"lanes", 1, max_threads, [](geometry& of, std::int64_t n) { of.lanes = static_cast<std::uint32_t>(n); }},
    key{"read", 0, max_ns, [](geometry& of, std::int64_t n) { of.read_ns = n; }},
    key{"write", 0, max_ns, [](geometry& of, std::int64_t n) { of.write_ns = n; }},
    key{"linger", 0, 3'600'000'000, [](geometry& of, std::int64_t n) { of.linger_ns = n * 1000; }},
    key{"watchdog", 0, 3'600'000, [](geometry& of, std::int64_t n) { of.watchdog_ns = n * 1'000'000; }},
    key{"arena", 1, max_arena_mib,
        [](geometry& of, std::int64_t n) { of.arena_bytes = static_cast<std::uint64_t>(n) * mib; }},
    key{"bandwidth", 0, max_mb_s, [](geometry& of, std::int64_t n) { of.bandwidth_mb_s = n; }},
};

/// The one key whose values are words.
[[nodiscard]] bool apply_memory(geometry& to, std::string_view setting) {
  if (setting == "memory=device")
    to.memory = memory_kind::device;
  else if (setting == "memory=shared")
    to.memory = memory_kind::shared;
  else
    return false;
  return true;
}

[[noreturn]] void refuse(std::string_view setting, const std::string& why) {
  throw config_error("cannot use \"" + std::string(setting) + "\" of an emulated device (" + why +
                     "); write settings like cuda-emulated:1/blocks=2/warps=2/lanes=2/read=1200/write=600/linger=5000");
}

void apply(geometry& to, std::string_view setting) {
  if (apply_memory(to, setting)) return;
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const auto found = std::ranges::find(keys, setting.substr(0, equals), &key::name);
  if (found == keys.end()) {
    refuse(setting,
           "the keys are blocks, warps, lanes, read, write, linger, watchdog, arena, bandwidth, and memory, which is "
           "device or shared");
  }
  const auto value =
      base::parse_integer(setting.substr(std::min(equals + 1, setting.size())), found->least, found->most);
  if (!value) {
    refuse(setting,
           "a number from " + std::to_string(found->least) + " to " + std::to_string(found->most) + " is expected");
  }
  found->set(to, *value);
}

}  // namespace

bool geometry::sane() const noexcept {
  const std::uint64_t threads = std::uint64_t{blocks} * warps * lanes;
  return blocks != 0 && warps != 0 && lanes != 0 && blocks <= max_threads && warps <= max_threads &&
         lanes <= max_threads && threads <= max_threads && read_ns >= 0 && write_ns >= 0 &&
         linger_ns >= linger_of_setting && watchdog_ns >= 0 && memory <= memory_kind::shared && arena_bytes >= mib &&
         arena_bytes <= max_arena_mib * mib && bandwidth_mb_s >= 0 && bandwidth_mb_s <= max_mb_s;
}

geometry parse_geometry(std::string_view text) {
  geometry result;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    apply(result, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!result.sane()) refuse(text, "at most 256 threads are emulated");
  return result;
}

}  // namespace ham::transport::cuda
