// ham-bench openmp: paper 3's Fig. 5 and 6 beside the heir of its LEO, OpenMP target regions on LLVM's host device.
#include "benchmarks.hpp"
#include "copy_floor.hpp"
#include "sizes.hpp"
#include "spread.hpp"

#include "openmp/target_regions.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

namespace {

std::filesystem::path library_file() { return std::filesystem::read_symlink("/proc/self/exe").concat(".openmp.so"); }

/// The library that clang has made.
class target_regions {
 public:
  target_regions() {
    if (!openmp_built()) {
      throw std::runtime_error(
          "openmp is not built: it needs a clang with LLVM's OpenMP plug-in for the host when HAM is configured "
          "(Debian: clang libomp-dev)");
    }
    library_ = ::dlopen(library_file().c_str(), RTLD_NOW);
    if (library_ == nullptr) throw std::runtime_error(std::string("cannot load OpenMP's target regions: ") + dlerror());
    find(empty, "empty");
    find(plain, "plain");
    find(map, "map");
    find(unmap, "unmap");
    find(to_device, "to_device");
    find(to_host, "to_host");
    find(add_one, "add_one");
    decltype(&ham_bench_openmp_runs_on_device) runs_on_device = nullptr;
    find(runs_on_device, "runs_on_device");
    if (runs_on_device() == 0) throw std::runtime_error("OpenMP has no device here: target regions run in their host");
  }

  decltype(&ham_bench_openmp_empty) empty = nullptr;
  decltype(&ham_bench_openmp_plain) plain = nullptr;
  decltype(&ham_bench_openmp_map) map = nullptr;
  decltype(&ham_bench_openmp_unmap) unmap = nullptr;
  decltype(&ham_bench_openmp_to_device) to_device = nullptr;
  decltype(&ham_bench_openmp_to_host) to_host = nullptr;
  decltype(&ham_bench_openmp_add_one) add_one = nullptr;

 private:
  template <class Function>
  void find(Function& to, const char* name) {
    to = reinterpret_cast<Function>(::dlsym(library_, (std::string("ham_bench_openmp_") + name).c_str()));
    if (to == nullptr) throw std::runtime_error(library_file().string() + " is of another build");
  }

  void* library_ = nullptr;  // stays loaded: OpenMP has registered what ends with the process
};

/// Memory that is mapped to the device.
class mapped_memory {
 public:
  mapped_memory(const target_regions& regions, std::size_t bytes) : regions_(regions), memory_(bytes, 1) {
    regions_.map(memory_.data(), bytes);
    regions_.to_device(memory_.data(), bytes);
    const int wrong = regions_.add_one(memory_.data(), bytes);
    regions_.to_host(memory_.data(), bytes);
    if (wrong != 0 || std::count(memory_.begin(), memory_.end(), 2) != static_cast<std::ptrdiff_t>(bytes)) {
      throw std::runtime_error("OpenMP has moved wrong bytes");
    }
  }
  ~mapped_memory() { regions_.unmap(memory_.data(), memory_.size()); }
  mapped_memory(const mapped_memory&) = delete;
  mapped_memory& operator=(const mapped_memory&) = delete;
  [[nodiscard]] char* data() noexcept { return memory_.data(); }

