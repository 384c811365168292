// ham-bench bandwidth --transport emulated: paper 1's Fig. 10 and Table IV.
#include "benchmarks.hpp"
#include "paper_link.hpp"
#include "sizes.hpp"
#include "spread.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t judged_link_bytes = std::size_t{64} << 20;
constexpr std::size_t checked_bytes = std::size_t{1} << 20;
constexpr std::size_t max_by_words = std::size_t{4} << 20;  // as in the paper
// HAM stores blocks word by word (SHM) where that takes less than to set up the DMA engine.
constexpr std::size_t max_stored = 8 * static_cast<std::size_t>(dma_setup_ns / paper_word_link.store_ns);
static_assert(max_stored <= 256, "HAM stores no longer blocks word by word");
constexpr std::size_t large_bytes = std::size_t{16} << 20;  // from here on fewer operations and rounds

constexpr std::array<const char*, 2> directions{"host to target", "target to host"};
constexpr std::size_t to_target = 0;

std::byte pattern(std::size_t at, unsigned seed) { return static_cast<std::byte>((at * 7 + at / 251 + seed) & 0xff); }

void fill(std::byte* memory, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = pattern(i, seed);
}

bool holds(const std::byte* memory, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (memory[i] != pattern(i, seed)) return false;
  }
  return true;
}

// ---- on the target

std::vector<std::byte>& target_memory(std::size_t bytes) {
  static std::vector<std::byte> memory;
  if (memory.size() < bytes) memory.assign(bytes, std::byte{1});
  return memory;
}

void transfer_by_target(std::size_t direction, offload::buffer_ptr<std::byte> host, std::byte* here,
                        std::size_t bytes) {
  if (direction == to_target)
    offload::get_sync(host, here, bytes);
  else
    offload::put_sync(here, host, bytes);
}

double time_by_target(std::size_t direction, offload::buffer_ptr<std::byte> host, std::size_t bytes, block_plan plan) {
  std::byte* const here = target_memory(bytes).data();
  return time_block([&] { transfer_by_target(direction, host, here, bytes); }, plan).typical_ns;
}

/// Fetches what the host has written and writes something else back; false if that was not there.
bool check_by_target(offload::buffer_ptr<std::byte> host, std::size_t bytes) {
  std::byte* const here = target_memory(bytes).data();
  transfer_by_target(to_target, host, here, bytes);
  if (!holds(here, bytes, 1)) return false;
  fill(here, bytes, 2);
  transfer_by_target(1 - to_target, host, here, bytes);
  return true;
}

// ---- on the host

/// A session over one link and memory on both sides of it.
class link_session {
 public:
  link_session(const settings& how, const link_model& link, std::size_t largest)
      : with_(over(how, link)), host_(0, largest), target_(1, largest), bare_(link, largest) {
    std::byte* const here = host_.ptr().get();
    const std::size_t bytes = std::min(largest, checked_bytes);
    fill(here, bytes, 1);
    by_host(to_target, bytes);
    if (!link.host_initiated &&
        !(offload::sync(1, fn<&check_by_target>, host_.ptr(), bytes) && holds(here, bytes, 2))) {
      throw std::runtime_error("a target's transfers over the emulated link have moved wrong bytes");
    }
    fill(here, bytes, 3);
    by_host(1 - to_target, bytes);
    if (!holds(here, bytes, 1))
      throw std::runtime_error("the host's transfers over the emulated link have moved wrong bytes");
  }

  void by_host(std::size_t direction, std::size_t bytes) {
    std::byte* const here = host_.ptr().get();
    if (direction == to_target)
      offload::put_sync(here, target_.ptr(), bytes);
    else
      offload::get_sync(target_.ptr(), here, bytes);
  }
  [[nodiscard]] block_times time_by_host(std::size_t direction, std::size_t bytes, const block_plan& plan) {
    return time_block([&] { by_host(direction, bytes); }, plan);
  }
  [[nodiscard]] block_times time_by_target(std::size_t direction, std::size_t bytes, const block_plan& plan) {
    return {offload::sync(1, fn<&bench::time_by_target>, direction, host_.ptr(), bytes, plan), {}};
  }
  /// Word by word: stored by the target, or loaded by it.
  [[nodiscard]] block_times time_words(std::size_t direction, std::size_t bytes, const block_plan& plan) {
    with_.let_targets_sleep();
    return direction == to_target ? bare_.words_to_target(bytes, plan) : bare_.words_to_host(bytes, plan);
  }
  [[nodiscard]] block_times time_bare(std::size_t direction, std::size_t bytes, const block_plan& plan) {
    with_.let_targets_sleep();
    return direction == to_target ? bare_.to_target(bytes, plan) : bare_.to_host(bytes, plan);
  }
  void add_remarks(report& to) const { with_.add_remarks(to); }

