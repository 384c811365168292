// What is in the queue of a device: the loop of its resident kernel executes calls and chains, and nothing else, in
// memory that is theirs, and answers each of them once.
// fuzz: -max_len=4096
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "ham/device/loop.hpp"
#include "input.hpp"

using namespace ham;
using namespace ham::device::detail;
using ham::device::call_status;
using ham::device::scope;

namespace {

void never_called(execution&) {}
constexpr std::array table{
    table_row{&never_called, 12, 8, scope::thread, false},   table_row{&never_called, 8, 8, scope::thread, true},
    table_row{&never_called, 0, 0, scope::block, false},     table_row{&never_called, 16, 1000, scope::thread, false},
    table_row{&never_called, 4, 4, scope::grid, false},      table_row{nullptr, 0, 0, scope::thread, false},
    table_row{&never_called, 1000, 500, scope::warp, false}, table_row{&never_called, 8, 9, scope::block, true},
    table_row{&never_called, 0, 1000, scope::thread, false},
};

bool is_within(const void* at, std::size_t size, const void* begin, std::size_t length) {
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  const auto lowest = reinterpret_cast<std::uintptr_t>(begin);
  return first >= lowest && first - lowest <= length && size <= length - (first - lowest);
}

/// The one thread of a device, as the loop sees it, and its host: that does something whenever the device polls.
class one_thread {
 public:
  explicit one_thread(fuzz::input& from) : from_(from) {}

  void run() {
    resident_loop({&*queue_, &*state_, table.data(), table.size()}, *this);
    take_replies();
    fuzz::require(taken_ == sent_, "a call without a reply");
  }

