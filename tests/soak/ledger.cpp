#include "soak/ledger.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "soak/problems.hpp"

namespace soak {
namespace {

constexpr unsigned count_bits = 16;
constexpr unsigned serial_bits = 40;  // of a worker's own numbers

ledger_words& map_ledger() {
  const char* const path = std::getenv("HAM_SOAK_LEDGER");
  const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  void* const memory =
      file < 0 ? MAP_FAILED
               : ::mmap(nullptr, sizeof(ledger_words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (memory == MAP_FAILED) {
    std::fputs("ham_soak: HAM_SOAK_LEDGER has to name a file for the ledger; start it by soak.py\n", stderr);
    std::_Exit(2);
  }
  ::close(file);
  return *static_cast<ledger_words*>(memory);
}

}  // namespace

ledger_words& ledger() {
  static ledger_words& mapped = map_ledger();
  return mapped;
}

void record(stamp call) noexcept {
  if (call.serial == 0) return;
  std::atomic<std::uint64_t>& word = ledger()[call.place];
  std::uint64_t seen = word.load();
  while (seen >> count_bits == call.serial && !word.compare_exchange_weak(seen, seen + 1)) {
  }
}

stamp ledger_part::claim(const char* verb, runs at_first) {
  const std::size_t at = next_++ % places_per_worker;
  check(at);
  const stamp call{static_cast<std::uint32_t>(worker_ * places_per_worker + at),
                   (static_cast<std::uint64_t>(worker_ + 1) << serial_bits) | next_};
  ledger()[call.place].store(call.serial << count_bits);
  places_[at] = {at_first, verb};
  return call;
}

void ledger_part::expect(stamp call, runs how_often) {
  const std::size_t at = call.place % places_per_worker;
  places_[at].expected = how_often;
  check(at);
}

void ledger_part::check_all() {
  for (std::size_t at = 0; at < places_per_worker; ++at) check(at);
}

namespace {

bool is_right(runs wanted, std::uint64_t count) {
  switch (wanted) {
    case runs::once: return count == 1;
    case runs::never: return count == 0;
    case runs::no_more_than_once: return count <= 1;
    case runs::at_least_once: return count != 0;
    case runs::any_number: return true;
  }
  return false;
}

const char* text_of(runs wanted) {
  switch (wanted) {
    case runs::once: return "once";
    case runs::never: return "never";
    case runs::no_more_than_once: return "at most once";
    case runs::at_least_once: return "at least once";
    case runs::any_number: return "any number of times";
  }
  return "?";
}

}  // namespace

void ledger_part::check(std::size_t at) const {
  const std::uint64_t word = ledger()[worker_ * places_per_worker + at].load();
  const std::uint64_t count = word & ((1U << count_bits) - 1);
  if (word == 0 || is_right(places_[at].expected, count)) return;
  report("call " + std::to_string(word >> count_bits) + " (" + places_[at].verb + ") ran " + std::to_string(count) +
         " times and should have run " + text_of(places_[at].expected));
}

}  // namespace soak