 private:
  static settings over(settings how, const link_model& link) {
    how.link = link.settings();
    return how;
  }
  session with_;
  offload::buffer<std::byte> host_;
  offload::buffer<std::byte> target_;
  link_transfers bare_;
};

/// How HAM moves data, and the bare accesses beside it.
struct method {
  const char* name;
  const char* bare;
  std::optional<std::array<double, 2>> paper_gib_s;  ///< maximum of Table IV, if it has this method
  std::array<std::vector<paired_rounds>, 2> found;

  [[nodiscard]] const std::vector<double>& floor_ns(std::size_t direction, std::size_t at) const {
    return found[direction][at].floor;
  }
};

using measurement = std::function<block_times(std::size_t, std::size_t, const block_plan&)>;

void measure(const settings& how, const std::vector<std::size_t>& sizes, link_session& with, method& into,
             const measurement& timed) {
  for (std::size_t direction = 0; direction < directions.size(); ++direction) {
    for (const std::size_t bytes : sizes) {
      block_plan plan = how.plan();
      plan.group = bytes > 4096 ? 1 : 8;
      plan.warm_up_ns = bytes > checked_bytes ? 0 : plan.warm_up_ns / 3;
      plan.min_rounds = bytes < large_bytes ? 3 : 1;
      paired_rounds& rounds = into.found[direction].emplace_back();
      const int repetitions = bytes < large_bytes ? how.repetitions : std::min(how.repetitions, 3);
      for (int round = 0; round < repetitions; ++round) {
        take_round(
            rounds, round, [&] { return with.time_bare(direction, bytes, plan); },
            [&] { return timed(direction, bytes, plan); });
      }
    }
  }
}

double gib_per_s(std::size_t bytes, double ns) { return static_cast<double>(bytes) / ns * 1e9 / (1 << 30); }

table speeds_of(std::size_t direction, const std::vector<std::size_t>& sizes, const std::vector<method>& methods) {
  table speeds{
      std::string("emulated link, ") + directions[direction] + ", GiB/s (paper 1, Fig. 10)", {"size", "bytes"}, {}};
  for (const method& one : methods) {
    if (std::find(speeds.columns.begin(), speeds.columns.end(), one.bare) == speeds.columns.end()) {
      add_spread_columns(speeds.columns, one.bare);
    }
    add_spread_columns(speeds.columns, one.name);
  }
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    auto& row = speeds.rows.emplace_back(std::vector<cell>{size_text(sizes[s]), count(sizes[s])});
    std::string bare;
    for (const method& one : methods) {
      const paired_rounds& found = one.found[direction][s];
      if (bare != one.bare) add_rate(row, gib_per_s(sizes[s], 1), found.floor, 5);
      bare = one.bare;
      add_rate(row, gib_per_s(sizes[s], 1), found.measured, 5);
    }
  }
  return speeds;
}

table times_of(std::size_t direction, const std::vector<std::size_t>& sizes, const method& of) {
  table times{std::string("emulated link, ") + directions[direction] + ", " + of.name + "; floor: " + of.bare,
              {"size", "bytes"},
              {}};
  add_median_columns(times.columns, "", "us");
  add_spread_columns(times.columns, "GiB/s");
  add_median_columns(times.columns, "floor", "us");
  times.columns.insert(times.columns.end(), {"ratio", "quartiles"});
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    const comparison one = of.found[direction][s].compared();
    auto& row = times.rows.emplace_back(std::vector<cell>{size_text(sizes[s]), count(sizes[s])});
    add_median(row, one, 1e3, 2);
    add_rate(row, gib_per_s(sizes[s], 1), of.found[direction][s].measured, 5);
    add_floor(row, one, 1e3, 2);
    row.insert(row.end(), {{one.median_of_ratios, 3}, quartiles_of_ratio(one)});
  }
  return times;
}

struct bandwidth {
  double gib_s = 0;
  range quartiles;

  bool operator<(const bandwidth& other) const noexcept { return gib_s < other.gib_s; }
};