 private:
  const target_regions& regions_;
  std::vector<char> memory_;
};

void compare_empty(const settings& how, const target_regions& regions, session& with, report& into) {
  paired_rounds ham, openmp, openmp_beside_call;
  for (int round = 0; round < how.repetitions; ++round) {
    const auto floor = [&] { return with.bounce(); };
    take_round(ham, round, floor, [&] { return time_block([] { offload::sync(1, fn<&nothing>); }, how.plan()); });
    const auto region = [&] { return time_block([&] { regions.empty(); }, how.plan()); };
    take_round(openmp, round, floor, region);
    take_round(
        openmp_beside_call, round, [&] { return time_block([&] { regions.plain(); }, how.plan()); }, region);
  }
  table found{"empty offload (paper 3, Fig. 5); floor: a cache line bounced between two processes", {"offload"}, {}};
  add_median_columns(found.columns, "", "ns");
  add_median_columns(found.columns, "floor", "ns");
  add_spread_columns(found.columns, "OpenMP / this");
  const auto add = [&](const char* name, const paired_rounds& rounds) {
    auto& row = found.rows.emplace_back(std::vector<cell>{name});
    add_median(row, rounds.compared(), 1, 1);
    add_floor(row, rounds.compared(), 1, 1);
    add_ratio(row, compare(openmp.measured, rounds.measured), 2);
  };
  add("HAM over shm, to another process", ham);
  add("OpenMP target, LLVM's host plug-in, in this process", openmp);
  into.tables.push_back(std::move(found));
  into.tables.push_back(framework_part(
      {{"HAM over shm", ham.compared()}, {"OpenMP target, LLVM's host plug-in", openmp_beside_call.compared()}}));
  into.remarks.emplace_back(
      "the framework's part is an empty offload without the round trip of its medium. HAM's target is another process "
      "on another core: a cache line bounced between them. OpenMP's device for the host is this process: a call of an "
      "empty function of the same library, by its address");
}

void compare_transfers(const settings& how, const target_regions& regions, session& with, report& into) {
  const std::vector<std::size_t> sizes = transfer_sizes(how.largest_bytes);
  mapped_memory mapped(regions, sizes.back());
  std::vector<std::byte> local(sizes.back(), std::byte{1});
  const offload::buffer<std::byte> there(1, sizes.back());
  offload::put_sync(local.data(), there.ptr(), local.size());
  copy_floor floor(sizes.back());
  constexpr std::array<const char*, 4> names{"OpenMP target update to", "OpenMP target update from", "HAM put",
                                             "HAM get"};
  std::array<table, 2> times;  // to the device, from the device
  for (std::size_t way = 0; way < times.size(); ++way) {
    times[way] = {std::string("transfers ") + (way == 0 ? "to" : "from") +
                      " the device (paper 3, Fig. 6); floor: memcpy between two shared mappings",
                  {"size", "bytes"},
                  {}};
    for (std::size_t which = way; which < names.size(); which += times.size()) {
      add_median_columns(times[way].columns, names[which], "us");
      add_spread_columns(times[way].columns, std::string(names[which]) + " GiB/s");
      add_spread_columns(times[way].columns, std::string(names[which]) + " ratio");
    }
    add_median_columns(times[way].columns, "memcpy", "us");
  }
  for (const std::size_t bytes : sizes) {
    block_plan plan = how.plan();
    plan.warm_up_ns = bytes > (std::size_t{1} << 20) ? 0 : plan.warm_up_ns;
    plan.group = bytes > 4096 ? 1 : 64;
    const auto transfer = [&](std::size_t which) {
      switch (which) {
        case 0: regions.to_device(mapped.data(), bytes); break;
        case 1: regions.to_host(mapped.data(), bytes); break;
        case 2: offload::put_sync(local.data(), there.ptr(), bytes); break;
        default: offload::get_sync(there.ptr(), local.data(), bytes); break;
      }
    };
    std::array<paired_rounds, names.size()> rounds;
    for (int round = 0; round < how.repetitions; ++round) {
      for (std::size_t which = 0; which < names.size(); ++which) {
        take_round(
            rounds[which], round,
            [&] {
              with.let_targets_sleep();
              return floor.copy(bytes, plan);
            },
            [&] { return time_block([&] { transfer(which); }, plan); });
      }
    }
    for (std::size_t way = 0; way < times.size(); ++way) {
      auto& row = times[way].rows.emplace_back(std::vector<cell>{size_text(bytes), count(bytes)});
      for (std::size_t which = way; which < names.size(); which += times.size()) {
        const comparison found = rounds[which].compared();
        add_median(row, found, 1e3, 3);
        add_rate(row, static_cast<double>(bytes) * 1e9 / (1 << 30), rounds[which].measured, 5);
        add_ratio(row, found, 2);
      }
      add_floor(row, rounds[way].compared(), 1e3, 3);
    }
  }
  for (table& one : times) into.tables.push_back(std::move(one));
}

}  // namespace

bool openmp_built() { return exists(library_file()); }

report run_openmp(const settings& how) {
  const target_regions regions;
  session with(how);
  report result{"openmp", {}, {}, {}};
  compare_empty(how, regions, with, result);
  compare_transfers(how, regions, with, result);
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
