// What is begun when, and how it ends.
#include "runtime/started_rows.hpp"

#include <utility>

#include "base/clock.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using transport::access_result;

constexpr std::int64_t max_wait_for_loss_ns = 1'000'000'000;

}  // namespace

started_rows::started_rows(engine& at, ham::detail::peer_hold who, transport::remote_memory& memory,
                           const one_sided& what)
    : at_(at),
      who_(std::move(who)),
      memory_(memory),
      what_(what),
      slot_(*make_transfer_slot(at, what.verb(), what.node)),
      checks_(what.rows.row_bytes == 0 ? 0 : 2),
      steps_(checks_ + (what.rows.row_bytes == 0 ? 1 : what.bytes / what.rows.row_bytes)) {}

started_rows::~started_rows() = default;

bool started_rows::move_on() noexcept {
  if (!memory_.open_to_me()) return false;
  if (wait_for_loss_until_ns_ == 0) {
    if (!rows_over()) return false;
    if (result_ == access_result::lost && problem_ == nullptr)
      wait_for_loss_until_ns_ = base::now_ns() + max_wait_for_loss_ns;
  }
  // The transport tells of the loss as well, at its own time.
  if (wait_for_loss_until_ns_ != 0 && !at_.notice_loss(*who_) && base::now_ns() < wait_for_loss_until_ns_) return false;
  settle();
  return true;
}

void started_rows::give_up() noexcept {
  under_way_.clear();
  result_ = access_result::lost;
  settle();
}

/// Whether nothing of it moves any more, also after a failure: the caller may take its memory back then.
bool started_rows::rows_over() noexcept {
  test_all();
  try {
    start_next();
  } catch (...) {
    problem_ = std::current_exception();
    result_ = access_result::lost;
  }
  return under_way_.empty() && (next_ == steps_ || result_ != access_result::done);
}

void started_rows::test_all() noexcept {
  std::erase_if(under_way_, [this](const auto& one) {
    auto how = access_result::done;
    if (!one->test(how)) return false;
    if (result_ == access_result::done) result_ = how;
    return true;
  });
}

void started_rows::start_next() {
  while (result_ == access_result::done && next_ != steps_ && under_way_.size() < max_under_way) {
    under_way_.reserve(max_under_way);
    if (next_ < checks_) {
      const std::size_t extent = what_.rows.remote_extent(what_.bytes);
      if (extent > UINT64_MAX - what_.there.address) {
        result_ = access_result::out_of_range;
        return;
      }
      under_way_.push_back(what_.start_run(memory_, 0, next_ == 0 ? 0 : extent, 0));
    } else if (checks_ == 0) {
      under_way_.push_back(what_.start_run(memory_, 0, 0, what_.bytes));
    } else {
      if (next_ == checks_ && !under_way_.empty()) return;  // not checked yet
      const std::size_t row = next_ - checks_;
      under_way_.push_back(
          what_.start_run(memory_, row * what_.rows.local_pitch, row * what_.rows.remote_pitch, what_.rows.row_bytes));
    }
    ++next_;
  }
}

void started_rows::settle() noexcept {
  what_.trace_end(at_);
  settle_access(at_, slot_, [this] {
    if (problem_ != nullptr) std::rethrow_exception(problem_);
    if (result_ == access_result::lost) at_.throw_loss(*who_);
    what_.check(at_, *who_, result_);
  });
}

}  // namespace ham::offload::detail
