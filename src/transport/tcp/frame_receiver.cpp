// What arrives, what the peer says in the heads of its frames, and why nothing comes any more.
#include "transport/tcp/frame_receiver.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "transport/tcp/address.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

/// A peer that was killed while we had so much of it unread may have had more to say.
constexpr std::size_t suspicious_bytes = std::size_t{32} << 10;
constexpr std::uint16_t max_ahead = 256;
constexpr int max_control_frames = 64;  // before others get their turn

bool comes_later(int error) noexcept { return would_block(error) || error == EINTR; }

}  // namespace

frame_receiver::frame_receiver(byte_stream& from, std::uint32_t epoch, connection_state& shared, frame_sender& sender,
                               endpoint_owner& owner, tcp_endpoint& of)
    : from_(from),
      epoch_(epoch),
      shared_(shared),
      sender_(sender),
      owner_(owner),
      endpoint_(of),
      same_machine_(remote_address(from.socket()).same_host(local_address(from.socket()))) {}

bool frame_receiver::next(frame& out, bool may_receive, news& what, std::string& why) {
  std::lock_guard guard(receiving_);
  stopped_early_ = false;
  if (!open()) return false;
  for (int control_frames = 0;;) {
    const std::span<const std::byte> waiting = in_.waiting();
    wire_head head;
    const char* wrong = nullptr;
    switch (read_frame(waiting, epoch_, head, wrong)) {
      case head_status::frame: {
        if (!understand(head, why)) break;
        if (!carries_payload(head.kind)) {
          in_.skip(head_bytes);
          // A peer may send nothing else for ever. What it has sent when it ends is little, and is read in one piece.
          if (++control_frames < max_control_frames || ended_) continue;
          stopped_early_ = true;
          return false;
        }
        const std::size_t size = head_bytes + head.size;
        if (static_cast<std::int32_t>(static_cast<std::uint32_t>(shared_.taken) + 1 - shared_.allowed) > 0)
          allow_more(size);
        shared_.taken.store(shared_.taken.load(std::memory_order_relaxed) + 1);
        out.head = {head.key, head.call, head.kind};
        out.payload = waiting.subspan(head_bytes, head.size);
        in_.hold(size);
        wire_head behind;
        sender_.set_more_here(read_frame(in_.waiting(), epoch_, behind, wrong) == head_status::frame);
        owner_.schedule_ack();
        return true;
      }
      case head_status::broken: why = wrong; break;
      case head_status::incomplete:
        if (!may_receive) return false;
        if (ended_) return false;
        if (sender_.gathering()) sender_.push();
        sender_.end_burst();
        if (fill(false)) continue;
        if (ended_) {
          what = news::ended;
          why = ending();
        }
        return false;
    }
    what = news::malformed;
    return false;
  }
}

void frame_receiver::release() noexcept {
  std::lock_guard guard(receiving_);
  in_.release();
}

bool frame_receiver::has_more() noexcept {
  std::lock_guard guard(receiving_);
  if (!open()) return false;
  if (stopped_early_) return true;
  wire_head head;
  const char* wrong = nullptr;
  if (read_frame(in_.waiting(), epoch_, head, wrong) != head_status::incomplete) return true;
  return !ended_ && from_.has_input();
}

bool frame_receiver::stopped_early() noexcept {
  std::lock_guard guard(receiving_);
  return stopped_early_ && open();
}

bool frame_receiver::understand(const wire_head& head, std::string& why) noexcept {
  const std::uint64_t before = shared_.peer_taken.load(std::memory_order_relaxed);
  const std::uint64_t taken = before + (head.taken - static_cast<std::uint32_t>(before));
  if (taken > shared_.committed.load()) {
    // Read again without consuming, an older head is no error.
    if (static_cast<std::int32_t>(head.taken - static_cast<std::uint32_t>(before)) < 0) return true;
    why = "it took frames that were never sent";
    return false;
  }
  shared_.peer_taken.store(taken, std::memory_order_relaxed);
  peer_limit_ = std::max(peer_limit_, taken + head.ahead);
  if (head.kind == farewell_kind) farewell_ = true;
  if (head.kind == want_lane_kind) owner_.lane_wanted(endpoint_);
  return true;
}

