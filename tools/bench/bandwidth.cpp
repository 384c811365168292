// ham-bench bandwidth.
#include "benchmarks.hpp"

#include "copy_floor.hpp"
#include "sizes.hpp"
#include "spread.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t judged_bytes = std::size_t{64} << 20;

// The memory of the host and of both targets, all of it touched by the first transfers.
struct arena {
  explicit arena(std::size_t bytes) : local(bytes, std::byte{1}), first(1, bytes), second(2, bytes) {
    offload::put_sync(local.data(), first.ptr(), bytes);
    offload::put_sync(local.data(), second.ptr(), bytes);
  }
  std::vector<std::byte> local;
  offload::buffer<std::byte> first;
  offload::buffer<std::byte> second;
};

constexpr std::array<const char*, 3> verbs{"put", "get", "copy"};

void transfer(std::size_t verb, arena& memory, std::size_t bytes) {
  switch (verb) {
    case 0: offload::put_sync(memory.local.data(), memory.first.ptr(), bytes); break;
    case 1: offload::get_sync(memory.first.ptr(), memory.local.data(), bytes); break;
    default: offload::copy_sync(memory.first.ptr(), memory.second.ptr(), bytes); break;
  }
}

using size_rounds = std::array<paired_rounds, verbs.size()>;

void add_rows(const std::vector<std::size_t>& sizes, std::vector<size_rounds>& found, report& result) {
  table times{"microseconds per transfer; floor: memcpy between two shared mappings", {"size", "bytes"}, {}};
  for (const char* verb : verbs) {
    add_median_columns(times.columns, verb, "us");
    times.columns.insert(times.columns.end(), {std::string(verb) + " ratio", std::string(verb) + " ratio: quartiles"});
  }
  add_median_columns(times.columns, "memcpy", "us");
  table speeds{"GB/s", {"size", "bytes"}, {}};
  for (const char* name : {"put", "get", "copy", "memcpy", "put/memcpy", "get/memcpy", "copy/memcpy"}) {
    add_spread_columns(speeds.columns, name);
  }
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    const auto bytes = static_cast<double>(sizes[s]);
    auto& time_row = times.rows.emplace_back(std::vector<cell>{size_text(sizes[s]), count(sizes[s])});
    auto& speed_row = speeds.rows.emplace_back(std::vector<cell>{size_text(sizes[s]), count(sizes[s])});
    std::vector<double> floor;
    std::vector<cell> parts;
    for (std::size_t verb = 0; verb < verbs.size(); ++verb) {
      const comparison one = found[s][verb].compared();
      add_median(time_row, one, 1e3, 3);
      time_row.emplace_back(one.median_of_ratios, 2);
      time_row.push_back(quartiles_of_ratio(one));
      add_rate(speed_row, bytes, found[s][verb].measured, 3);
      add_part(parts, one, 3);
      floor.insert(floor.end(), found[s][verb].floor.begin(), found[s][verb].floor.end());
      if (sizes[s] == judged_bytes && verb < 2) {
        result.bars.push_back({std::string(verbs[verb]) + " of 64 MiB, part of memcpy's bandwidth",
                               1 / one.median_of_ratios, bar::direction::at_least, 0.9, ""});
      }
    }
    add_median(time_row, floor, 1e3, 3);
    add_rate(speed_row, bytes, floor, 3);
    speed_row.insert(speed_row.end(), parts.begin(), parts.end());
  }
  result.tables = {std::move(times), std::move(speeds)};
}

}  // namespace

report run_bandwidth(const settings& how) {
  if (how.transport == "emulated") return run_link_bandwidth(how);
  if (how.transport == "tcp") return run_tcp_bandwidth(how);
  session with(how, 2);
  const std::vector<std::size_t> sizes = transfer_sizes(how.largest_bytes);
  arena memory(sizes.back());
  copy_floor floor(sizes.back());
  std::vector<size_rounds> found(sizes.size());
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    block_plan plan = how.plan();
    plan.warm_up_ns = sizes[s] > (std::size_t{1} << 20) ? 0 : plan.warm_up_ns;
    plan.group = sizes[s] > 4096 ? 1 : 64;
    for (int round = 0; round < how.repetitions; ++round) {
      for (std::size_t verb = 0; verb < verbs.size(); ++verb) {
        take_round(
            found[s][verb], round,
            [&] {
              with.let_targets_sleep();
              return floor.copy(sizes[s], plan);
            },
            [&] { return time_block([&] { transfer(verb, memory, sizes[s]); }, plan); });
      }
    }
  }
  report result{"bandwidth", {}, {}, {}};
  add_rows(sizes, found, result);
  if (sizes.back() < judged_bytes)
    result.remarks.emplace_back("64 MiB was not measured (--largest), so nothing is judged");
  result.remarks.emplace_back(
      "put: host memory to target 1; get: back; copy: target 1 to target 2; each waits for its end");
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
