// Each request runs with a landing, so that a fault becomes its answer.
#include "helper.hpp"

#include <signal.h>
#include <sys/random.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "crash.hpp"
#include "history.hpp"
#include "host_line.hpp"
#include "pinning.hpp"
#include "profile.hpp"
#include "typed_call.hpp"

namespace ham::inline v1::veo {
namespace {

void begin(unseen_count unseen) {
  stop_if_crashing();
  if (prepare_thread()) [[unlikely]]
    pin_context();
  if (unseen != 0) remember_none(unseen);
}

answer crashed(int signal) noexcept {
  begin_to_die(signal);
  return {outcome::crashed, static_cast<std::uint64_t>(signal), {}};
}

/// Runs code that is not ours and gives a word.
template <class Work>
answer run_foreign(unseen_count unseen, Work work) {
  begin(unseen);
  std::uint64_t value = 0;
  auto keeping = [&] { value = work(); };
  if (const int signal = run_caught(false, keeping); signal != 0) return crashed(signal);
  remember_result(value);
  return {outcome::done, value, {}};
}

/// Touches memory that may not be there.
template <class Work>
answer touch_memory(unseen_count unseen, Work work) {
  begin(unseen);
  const int signal = run_caught(true, work);
  if (signal != 0 && signal != SIGSEGV && signal != SIGBUS) return crashed(signal);
  remember_none(1);
  return {signal == 0 ? outcome::done : outcome::refused, 0, {}};
}

/// Runs a kernel and adds the time that it takes to the profile.
template <class Work>
void profiled(std::uint64_t kernel, kernel_directory& directory, Work& work) {
  profile& all = *profile::of_this_process();
  const std::string name = all.is_new(kernel) ? directory.types_of(kernel)->name : std::string();
  const auto begun = std::chrono::steady_clock::now();
  work();
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begun;
  all.add(kernel, time.count(), name);
}

template <class T = std::byte>
T* at(std::uint64_t address) noexcept {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

std::vector<std::byte> bytes_of(std::span<const std::uint64_t> words) {
  const auto bytes = std::as_bytes(words);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

answer helper::call(unseen_count unseen, std::uint64_t kernel, std::span<const std::byte> message) {
  begin(unseen);
  kernel_arguments arguments(message, detail::max_message());
  prepared_call& ready = prepare_call(kernel, libraries_.kernels(), arguments);
  ready.convert(arguments);
  std::uint64_t value = 0;
  auto work = [&] { value = ready.run(arguments); };
  auto timed_work = [&] { profiled(kernel, libraries_.kernels(), work); };
  const bool timed = profile::of_this_process() != nullptr;
  if (const int signal = timed ? run_caught(false, timed_work) : run_caught(false, work); signal != 0) {
    if (signal == SIGSEGV || signal == SIGBUS) ready.explain_fault(signal, arguments);
    return crashed(signal);
  }
  remember_result(value);
  return {outcome::done, value, arguments.returned()};
}

answer helper::allocate(unseen_count unseen, std::uint64_t bytes) {
  return run_foreign(unseen, [&] { return reinterpret_cast<std::uintptr_t>(std::malloc(bytes)); });
}

answer helper::release(unseen_count unseen, std::uint64_t address) {
  begin(unseen);
  auto work = [&] { std::free(at<void>(address)); };
  if (const int signal = run_caught(false, work); signal != 0) return crashed(signal);
  remember_none(1);
  return {};
}

answer helper::store(unseen_count unseen, std::uint64_t address, std::span<const std::byte> bytes) {
  return touch_memory(unseen, [&] { std::memcpy(at(address), bytes.data(), bytes.size()); });
}

answer helper::load(unseen_count unseen, std::uint64_t address, std::uint64_t bytes) {
  if (bytes > detail::max_message()) {
    throw call_error("a host asks for " + std::to_string(bytes) +
                     " bytes at once, which is more than this helper sends in one message (HAM_MAX_MESSAGE)");
  }
  std::vector<std::byte> content(bytes);
  answer result = touch_memory(unseen, [&] { std::memcpy(content.data(), at(address), bytes); });
  std::get<2>(result) = std::move(content);
  return result;
}

answer helper::copy(unseen_count unseen, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  return touch_memory(unseen, [&] { std::memmove(at(to), at(from), bytes); });
}

answer helper::load_library(unseen_count unseen, std::string_view path) {
  answer loaded = run_foreign(unseen, [&] { return libraries_.load(std::string(path)); });
  const std::uint64_t wanted = calls_host() ? 1 : 0;
  std::get<2>(loaded) = bytes_of(std::span(&wanted, 1));
  return loaded;
}

answer helper::unload_library(unseen_count unseen, std::uint64_t library) {
  return run_foreign(unseen, [&] { return static_cast<std::uint64_t>(libraries_.unload(library)); });
}

answer helper::symbol(unseen_count unseen, std::uint64_t library, std::string_view name) {
  return run_foreign(unseen, [&] { return libraries_.symbol(library, std::string(name)); });
}

answer helper::area(unseen_count unseen, std::uint64_t old, std::uint64_t bytes) {
  begin(unseen);
  std::free(at<void>(old));
  return {outcome::done, bytes == 0 ? 0 : reinterpret_cast<std::uintptr_t>(std::calloc(bytes, 1)), {}};
}

answer helper::probe() {
  static std::uint64_t word = 0;
  if (word == 0 && ::getrandom(&word, sizeof word, 0) != sizeof word) word = 1;
  const std::uint64_t told[] = {reinterpret_cast<std::uintptr_t>(&word), word, calls_host() ? 1U : 0U};
  return {outcome::done, 0, bytes_of(told)};
}

answer helper::begin_context(std::uint32_t number) {
  belong_to(number);
  return {};
}

answer helper::end_context() {
  hang_up();
  return {};
}

}  // namespace ham::veo
