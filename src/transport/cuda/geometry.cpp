#include "transport/cuda/geometry.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/numbers.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

constexpr std::uint32_t max_threads = 256;  // of an emulated device
constexpr std::uint32_t max_blocks = 4096;  // of a real one, and what else bounds them is known where it is
constexpr std::uint32_t warp_threads = 32;
constexpr std::uint32_t max_block_threads = 1024;
constexpr std::uint32_t usual_block_threads = 128;
constexpr std::int64_t max_ns = 1'000'000'000;
constexpr std::int64_t max_linger_us = 3'600'000'000;
constexpr std::int64_t max_watchdog_ms = 3'600'000;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::int64_t max_arena_mib = std::int64_t{1} << 20;
constexpr std::int64_t max_mb_s = 1'000'000;

struct key {
  std::string_view name;
  std::int64_t least, most;
  void (*set)(geometry&, std::int64_t);
};
constexpr key linger_key{"linger", 0, max_linger_us, [](geometry& of, std::int64_t n) { of.linger_ns = n * 1000; }};
constexpr key watchdog_key{"watchdog", 0, max_watchdog_ms,
                           [](geometry& of, std::int64_t n) { of.watchdog_ns = n * 1'000'000; }};
constexpr key arena_key{"arena", 1, max_arena_mib,
                        [](geometry& of, std::int64_t n) { of.arena_bytes = static_cast<std::uint64_t>(n) * mib; }};
constexpr std::array keys{
    key{"blocks", 1, max_threads, [](geometry& of, std::int64_t n) { of.blocks = static_cast<std::uint32_t>(n); }},
    key{"warps", 1, max_threads, [](geometry& of, std::int64_t n) { of.warps = static_cast<std::uint32_t>(n); }},
    key{"lanes", 1, max_threads, [](geometry& of, std::int64_t n) { of.lanes = static_cast<std::uint32_t>(n); }},
    key{"read", 0, max_ns, [](geometry& of, std::int64_t n) { of.read_ns = n; }},
    key{"write", 0, max_ns, [](geometry& of, std::int64_t n) { of.write_ns = n; }},
    key{"fence", 0, max_ns, [](geometry& of, std::int64_t n) { of.fence_ns = n; }},
    linger_key,
    watchdog_key,
    arena_key,
    key{"bandwidth", 0, max_mb_s, [](geometry& of, std::int64_t n) { of.bandwidth_mb_s = n; }},
};
constexpr std::array gpu_keys{
    key{"blocks", 1, max_blocks, [](geometry& of, std::int64_t n) { of.blocks = static_cast<std::uint32_t>(n); }},
    key{"threads", warp_threads, max_block_threads,
        [](geometry& of, std::int64_t n) { of.warps = static_cast<std::uint32_t>(n) / warp_threads; }},
    linger_key,
    watchdog_key,
    arena_key,
};

/// The settings of one kind of device, for messages as well.
struct dialect {
  std::span<const key> keys;
  const char* device;
  const char* names;
  const char* example;
};
const dialect of_emulated{keys, "an emulated device",
                          "blocks, warps, lanes, read, write, fence, linger, watchdog, arena, bandwidth, and memory, "
                          "which is device or shared",
                          "cuda-emulated:1/blocks=2/warps=2/lanes=2/read=1200/write=600/linger=5000"};
const dialect of_gpu{gpu_keys, "a GPU", "blocks, threads, linger, watchdog and arena",
                     "cuda:1/blocks=4/threads=128/linger=5000/watchdog=10000"};

/// The one key whose values are words; a GPU reaches no memory but its own.
[[nodiscard]] bool apply_memory(geometry& to, std::string_view setting) {
  if (to.gpu != geometry::emulated) return false;
  if (setting == "memory=device")
    to.memory = memory_kind::device;
  else if (setting == "memory=shared")
    to.memory = memory_kind::shared;
  else
    return false;
  return true;
}

[[noreturn]] void refuse(const dialect& in, std::string_view setting, const std::string& why) {
  throw config_error("cannot use \"" + std::string(setting) + "\" of " + in.device + " (" + why +
                     "); write settings like " + in.example);
}

void apply(const dialect& in, geometry& to, std::string_view setting) {
  if (apply_memory(to, setting)) return;
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const auto found = std::ranges::find(in.keys, setting.substr(0, equals), &key::name);
  if (found == in.keys.end()) refuse(in, setting, std::string("the keys are ") + in.names);
  const auto value =
      base::parse_integer(setting.substr(std::min(equals + 1, setting.size())), found->least, found->most);
  if (!value) {
    refuse(in, setting,
           "a number from " + std::to_string(found->least) + " to " + std::to_string(found->most) + " is expected");
  }
  if (found->name == "threads" && *value % warp_threads != 0)
    refuse(in, setting, "a block has whole warps of 32 threads");
  found->set(to, *value);
}

void apply_all(const dialect& in, geometry& to, std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    apply(in, to, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

bool geometry::sane() const noexcept {
  const bool times =
      read_ns >= 0 && write_ns >= 0 && fence_ns >= 0 && linger_ns >= linger_of_setting && watchdog_ns >= 0;
  if (gpu != emulated) {
    return times && gpu >= 0 && blocks <= max_blocks && lanes == warp_threads && warps != 0 &&
           warps <= max_block_threads / warp_threads && memory == memory_kind::device && nodes_on_gpu != 0 &&
           arena_bytes <= max_arena_mib * mib;
  }
  const std::uint64_t threads = std::uint64_t{blocks} * warps * lanes;
  return times && blocks != 0 && warps != 0 && lanes != 0 && blocks <= max_threads && warps <= max_threads &&
         lanes <= max_threads && threads <= max_threads && memory <= memory_kind::shared && arena_bytes >= mib &&
         arena_bytes <= max_arena_mib * mib && bandwidth_mb_s >= 0 && bandwidth_mb_s <= max_mb_s;
}

geometry parse_geometry(std::string_view text) {
  geometry result;
  apply_all(of_emulated, result, text);
  if (!result.sane()) refuse(of_emulated, text, "at most 256 threads are emulated");
  return result;
}

geometry parse_gpu_geometry(std::string_view text) {
  geometry result;
  result.gpu = 0;
  result.blocks = 0;
  result.warps = usual_block_threads / warp_threads;
  result.lanes = warp_threads;
  result.arena_bytes = 0;
  apply_all(of_gpu, result, text);
  return result;
}

}  // namespace ham::transport::cuda