/// The third method of Fig. 10: SHM to the host and LHM to the target.
struct word_accesses {
  std::vector<std::size_t> sizes;
  std::array<std::vector<std::vector<double>>, 2> bare_ns;  ///< directions by sizes by rounds
  std::vector<std::size_t> stored_sizes;
  std::vector<paired_rounds> stored;  ///< HAM's transfers to the host beside the bare stores

  [[nodiscard]] bandwidth largest(std::size_t direction) const {
    bandwidth found;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const auto at = [&](double q) { return gib_per_s(sizes[s], quantile(bare_ns[direction][s], q)); };
      found = std::max(found, {at(0.5), {at(0.75), at(0.25)}});
    }
    return found;
  }
};

word_accesses measure_words(const settings& how, const std::vector<std::size_t>& all_sizes) {
  word_accesses found;
  for (const std::size_t bytes : all_sizes) {
    if (bytes < 8 || bytes > max_by_words) continue;
    found.sizes.push_back(bytes);
    if (bytes <= max_stored) found.stored_sizes.push_back(bytes);
  }
  if (found.sizes.empty()) return found;
  link_session with(how, paper_word_link, found.sizes.back());
  block_plan plan = how.plan();
  plan.group = 1;
  plan.min_rounds = 1;
  plan.warm_up_ns = 0;
  for (const std::size_t bytes : found.sizes) {
    for (std::size_t direction = 0; direction < directions.size(); ++direction) {
      auto& rounds = found.bare_ns[direction].emplace_back();
      for (int round = 0; round < std::min(how.repetitions, 3); ++round) {
        rounds.push_back(with.time_words(direction, bytes, plan).typical_ns);
      }
    }
    if (bytes > max_stored) continue;
    paired_rounds& stored = found.stored.emplace_back();
    for (int round = 0; round < how.repetitions; ++round) {
      take_round(
          stored, round, [&] { return with.time_words(1 - to_target, bytes, plan); },
          [&] { return with.time_by_target(1 - to_target, bytes, plan); });
    }
  }
  return found;
}

void add_words(report& to, const word_accesses& found) {
  if (found.sizes.empty()) return;
  table bare{"emulated link, word by word: SHM to the host, LHM to the target; bare accesses", {"size", "bytes"}, {}};
  for (const char* name : {"LHM", "SHM"}) {
    add_median_columns(bare.columns, name, "us");
    add_spread_columns(bare.columns, std::string(name) + " GiB/s");
  }
  for (std::size_t s = 0; s < found.sizes.size(); ++s) {
    auto& row = bare.rows.emplace_back(std::vector<cell>{size_text(found.sizes[s]), count(found.sizes[s])});
    for (std::size_t direction = 0; direction < directions.size(); ++direction) {
      add_median(row, found.bare_ns[direction][s], 1e3, 2);
      add_rate(row, gib_per_s(found.sizes[s], 1), found.bare_ns[direction][s], 5);
    }
  }
  to.tables.push_back(std::move(bare));
  table stored{"emulated link, target to host, HAM with SHM for blocks where that is faster than DMA; floor: bare SHM",
               {"size", "bytes"},
               {}};
  add_median_columns(stored.columns, "", "us");
  add_spread_columns(stored.columns, "GiB/s");
  add_median_columns(stored.columns, "floor", "us");
  stored.columns.insert(stored.columns.end(), {"ratio", "quartiles"});
  for (std::size_t s = 0; s < found.stored_sizes.size(); ++s) {
    const comparison one = found.stored[s].compared();
    auto& row =
        stored.rows.emplace_back(std::vector<cell>{size_text(found.stored_sizes[s]), count(found.stored_sizes[s])});
    add_median(row, one, 1e3, 2);
    add_rate(row, gib_per_s(found.stored_sizes[s], 1), found.stored[s].measured, 5);
    add_floor(row, one, 1e3, 2);
    row.insert(row.end(), {{one.median_of_ratios, 3}, quartiles_of_ratio(one)});
  }
  to.tables.push_back(std::move(stored));
}

