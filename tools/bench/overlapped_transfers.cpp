// Large transfers while the host computes, in whatever job there is.
#include "overlapped_transfers.hpp"

#include "statistics.hpp"
#include "timing.hpp"

#include <ham/offload.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 20;

/// Computes in registers.
std::uint64_t compute(std::uint64_t rounds) {
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < rounds; ++i) state = state * 6364136223846793005ULL + (state >> 33);
  asm volatile("" : : "r"(state));
  return state;
}

template <class Action>
double seconds_of(Action action) {
  const std::int64_t begin = now_ns();
  action();
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

struct transfer_memory {
  transfer_memory() : local(block_bytes, std::byte{1}), there(1, block_bytes) {
    offload::put_sync(local.data(), there.ptr(), block_bytes);
  }
  std::vector<std::byte> local;
  offload::buffer<std::byte> there;
};

void move_sync(bool put, transfer_memory& of) {
  if (put)
    offload::put_sync(of.local.data(), of.there.ptr(), block_bytes);
  else
    offload::get_sync(of.there.ptr(), of.local.data(), block_bytes);
}

offload::future<void> begin(bool put, transfer_memory& of) {
  return put ? offload::put(of.local.data(), of.there.ptr(), block_bytes)
             : offload::get(of.there.ptr(), of.local.data(), block_bytes);
}

struct times {
  std::vector<double> alone, helped, computing, together, ratio;
};

times measure(bool put, transfer_memory& of, int repetitions) {
  times result;
  std::uint64_t rounds = 1'000'000;
  for (int i = -3; i < repetitions; ++i) {  // the first rounds warm up, and find how much computing takes as long
    const double alone = seconds_of([&] { move_sync(put, of); });
    const double helped = seconds_of([&] { begin(put, of).get(); });
    const double computing = seconds_of([&] { compute(rounds); });
    const double together = seconds_of([&] {
      auto transfer = begin(put, of);
      compute(rounds);
      transfer.get();
    });
    if (i >= 0) {
      result.alone.push_back(alone);
      result.helped.push_back(helped);
      result.computing.push_back(computing);
      result.together.push_back(together);
      result.ratio.push_back(together / std::max(alone, computing));
    } else {
      rounds = static_cast<std::uint64_t>(static_cast<double>(rounds) * alone / computing) + 1;
    }
  }
  return result;
}

}  // namespace

report measure_overlapped_transfers(int repetitions) {
  report result{"transfers", {}, {}, {}};
  transfer_memory of;
  table found{"put and get of 64 MiB, alone and while the host computes for as long", {"verb"}, {}};
  for (const char* name : {"by the caller", "waited for at once", "computing", "both at once"}) {
    add_median_columns(found.columns, name, "ms");
  }
  add_median_columns(found.columns, "ratio", "");
  found.columns.insert(found.columns.end(), {"lowest", "highest"});
  for (const bool put : {true, false}) {
    const times one = measure(put, of, std::max(repetitions, 5) * 3);
    const auto [low, high] = std::minmax_element(one.ratio.begin(), one.ratio.end());
    const double lowest = *low;
    const double highest = *high;
    const double ratio = median(one.ratio);
    auto& row = found.rows.emplace_back(std::vector<cell>{put ? "put" : "get"});
    for (const auto* seconds : {&one.alone, &one.helped, &one.computing, &one.together}) {
      add_median(row, *seconds, 1e-3, 3);
    }
    add_median(row, one.ratio, 1, 2);
    row.insert(row.end(), {{lowest, 2}, {highest, 2}});
    result.bars.push_back(
        {std::string(put ? "put" : "get") + " of 64 MiB beside as much computing / the longer one alone", ratio,
         bar::direction::at_most, 1.15, ""});
  }
  result.tables.push_back(std::move(found));
  return result;
}

}  // namespace ham::bench
