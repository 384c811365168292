// ham-bench bandwidth --transport tcp: transfers of all sizes beside a bare stream of the same bytes.
#include "benchmarks.hpp"
#include "sizes.hpp"
#include "spread.hpp"
#include "tcp_pair.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t judged_tcp_bytes = std::size_t{64} << 20;

struct found_for_size {
  paired_rounds put;
  paired_rounds get;
};

block_times stream(tcp_pair& with, std::span<const std::byte> data, const block_plan& plan) {
  socket_partner& partner = with.partner();
  block_times result;
  const std::int64_t end = now_ns() + plan.length_ns;
  do result.single_ns.push_back(partner.stream_ns(data));
  while (now_ns() < end || result.single_ns.size() < plan.min_rounds);
  result.typical_ns = median(result.single_ns);
  return result;
}

std::vector<found_for_size> measure(const settings& how, bool secure, const std::vector<std::size_t>& sizes) {
  tcp_pair with(secure, how.all_cores, how.all_cores);  // as in ham-bench tcp, nobody is pinned
  std::vector<std::byte> local(sizes.back(), std::byte{7});
  const offload::buffer<std::byte> there(1, sizes.back());
  offload::put_sync(local.data(), there.ptr(), local.size());
  std::fill(local.begin(), local.end(), std::byte{0});
  offload::get_sync(there.ptr(), local.data(), local.size());
  if (std::count(local.begin(), local.end(), std::byte{7}) != static_cast<std::ptrdiff_t>(local.size())) {
    throw std::runtime_error("transfers over tcp have moved wrong bytes");
  }
  std::vector<found_for_size> found(sizes.size());
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    const std::size_t bytes = sizes[s];
    block_plan plan = how.plan();
    plan.group = 1;
    plan.warm_up_ns = bytes > (std::size_t{1} << 20) ? 0 : plan.warm_up_ns;
    const auto floor = [&] { return stream(with, std::span(local).first(bytes), plan); };
    for (int round = 0; round < how.repetitions; ++round) {
      take_round(found[s].put, round, floor,
                 [&] { return time_block([&] { offload::put_sync(local.data(), there.ptr(), bytes); }, plan); });
      take_round(found[s].get, round, floor,
                 [&] { return time_block([&] { offload::get_sync(there.ptr(), local.data(), bytes); }, plan); });
    }
  }
  return found;
}

}  // namespace

report run_tcp_bandwidth(const settings& how) {
  report result{"bandwidth", {}, {}, {}};
  const std::vector<std::size_t> sizes = transfer_sizes(how.largest_bytes);
  for (const bool secure : {false, true}) {
    const std::vector<found_for_size> found = measure(how, secure, sizes);
    table times{std::string("tcp on loopback, ") + (secure ? "with TLS" : "in plaintext") +
                    "; floor: the same bytes sent and received over a bare socket in plaintext, and a byte back",
                {"size", "bytes"},
                {}};
    for (const char* verb : {"put", "get"}) {
      add_median_columns(times.columns, verb, "us");
      add_spread_columns(times.columns, std::string(verb) + " GB/s");
      add_spread_columns(times.columns, std::string(verb) + " ratio");
    }
    add_median_columns(times.columns, "floor", "us");
    add_spread_columns(times.columns, "floor GB/s");
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const auto bytes = static_cast<double>(sizes[s]);
      auto& row = times.rows.emplace_back(std::vector<cell>{size_text(sizes[s]), count(sizes[s])});
      std::vector<double> floor = found[s].put.floor;
      floor.insert(floor.end(), found[s].get.floor.begin(), found[s].get.floor.end());
      for (const paired_rounds* rounds : {&found[s].put, &found[s].get}) {
        const comparison one = rounds->compared();
        add_median(row, one, 1e3, 2);
        add_rate(row, bytes, rounds->measured, 4);
        add_ratio(row, one, 3);
      }
      add_median(row, floor, 1e3, 2);
      add_rate(row, bytes, floor, 4);
      if (sizes[s] != judged_tcp_bytes || secure) continue;
      result.bars.push_back({"put of 64 MiB in plaintext, part of a bare stream's bandwidth",
                             1 / found[s].put.compared().median_of_ratios, bar::direction::at_least, 0.9, ""});
      result.bars.push_back({"get of 64 MiB in plaintext, part of a bare stream's bandwidth",
                             1 / found[s].get.compared().median_of_ratios, bar::direction::at_least, 0.9, ""});
    }
    result.tables.push_back(std::move(times));
  }
  if (!how.cores.distinct()) result.remarks.emplace_back("one core only: the ratios say little");
  return result;
}

}  // namespace ham::bench