/// Says, before they are taken, how many of the frames that are here will be: after our death the peer must not believe
/// that a call has not run that has. Where the wire is full, it cannot be said.
void frame_receiver::allow_more(std::size_t frame_bytes) noexcept {
  std::uint16_t ahead = 1;
  wire_head head;
  const char* wrong = nullptr;
  std::span<const std::byte> behind = in_.waiting().subspan(frame_bytes);
  while (ahead < max_ahead && read_frame(behind, epoch_, head, wrong) == head_status::frame) {
    if (carries_payload(head.kind)) ++ahead;
    behind = behind.subspan(head_bytes + head.size);
  }
  sender_.announce(ahead);
}

// ---- the socket

bool frame_receiver::fill(bool may_grow) {
  const std::span<std::byte> room = may_grow ? in_.more_room() : in_.room();
  if (room.empty() || ended_ || from_.socket() < 0) return false;
  const byte_stream::outcome got = from_.receive(room);
  switch (got.what) {
    case byte_stream::status::moved: [[likely]] in_.arrived(got.bytes); return true;
    case byte_stream::status::partial: return may_grow;
    case byte_stream::status::later: return false;
    case byte_stream::status::lost:
    case byte_stream::status::failed: end_of_stream(got.error); break;
  }
  return false;
}

void frame_receiver::end_of_stream(int error) noexcept {
  ended_ = true;
  // An end that this side has made says nothing of what the peer has taken.
  const int own = shared_.cut_off_by.load();
  end_error_ = own != 0 ? own : error;
}

std::string frame_receiver::ending() const {
  if (farewell_) return "it has left";
  if (end_error_ == 0 || end_error_ == ECONNRESET) {
    return "its process has ended (its connection was closed without a farewell)";
  }
  if (end_error_ == ETIMEDOUT || end_error_ == EHOSTUNREACH || end_error_ == ENETUNREACH) {
    return "its machine does not answer (" + error_text(end_error_) + "); check the network and whether it runs";
  }
  if (end_error_ == EBADMSG) {
    return "its bytes were changed on the way, or the key is another (" + from_.failure() + ")";
  }
  return "the connection broke (" + error_text(end_error_) + ")";
}

/// Reads without giving frames out, so that what the peer has said of ours is known.
void frame_receiver::read_ahead(std::size_t most) noexcept {
  try {
    const std::size_t before = in_.waiting().size();
    while (!ended_ && in_.waiting().size() - before < most && fill(true)) {
    }
    last_words_ += in_.waiting().size() - before;
    std::span<const std::byte> behind = in_.waiting();
    wire_head head;
    const char* wrong = nullptr;
    std::string why;
    while (read_frame(behind, epoch_, head, wrong) == head_status::frame && understand(head, why)) {
      behind = behind.subspan(head_bytes + head.size);
    }
  } catch (const std::bad_alloc&) {
    end_of_stream(ENOMEM);
  }
}

bool frame_receiver::read_to_end(std::string& why) noexcept {
  std::lock_guard guard(receiving_);
  if (!open()) return false;
  last_words_ = 0;
  read_ahead(SIZE_MAX);
  if (ended_) why = ending();
  return ended_;
}

bool frame_receiver::cut_off(std::string& why) noexcept {
  std::lock_guard guard(receiving_);
  if (!open() || ended_) return false;
  end_of_stream(ETIMEDOUT);
  why = ending();
  return true;
}

bool frame_receiver::drain() noexcept {
  std::lock_guard guard(receiving_);
  if (from_.socket() < 0 || ended_) return true;
  std::byte nowhere[4096];
  for (int i = 0; i < 1000; ++i) {
    const ssize_t got = ::recv(from_.socket(), nowhere, sizeof nowhere, 0);
    if (got == 0 || (got < 0 && !comes_later(errno))) return true;
    if (got < 0) return false;
  }
  return false;
}

void frame_receiver::close_stream() noexcept {
  std::lock_guard guard(receiving_);
  sender_.close_stream();
  in_.rest();
}

// ---- what the peer took

std::uint64_t frame_receiver::consumed() noexcept {
  std::lock_guard guard(receiving_);
  if (open() && !ended_) read_ahead(1);
  const std::uint64_t handed = shared_.handed.load();
  if (!ended_) return open() ? shared_.peer_taken.load() : handed;
  const bool killed = end_error_ == ECONNRESET || end_error_ == EPIPE;
  const bool all_heard = end_error_ == 0 || (killed && same_machine_ && last_words_ < suspicious_bytes);
  return all_heard ? std::min(handed, peer_limit_) : handed;
}

}  // namespace ham::transport::tcp
