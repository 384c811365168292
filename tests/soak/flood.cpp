#include "soak/flood.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "soak/functions.hpp"
#include "soak/problems.hpp"

namespace soak {
namespace {

constexpr node_t target = 1;
constexpr std::uint64_t batch_calls = 1000;
constexpr std::size_t batches_under_way = 3;
constexpr std::size_t calls_under_way = 512;
constexpr std::uint64_t pipelined_in = 10;  ///< of so many parts, one is made by single calls

using results = std::vector<offload::future<std::uint64_t>>;

class flooding {
 public:
  bool run(std::uint64_t count) {
    const auto start = std::chrono::steady_clock::now();
    auto told = start;
    while (made_ < count && right_) {
      const std::uint64_t part = std::min<std::uint64_t>(count - made_, 100 * batch_calls);
      if (part_++ % pipelined_in == 0)
        pipelined(part);
      else
        batches(part);
      const auto now = std::chrono::steady_clock::now();
      if (now - told < std::chrono::seconds(1) && made_ < count) continue;
      told = now;
      emit("flood", "{\"calls\":" + std::to_string(made_) +
                        ",\"seconds\":" + std::to_string(std::chrono::duration<double>(now - start).count()) + "}");
    }
    const std::uint64_t there = offload::sync(target, fn<&count_so_far>);
    if (there != made_) report(std::to_string(made_) + " calls were made and " + std::to_string(there) + " have run");
    return right_ && there == made_;
  }

 private:
  void check(results& all, std::uint64_t first) {
    for (auto& one : all) {
      if (one.get() == 3 * first++ + 1) continue;
      right_ = false;
      report("the result of call " + std::to_string(first - 1) + " is wrong");
    }
    all.clear();
  }

  void batches(std::uint64_t count) {
    std::array<results, batches_under_way> under_way;
    std::array<std::uint64_t, batches_under_way> first{};
    std::size_t turn = 0;
    offload::batch batch(target);
    for (const std::uint64_t end = made_ + count; made_ < end;) {
      results& here = under_way[turn];
      check(here, first[turn]);
      first[turn] = made_;
      const std::uint64_t size = std::min(batch_calls, end - made_);
      for (std::uint64_t i = 0; i < size; ++i) here.push_back(batch.add(fn<&counted>, made_ + i));
      batch.submit();
      made_ += size;
      turn = (turn + 1) % batches_under_way;
    }
    for (std::size_t i = 0; i < batches_under_way; ++i, turn = (turn + 1) % batches_under_way)
      check(under_way[turn], first[turn]);
  }

  void pipelined(std::uint64_t count) {
    std::deque<offload::future<std::uint64_t>> under_way;
    std::uint64_t read = made_;
    const std::uint64_t end = made_ + count;
    while (read < end) {
      while (made_ < end && under_way.size() < calls_under_way)
        under_way.push_back(offload::async(target, fn<&counted>, made_++));
      if (under_way.front().get() != 3 * read + 1) {
        right_ = false;
        report("the result of call " + std::to_string(read) + " is wrong");
      }
      under_way.pop_front();
      ++read;
    }
  }

  std::uint64_t made_ = 0;
  std::uint64_t part_ = 0;
  bool right_ = true;
};

}  // namespace

bool flood(std::uint64_t count) { return flooding().run(count); }

}  // namespace soak
