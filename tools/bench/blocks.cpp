// ham-bench blocks: rows that do not follow each other, in one operation and each by itself.
#include "benchmarks.hpp"

#include "copy_floor.hpp"
#include "tcp_job.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t total_bytes = std::size_t{4} << 20;

/// Every second row of a matrix, to rows that follow each other.
struct shape {
  const char* name;
  std::size_t row_bytes;
  [[nodiscard]] std::size_t rows() const { return total_bytes / row_bytes; }
  [[nodiscard]] offload::block block() const {
    return {.rows = rows(), .columns = row_bytes, .source_pitch = 2 * row_bytes};
  }
};
constexpr std::array<shape, 4> shapes{{{"64 B", 64}, {"1 KiB", 1024}, {"16 KiB", 16 << 10}, {"512 KiB", 512 << 10}}};

struct memory {
  memory() : local(2 * total_bytes, std::byte{1}), there(1, 2 * total_bytes) {
    offload::put_sync(local.data(), there.ptr(), local.size());
  }
  std::vector<std::byte> local;
  offload::buffer<std::byte> there;
};

void put_rows_singly(const shape& what, memory& of) {
  for (std::size_t row = 0; row < what.rows(); ++row) {
    offload::put_sync(of.local.data() + 2 * row * what.row_bytes, of.there.ptr() + row * what.row_bytes,
                      what.row_bytes);
  }
}

}  // namespace

report run_blocks(const settings& how) {
  report result{"blocks", {}, {}, {}};
  std::optional<tcp_server> server;
  if (how.transport == "tcp") server.emplace(false, how.all_cores);
  const auto job = server ? server->host() : start_job(how, 1, pinning::by_default);
  memory of;
  const shared_mapping from(2 * total_bytes);
  const shared_mapping to(2 * total_bytes);
  table found{
      "4 MiB in rows, every second row of a matrix; floor: the rows copied one by one with memcpy between two shared "
      "mappings",
      {"row"},
      {}};
  for (const char* name : {"put", "get", "put of each row"}) add_median_columns(found.columns, name, "us");
  found.columns.insert(found.columns.end(), {"floor us", "put / floor", "quartiles", "each row / put"});
  for (const shape& what : shapes) {
    paired_rounds put, get, single;
    block_plan plan = how.plan();
    plan.warm_up_ns = 0;
    plan.group = 1;
    const auto floor = [&] {
      return time_block(
          [&] {
            for (std::size_t row = 0; row < what.rows(); ++row) {
              std::memcpy(to.data() + row * what.row_bytes, from.data() + 2 * row * what.row_bytes, what.row_bytes);
            }
          },
          plan);
    };
    const auto timed = [&](const std::function<void()>& action) { return time_block(action, plan); };
    for (int round = 0; round < how.repetitions; ++round) {
      take_round(put, round, floor,
                 [&] { return timed([&] { offload::put_sync(of.local.data(), of.there.ptr(), what.block()); }); });
      take_round(get, round, floor,
                 [&] { return timed([&] { offload::get_sync(of.there.ptr(), of.local.data(), what.block()); }); });
      take_round(single, round, floor, [&] { return timed([&] { put_rows_singly(what, of); }); });
    }
    const comparison block = put.compared();
    const comparison each = single.compared();
    auto& row = found.rows.emplace_back(std::vector<cell>{what.name});
    for (const comparison& one : {block, get.compared(), each}) add_median(row, one, 1e3, 1);
    row.insert(row.end(), {{block.floor / 1e3, 1},
                           {block.median_of_ratios, 2},
                           quartiles_of_ratio(block),
                           {each.measured / block.measured, 2}});
  }
  result.tables.push_back(std::move(found));
  return result;
}

}  // namespace ham::bench