  // ---- the thread
  [[nodiscard]] static std::uint32_t block() { return 0; }
  [[nodiscard]] static std::uint32_t blocks() { return 1; }
  [[nodiscard]] static bool leads_block() { return true; }
  [[nodiscard]] static bool in_first_warp() { return true; }
  [[nodiscard]] static bool polls() { return true; }
  static void sync_block() {}
  [[nodiscard]] static block_state& enter(const loop_parameters& with) { return *with.blocks; }
  static void leave(const loop_parameters&, const block_state&) {}
  [[nodiscard]] static const table_row& row(const loop_parameters& with, std::uint32_t number) {
    fuzz::require(number < table.size(), "a row that is not there");
    return with.table[number];
  }
  [[nodiscard]] one_thread& link() { return *this; }
  void poll(const call_queue& queue, block_state& own) {
    fuzz::require(own.kept.count == 0, "a reply is kept while the device waits for a call");
    act();
    for (std::uint64_t i = 0; i < queue_slots; ++i)
      own.seen[i] = {acquire(queue.headers[i].what), queue.headers[i].first_argument};
  }
  [[nodiscard]] static bool agree(bool found) { return found; }
  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] static std::int64_t max_age() { return 8; }
  static void idle() {}
  void worked() { ++now_; }
  [[nodiscard]] bool asks_for_stop() { return from_.byte() % 2 != 0; }
  template <class... Rest>
  static void begin(const table_row&, const std::uint64_t&, std::uint64_t, Rest&...) {}
  void run(const table_row& row, execution& call) {
    fuzz::require(row.varies ? call.size >= row.min_size : call.size == row.min_size, "arguments of another size");
    fuzz::require(is_within(call.arguments, call.size, state_->arguments, max_arguments) ||
                      is_within(call.arguments, call.size, state_->step_arguments, max_arguments) ||
                      is_within(call.arguments, call.size, far_arguments_.data(), far_arguments_.size()),
                  "arguments that are not the call's");
    fuzz::require(is_within(call.result, row.result_size, state_->result, max_result), "no room for a result");
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < call.size; ++i) sum += static_cast<std::uint64_t>(call.arguments[i]);
    for (std::size_t i = 0; i < row.result_size; ++i) call.result[i] = static_cast<std::byte>(sum + i);
    const std::uint8_t how = from_.byte();
    now_ += how % 4;
    if (how == 0xff) call.status = call_status::threw;
  }

  // ---- its link
  [[nodiscard]] static std::uint64_t read_word(const std::uint64_t& from) { return acquire(from); }
  void read_block(const std::byte* from, std::byte* to, std::size_t size) const {
    fuzz::require(is_within(to, size, state_->arguments, max_arguments), "arguments behind their place");
    std::memcpy(to, from, size);
  }
  void write_block(std::byte* to, const std::byte* from, std::size_t size) const {
    fuzz::require(is_within(to, size, queue_->replies, sizeof queue_->replies), "a result behind its place");
    fuzz::require(is_within(from, size, state_->result, max_result), "a result that is none");
    std::memcpy(to, from, size);
  }
  static void write_word(std::uint64_t& to, std::uint64_t word) { release(to, word); }
  static void note_word(std::uint64_t& to, std::uint64_t word) { note(to, word); }
  static void order_pairs() {}
  static void store_pair(std::uint64_t* to, const word_pair& words) { device::detail::store_pair(to, words); }
  [[nodiscard]] static std::int64_t arrival_ns() { return 0; }

 private:
  struct call {
    call_status expected;  ///< if it is a chain, of nothing but its end
    bool is_chain;
  };

  /// The host: takes replies, writes what is no call, and sends some calls; at the end the one to leave.
  void act() {
    const std::uint64_t before = taken_;
    take_replies();
    fuzz::require(had_calls_ == (taken_ != before), "a poll behind which no call was executed");
    for (int calls = from_.byte() % 20; calls > 0 && !from_.empty() && has_room(); --calls) send();
    if (from_.empty() && has_room() && !is_to_leave_) {
      is_to_leave_ = true;
      send_call(*queue_, sent_++, leave_function, 0, 0);
      calls_.push_back({call_status::done, false});
    }
    had_calls_ = taken_ != sent_;
  }
  [[nodiscard]] bool has_room() const { return sent_ - taken_ < queue_slots; }

  void take_replies() {
    for (; taken_ != sent_; ++taken_) {
      const reply_slot* const found = find_reply(*queue_, taken_, 0);
      if (found == nullptr) return;
      const call what = calls_.front();
      calls_.pop_front();
      fuzz::require(size_of(*found) <= max_result, "a result that is too long");
      const call_status status = status_of(*found);
      fuzz::require(status >= call_status::done && status <= call_status::stopped, "a reply without a status");
      const bool may_throw = what.expected == call_status::done && status == call_status::threw;
      fuzz::require(what.is_chain || status == what.expected || may_throw, "another status");
    }
  }

  void write_garbage() {
    call_header& start = queue_->header_at(sent_);
    const std::uint64_t what = from_.number<std::uint64_t>();
    if (is_call_at(what, sent_)) return;
    start.first_argument = from_.number<std::uint64_t>();
    release(start.what, what);
  }

  void send() {
    const std::uint8_t how = from_.byte();
    if (how % 8 == 0) write_garbage();
    const bool is_chain = how % 4 == 1;
    std::uint32_t function = from_.byte() % 16;
    if (function == 15) function = from_.number<std::uint32_t>() % chain_function;
    std::uint64_t size = from_.number<std::uint16_t>() % elsewhere_size;
    if (how % 16 < 8 && function < table.size()) size = table[function].min_size + (table[function].varies ? size : 0);
    if (is_chain) {
      function = chain_function;
      size = from_.byte() * sizeof(std::uint64_t) / 2;
    }
    size %= elsewhere_size;
    const auto bytes = from_.take(std::min<std::size_t>(size, max_arguments));
    std::byte* const room = call_room(*queue_, sent_);
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
    const bool goes_elsewhere = how % 32 == 31;
    if (goes_elsewhere) size = far_arguments_.size();
    send_call(*queue_, sent_, function, size,
              goes_elsewhere ? reinterpret_cast<std::uintptr_t>(far_arguments_.data()) : 0);
    const bool is_cancelled = how >= 0xe0;
    if (is_cancelled) cancel_call(*queue_, sent_);
    if (how % 64 == 2) send_stop(*queue_, sent_);
    calls_.push_back({is_cancelled ? call_status::stopped : expected_of(function, size, goes_elsewhere), is_chain});
    ++sent_;
  }
  [[nodiscard]] static call_status expected_of(std::uint32_t function, std::uint64_t size, bool goes_elsewhere) {
    if (function >= table.size() || table[function].body == nullptr) return call_status::no_function;
    if (!goes_elsewhere && size > max_arguments) return call_status::wrong_size;
    const table_row& row = table[function];
    return (row.varies ? size >= row.min_size : size == row.min_size) ? call_status::done : call_status::wrong_size;
  }

  fuzz::input& from_;
  const std::unique_ptr<call_queue> queue_ = std::make_unique<call_queue>();
  const std::unique_ptr<block_state> state_ = std::make_unique<block_state>();
  const std::vector<std::byte> far_arguments_ = std::vector<std::byte>(16);
  std::deque<call> calls_;  // without a reply
  std::uint64_t sent_ = 0, taken_ = 0;
  std::int64_t now_ = 0;
  bool had_calls_ = false, is_to_leave_ = false;
};

}  // namespace

HAM_FUZZ(from) { one_thread(from).run(); }
