#include "runtime/device_chain.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;

/// What the calling thread adds, and to which chain.
constinit thread_local device_chain* adding_to = nullptr;
constinit thread_local const incoming_call* added = nullptr;
constinit thread_local const result_sink* handed_over = nullptr;

}  // namespace

device_chain* device_chain::adding(const incoming_call& call) noexcept { return &call == added ? adding_to : nullptr; }

bool device_chain::was_handed_over(const result_sink& sink) noexcept { return handed_over == &sink; }
void device_chain::note_handed_over(const result_sink* sink) noexcept { handed_over = sink; }

bool device_chain::add(const incoming_call& call, std::span<const use> uses) noexcept {
  const std::size_t before = steps_.size();
  incoming_call one = call;
  uses_ = uses;
  device_chain* const other = std::exchange(adding_to, this);  // where reading of arguments waits for something
  const incoming_call* const of_other = std::exchange(added, &one);
  try {
    one.function->handler(&one);
  } catch (...) {  // so it will when it is called alone
  }
  adding_to = other;
  added = of_other;
  return steps_.size() != before;
}

void device_chain::take(const incoming_call& call, const device_request& what) {
  const std::size_t result_at =
      steps_.empty() ? 0 : wire::aligned(steps_.back().result_at + result_size(steps_.size() - 1), wire::max_alignment);
  if (append(what, result_at))
    steps_.push_back({what.function, call.function, call.call, call.sink, what.answer, result_at, program_.size()});
}

/// False: the device does not execute it in a chain, or there is no room.
bool device_chain::append(const device_request& what, std::size_t result_at) {
  const wire::table_row& row = what.function->row;
  if (row.runs_on == device::scope::grid || what.size > wire::max_arguments ||
      result_at + row.result_size > wire::max_result)
    return false;
  std::vector<std::uint64_t> words;
  std::size_t linked = 0;
  for (const use& one : uses_) {
    const std::size_t size = result_size(one.from);
    const std::size_t to = what.place == nullptr ? no_place : what.place(what.arguments, one.parameter, size);
    if (to == no_place) return false;
    const wire::chain_copy made{steps_[one.from].result_at, to, size};
    words.push_back(made.word());
    linked += made.size;
  }
  std::ranges::sort(words, {}, [](std::uint64_t word) { return wire::chain_copy::of(word).to; });
  const wire::chain_step head{what.function->number(), linked != what.size, what.size, words.size()};
  const std::size_t begin = program_.size();
  const std::size_t argument_bytes = head.argument_words() * sizeof(std::uint64_t);
  const std::size_t end = begin + (1 + head.words()) * sizeof(std::uint64_t);
  if (end > wire::max_arguments) return false;
  program_.resize(end);
  std::byte* const to = program_.data() + begin;
  const std::uint64_t word = head.word();
  std::memcpy(to, &word, sizeof word);
  if (head.has_arguments) what.write(to + sizeof word, what.arguments);
  if (!words.empty()) std::memcpy(to + sizeof word + argument_bytes, words.data(), words.size() * sizeof word);
  return true;
}

void device_chain::cut(std::size_t count) {
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(count), steps_.end());
  program_.resize(steps_.back().end);
}

}  // namespace ham::detail