table maxima_of(const std::vector<std::size_t>& sizes, const std::vector<method>& methods, const word_accesses& words) {
  table most{"emulated link, largest bandwidths, GiB/s (paper 1, Table IV)", {"method"}, {}};
  for (const char* direction : directions) {
    for (const char* what : {"paper, ", "here, ", "quartiles here, "}) {
      most.columns.push_back(std::string(what) + direction);
    }
  }
  for (const method& one : methods) {
    auto& row = most.rows.emplace_back(std::vector<cell>{one.name});
    for (std::size_t direction = 0; direction < directions.size(); ++direction) {
      bandwidth largest;
      for (std::size_t s = 0; s < sizes.size(); ++s) {
        const comparison times = one.found[direction][s].compared();
        largest =
            std::max(largest, {gib_per_s(sizes[s], times.measured),
                               {gib_per_s(sizes[s], times.measured_high), gib_per_s(sizes[s], times.measured_low)}});
      }
      row.push_back(one.paper_gib_s ? cell((*one.paper_gib_s)[direction], 1) : no_number());
      row.emplace_back(largest.gib_s, 2);
      row.emplace_back(largest.quartiles, 2);
    }
  }
  if (!words.sizes.empty()) {
    auto& row = most.rows.emplace_back(std::vector<cell>{"LHM, SHM, bare"});
    for (const std::size_t direction : {to_target, 1 - to_target}) {
      const bandwidth largest = words.largest(direction);
      row.insert(row.end(), {{direction == to_target ? lhm_to_target_gib_s : shm_to_host_gib_s, 2},
                             {largest.gib_s, 4},
                             {largest.quartiles, 4}});
    }
  }
  return most;
}

/// The largest of the sizes up to which all are faster word by word than `other_ns(index)`, as text.
template <class Other>
std::string faster_up_to(const word_accesses& words, std::size_t direction, Other other_ns) {
  std::string largest = "none";
  for (std::size_t s = 0; s < words.sizes.size(); ++s) {
    if (!(median(words.bare_ns[direction][s]) < other_ns(words.sizes[s]))) break;
    largest = size_text(words.sizes[s]);
  }
  return largest;
}

/// A row with `over` / `under`, which were not measured in turns; or by how many per cent that is more than 1.
std::vector<cell> ratio_row(const std::string& name, const char* paper, const std::vector<double>& over,
                            const std::vector<double>& under, bool as_percent = false) {
  const auto shown = [as_percent](double ratio) { return as_percent ? 100 * (ratio - 1) : ratio; };
  const auto at = [&](double q) { return shown(quantile(over, q) / quantile(under, 1 - q)); };
  const int digits = as_percent ? 1 : 2;
  return {name, paper, {at(0.5), digits}, {range{at(0.25), at(0.75)}, digits}};
}

/// The ratios that the paper's text gives of Fig. 10, whose curves it does not: of the bare accesses here.
table ratios_of(const std::vector<std::size_t>& sizes, const method& veo, const method& dma,
                const word_accesses& words) {
  table ratios{
      "emulated link, ratios of Fig. 10 (paper 1, Section V-B); here: of medians of the bare accesses, and the "
      "widest that the quartiles of both allow",
      {"ratio", "paper", "here", "here: quartiles"},
      {}};
  const auto index = [&](std::size_t bytes) {
    return static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), bytes) - sizes.begin());
  };
  constexpr std::size_t to_host = 1 - to_target;
  constexpr std::array<const char*, 2> ways{"to the device: ", "to the host: "};
  constexpr std::array<const char*, 2> small{"24", "up to 35"};
  constexpr std::array<const char*, 2> large{"at least 7", "7"};
  for (const std::size_t direction : {to_target, to_host}) {
    const auto row = [&](const std::string& name, const char* paper, std::size_t at, bool as_percent) {
      ratios.rows.push_back(ratio_row(ways[direction] + size_text(sizes[at]) + name, paper, veo.floor_ns(direction, at),
                                      dma.floor_ns(direction, at), as_percent));
    };
    row(", user DMA / VEO", small[direction], 0, false);
    row(", user DMA beyond VEO, %", large[direction], sizes.size() - 1, true);
  }
  const auto veo_ns = [&](std::size_t bytes) { return median(veo.floor_ns(to_host, index(bytes))); };
  const auto dma_ns = [&](std::size_t direction) {
    return [&, direction](std::size_t bytes) { return median(dma.floor_ns(direction, index(bytes))); };
  };
  for (const auto& [bytes, paper] : {std::pair{std::size_t{8}, "89 % faster"}, {std::size_t{256}, "16 % faster"}}) {
    const auto at = std::find(words.sizes.begin(), words.sizes.end(), bytes);
    if (at == words.sizes.end()) continue;
    ratios.rows.push_back(ratio_row("to the host: " + size_text(bytes) + ", time of user DMA / time of SHM", paper,
                                    dma.floor_ns(to_host, index(bytes)),
                                    words.bare_ns[to_host][static_cast<std::size_t>(at - words.sizes.begin())]));
  }
  if (!words.sizes.empty()) {
    const auto size_row = [&](const char* name, const char* paper, const std::string& size) {
      ratios.rows.push_back({name, paper, size, no_number()});
    };
    size_row("SHM is faster than user DMA up to", "256 B", faster_up_to(words, to_host, dma_ns(to_host)));
    size_row("SHM is faster than VEO read up to", "32 KiB", faster_up_to(words, to_host, veo_ns));
    size_row("LHM is faster than user DMA up to", "16 B", faster_up_to(words, to_target, dma_ns(to_target)));
  }
  return ratios;
}

