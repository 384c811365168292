// The measurements: the same loops for every peer.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "client.hpp"
#include "machine.hpp"

namespace ham::inline v1::peers {

/// Sorts.
inline double median(std::vector<double>& of) {
  if (of.empty()) throw std::logic_error("the median of nothing");
  std::sort(of.begin(), of.end());
  const std::size_t middle = of.size() / 2;
  return of.size() % 2 != 0 ? of[middle] : (of[middle - 1] + of[middle]) / 2;
}

inline void expect(std::uint64_t found, std::uint64_t wanted, const char* of) {
  if (found != wanted) {
    throw std::runtime_error(std::string("wrong answer to ") + of + ": " + std::to_string(found) + " instead of " +
                             std::to_string(wanted));
  }
}

/// Every byte differs from its neighbours, and pages from each other.
inline std::vector<std::byte> make_argument(std::size_t bytes) {
  std::vector<std::byte> argument(bytes);
  for (std::size_t i = 0; i < bytes; ++i) argument[i] = static_cast<std::byte>((i * 7 + i / 4096) & 0xFFU);
  return argument;
}

/// Nanoseconds of one call: the median of batches that together take about `budget_ns`.
inline double time_calls(client& peer, std::span<const std::byte> argument, std::int64_t budget_ns) {
  const std::uint64_t wanted = execute(op::touch, argument);
  const auto batch = [&](std::size_t calls) {
    std::uint64_t sum = 0;
    const std::int64_t begin = now_ns();
    for (std::size_t i = 0; i < calls; ++i) sum += peer.call(op::touch, argument);
    const std::int64_t end = now_ns();
    expect(sum, wanted * calls, "a call");
    return static_cast<double>(end - begin) / static_cast<double>(calls);
  };
  // Warms up, and finds how many calls take about a millisecond.
  constexpr double batch_ns = 1e6;
  std::size_t calls = 1;
  for (const std::int64_t begin = now_ns(); now_ns() - begin < budget_ns / 5;) {
    calls = static_cast<std::size_t>(std::clamp(batch_ns / batch(calls), 1.0, 4096.0));
  }
  std::vector<double> times;
  for (const std::int64_t begin = now_ns(); times.size() < 5 || now_ns() - begin < budget_ns;) {
    times.push_back(batch(calls));
  }
  return median(times);
}

/// Calls a second with `under_way` at a time.
inline double rate_of_calls(client& peer, std::size_t under_way, std::int64_t budget_ns) {
  const auto once = [&] {
    const std::int64_t begin = now_ns();
    const std::uint64_t sum = peer.call_many(under_way);
    const std::int64_t end = now_ns();
    expect(sum, under_way, "calls under way");
    return static_cast<double>(under_way) * 1e9 / static_cast<double>(end - begin);
  };
  once();
  std::vector<double> rates;
  for (const std::int64_t begin = now_ns(); rates.empty() || now_ns() - begin < budget_ns;) rates.push_back(once());
  return median(rates);
}

/// Seconds until `block` has arrived in the server's memory and the answer is here: the median of several, as many as
/// `budget_ns` allows.
inline double time_transfer(client& peer, std::span<const std::byte> block, std::int64_t budget_ns) {
  const std::uint64_t wanted = execute(op::touch, block);
  expect(peer.call(op::touch, block), wanted, "a transfer");
  std::vector<double> times;
  for (const std::int64_t start = now_ns(); times.empty() || now_ns() - start < budget_ns;) {
    const std::int64_t begin = now_ns();
    const std::uint64_t answer = peer.call(op::touch, block);
    times.push_back(static_cast<double>(now_ns() - begin) * 1e-9);
    expect(answer, wanted, "a transfer");
  }
  return median(times);
}

/// Processor time of the server over a second without calls, in percent of a core. What spins only for some time after
/// a call has stopped by then.
inline double idle_percent(client& peer) {
  const auto server = static_cast<pid_t>(peer.call(op::process, {}));
  ::usleep(200'000);
  const std::int64_t begin = now_ns();
  const std::int64_t before = processor_time_ns(server);
  ::usleep(1'000'000);
  const std::int64_t used = processor_time_ns(server) - before;
  return 100.0 * static_cast<double>(used) / static_cast<double>(now_ns() - begin);
}

/// A round of calls of all kinds whose answers depend on every byte.
inline void check(client& peer) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1024}, std::size_t{100'000}, max_bytes}) {
    const std::vector<std::byte> argument = make_argument(bytes);
    for (const op what : {op::touch, op::sum}) {
      expect(peer.call(what, argument), execute(what, argument),
             ("a call with " + std::to_string(bytes) + " bytes").c_str());
    }
  }
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{1000}}) {
    expect(peer.call_many(count), count, "calls under way");
  }
  if (!peer.has_server()) return;
  const std::uint64_t server = peer.call(op::process, {});
  if (server == static_cast<std::uint64_t>(::getpid())) throw std::runtime_error("the server is this process");
  static_cast<void>(processor_time_ns(static_cast<pid_t>(server)));
}

}  // namespace ham::peers
