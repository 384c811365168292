#include "transport/cuda/emulated_lane.hpp"

namespace ham::inline v1::device::detail {

lane*& this_lane() noexcept {
  static constinit thread_local lane* here = nullptr;
  return here;
}

}  // namespace ham::device::detail

namespace ham::inline v1::transport::cuda {

using device::scope;

/// What is no call yet may be written at this moment: the second word is looked at behind the first one.
void emulated_lane::poll(device::detail::call_queue& queue, device::detail::block_state& own) const noexcept {
  bool any = false;
  of_.link_.poll([&] {
    for (std::uint64_t at = own.position; at != own.position + device::detail::queue_slots; ++at) {
      const device::detail::call_header& from = queue.header_at(at);
      device::detail::word_pair& to = own.seen[at % device::detail::queue_slots];
      to.first = device::detail::acquire(from.what);
      if (!device::detail::is_call_at(to.first, at)) continue;
      to.second = from.first_argument;
      any = true;
    }
  });
  if (any) of_.link_.count_read();
}

void emulated_lane::idle() {
  if (of_.ended_.load(std::memory_order_acquire)) throw device_ended{};
  pause_.wait();
}

/// As often as that takes a tenth of the time: each time, if it takes none.
bool emulated_lane::asks_for_stop() noexcept {
  const std::int64_t now = base::now_ns();
  if (now - asked_ns_ < 10 * of_.link_.costs().read) return false;
  asked_ns_ = now;
  return true;
}

void emulated_lane::begin(const device::detail::table_row& row, const std::uint64_t& stop, std::uint64_t stamp,
                          device::detail::kept_replies& kept) noexcept {
  runs_on_ = row.runs_on;
  kept_ = &kept;
  stop_ = &stop;
  stamp_ = stamp;
  stopped_ = false;
}

/// Code of real devices throws nothing. Where one of several threads does, the others may wait for it in sync(): that
/// is a fault.
void emulated_lane::run(const device::detail::table_row& row, device::detail::execution& call) {
  try {
    row.body(call);
  } catch (const device_ended&) {
    throw;
  } catch (...) {
    if (row.runs_on != scope::thread) trap("an exception has left a function that several threads execute");
    call.status = device::call_status::threw;
  }
}

std::uint32_t emulated_lane::rank() const noexcept {
  switch (runs_on_) {
    case scope::thread: return 0;
    case scope::warp:
    case scope::block: return thread_;
    case scope::grid: break;
  }
  return block_ * of_.of_.warps * of_.of_.lanes + thread_;
}

std::uint32_t emulated_lane::size() const noexcept {
  const std::uint32_t block = of_.of_.warps * of_.of_.lanes;
  switch (runs_on_) {
    case scope::thread: return 1;
    case scope::warp: return of_.of_.lanes;
    case scope::block: return block;
    case scope::grid: break;
  }
  return of_.of_.blocks * block;
}

void emulated_lane::sync() {
  switch (runs_on_) {
    case scope::thread: return;
    case scope::warp: of_.blocks_[block_]->of_warps[thread_ / of_.of_.lanes]->wait(of_.ended_); return;
    case scope::block: sync_block(); return;
    case scope::grid: of_.grid_->wait(of_.ended_); return;
  }
}

void emulated_lane::send_kept_replies() noexcept {
  if (kept_ != nullptr) device::detail::send_kept(of_.link_, of_.queues_[block_], *kept_);
}

bool emulated_lane::stop_requested() noexcept {
  send_kept_replies();
  stopped_ = stopped_ || of_.ended_.load(std::memory_order_acquire) || of_.link_.read_word(*stop_) == stamp_;
  return stopped_;
}

std::uint32_t emulated_lane::function() const noexcept { return of_.states_[block_].function; }

void emulated_lane::trap(const char* why) {
  send_kept_replies();
  of_.fail(why, function());
  throw device_ended{};
}

bool emulated_lane::pause() {
  pass_time();
  return !stopped_ && !(asks_for_stop() && stop_requested());
}

void emulated_lane::pass_time() {
  if (of_.ended_.load(std::memory_order_acquire)) throw device_ended{};
  pause_.wait();
}

device::detail::outbox& emulated_lane::messages() const noexcept { return of_.messages_[block_]; }
device::detail::outbox_state& emulated_lane::sent() const noexcept { return of_.states_[block_].sent; }

std::uint64_t emulated_lane::post(const device::detail::message_head& head, const std::byte* bytes) {
  send_kept_replies();
  const std::uint64_t ticket = device::detail::take_ticket(sent());
  while (!device::detail::has_place(of_.link_, messages(), sent(), ticket)) pass_time();
  pause_.reset();
  device::detail::send_message(of_.link_, messages(), ticket, head, bytes);
  return ticket;
}

std::uint32_t emulated_lane::claim_answer() {
  send_kept_replies();
  std::uint32_t slot = device::detail::claim_answer_slot(sent());
  while (slot == device::detail::no_answer && pause()) slot = device::detail::claim_answer_slot(sent());
  return slot;
}

void emulated_lane::drop_answer(std::uint32_t slot) noexcept { device::detail::drop_answer(sent(), slot); }

device::detail::answer_status emulated_lane::take_answer(std::uint32_t slot, std::uint64_t ticket, std::byte* value,
                                                         std::size_t size) {
  const auto status = device::detail::take_answer_from(of_.link_, messages(), sent(), slot, ticket, value, size);
  if (status != device::detail::answer_status::none) pause_.reset();
  return status;
}

}  // namespace ham::transport::cuda