void add_bars(report& to, const std::vector<std::size_t>& sizes, const method& of) {
  const auto at = std::find(sizes.begin(), sizes.end(), judged_link_bytes);
  if (at == sizes.end()) return;
  for (std::size_t direction = 0; direction < directions.size(); ++direction) {
    const paired_rounds& rounds = of.found[direction][static_cast<std::size_t>(at - sizes.begin())];
    to.bars.push_back({std::string(of.name) + ", 64 MiB " + directions[direction] + ", part of the bare bandwidth",
                       1 / rounds.compared().median_of_ratios, bar::direction::at_least, 0.9, ""});
  }
}

}  // namespace

report run_link_bandwidth(const settings& how) {
  const std::vector<std::size_t> sizes = transfer_sizes(how.largest_bytes);
  std::vector<method> methods{
      {"HAM over VEO", "bare VEO read/write", std::array{veo_to_target_gib_s, veo_to_host_gib_s}, {}},
      {"HAM over DMA, by the target", "bare user DMA", std::array{dma_to_target_gib_s, dma_to_host_gib_s}, {}},
      {"HAM over DMA, by the host", "bare user DMA", std::nullopt, {}}};
  report result{"bandwidth", {}, {}, {}};
  {
    link_session veo(how, paper_veo_link, sizes.back());
    measure(how, sizes, veo, methods[0], [&](std::size_t direction, std::size_t bytes, const block_plan& plan) {
      return veo.time_by_host(direction, bytes, plan);
    });
  }
  link_session dma(how, paper_dma_link, sizes.back());
  measure(how, sizes, dma, methods[1], [&](std::size_t direction, std::size_t bytes, const block_plan& plan) {
    return dma.time_by_target(direction, bytes, plan);
  });
  measure(how, sizes, dma, methods[2], [&](std::size_t direction, std::size_t bytes, const block_plan& plan) {
    return dma.time_by_host(direction, bytes, plan);
  });
  for (std::size_t direction = 0; direction < directions.size(); ++direction) {
    result.tables.push_back(speeds_of(direction, sizes, methods));
    for (const method& one : methods) result.tables.push_back(times_of(direction, sizes, one));
  }
  const word_accesses words = measure_words(how, sizes);
  add_words(result, words);
  result.tables.push_back(ratios_of(sizes, methods[0], methods[1], words));
  result.tables.push_back(maxima_of(sizes, methods, words));
  add_bars(result, sizes, methods[0]);
  add_bars(result, sizes, methods[1]);
  result.remarks.emplace_back(
      "the link is emulated: latencies and largest bandwidths are the paper's (108 us a VEO transfer; 1.2 us PCIe, "
      "1.25 us DMA set-up), each access is a copy of this machine's memory, which may be slower than the link");
  result.remarks.emplace_back(
      "by the target: it fetches from and delivers to memory of the host, as VE user DMA does; by the host: put and "
      "get, whose data goes in messages, because the host cannot initiate accesses over this link");
  result.remarks.emplace_back(
      "word by word up to 4 MiB, as in the paper: a word stored takes 120 ns, which is the paper's 0.06 GiB/s, a word "
      "loaded a round "
      "trip of the link; HAM stores blocks so where that takes less than the DMA engine's set-up, which over this link "
      "is up to " +
      size_text(max_stored) + ", and loads none");
  result.remarks.emplace_back(
      "ratios of short transfers are not the paper's: the set-up of a DMA is chosen so that an empty offload takes the "
      "paper's 6.1 us, which leaves less for it than those ratios imply");
  result.remarks.emplace_back("bytes were compared after transfers of up to 1 MiB in each way");
  dma.add_remarks(result);
  return result;
}

}  // namespace ham::bench
