// Request, the owner's answer, the bytes, for put one more answer.
#include "transport/mpi/bulk_client.hpp"

#include <algorithm>
#include <iterator>
#include <new>

#include "base/clock.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

/// More of one rank wait here: their requests and answers would only fill its memory.
constexpr unsigned max_under_way_to_rank = 32;
static_assert(max_under_way_to_rank < bulk_tags);
/// MPI may still move bytes of an access that is lost: into memory of the caller, or out of it, by the other rank,
/// which ends with an error of MPI's if the memory is gone. It is not given back before that is over. A rank that was
/// closed and does not call MPI for longer than this has probably died.
constexpr std::int64_t max_wait_for_cancelled_ns = 10'000'000'000;

}  // namespace

bulk_client::bulk_client(MPI_Comm among) : among_(among) {
  int ranks = 0;
  MPI_Comm_size(among_, &ranks);
  under_way_to_.resize(static_cast<std::size_t>(ranks));
}

bulk_client::~bulk_client() {
  for (auto* const list : {&queued_, &under_way_}) {
    for (const shared_access& one : *list) {
      one->parts_.cancel();
      static_cast<void>(one->parts_.test());
      if (one->hearing_ != MPI_REQUEST_NULL) {
        MPI_Cancel(&one->hearing_);
        MPI_Request_free(&one->hearing_);
      }
      one->settle(access_result::lost);
      one->parts_ = {};
    }
  }
}

std::shared_ptr<bulk_access> bulk_client::ask(bulk_verb verb, const bulk_access::target& where,
                                              std::span<std::byte> local) {
  std::list<shared_access> fresh{std::make_shared<bulk_access>(verb, where, local)};
  shared_access result = fresh.front();
  const std::lock_guard guard(mutex_);
  queued_.splice(queued_.end(), fresh);
  return result;
}

bool bulk_client::busy() noexcept {
  if (!under_way_.empty()) return true;
  const std::lock_guard guard(mutex_);
  return !queued_.empty();
}

bool bulk_client::receives() const noexcept {
  return std::any_of(under_way_.begin(), under_way_.end(),
                     [](const shared_access& one) { return one->parts_.receiving(); });
}

bool bulk_client::begin_queued() noexcept {
  const std::lock_guard guard(mutex_);
  bool any = false;
  for (auto one = queued_.begin(); one != queued_.end();) {
    const auto next = std::next(one);
    bulk_access& access = **one;
    unsigned& count = under_way_to_[static_cast<std::size_t>(access.where_.rank)];
    if (unwanted(access)) {
      access.settle(access_result::lost);
      queued_.erase(one);
      any = true;
    } else if (count < max_under_way_to_rank) {
      try {
        begin(access);
        ++count;
        under_way_.splice(under_way_.end(), queued_, one);
        any = true;
      } catch (const std::bad_alloc&) {  // later
      }
    }
    one = next;
  }
  return any;
}

void bulk_client::begin(bulk_access& one) {
  one.id_ = next_id_++;
  const bulk_request text = bulk_request::little_endian(
      {static_cast<std::uint64_t>(one.verb_), one.id_, one.where_.address, one.where_.tag, one.local_.size()});
  requests_.send(std::as_bytes(std::span(&text, 1)), one.where_.rank, bulk_request_tag, among_);
  listen(one);
}

bool bulk_client::advance() noexcept {
  bool any = begin_queued();
  for (auto one = under_way_.begin(); one != under_way_.end();) {
    const news now = step(**one);
    any = any || now != news::none;
    if (now == news::end) {
      --under_way_to_[static_cast<std::size_t>((*one)->where_.rank)];
      one = under_way_.erase(one);
    } else {
      ++one;
    }
  }
  return any;
}

void bulk_client::listen(bulk_access& one) noexcept {
  one.heard_ = static_cast<std::byte>(access_result::lost);  // if it fails
  MPI_Irecv(&one.heard_, 1, MPI_BYTE, one.where_.rank, answer_tag(one.id_), among_, &one.hearing_);
}

bool bulk_client::has_heard(bulk_access& one) noexcept {
  if (one.hearing_ == MPI_REQUEST_NULL) return true;
  int done = 0;
  if (MPI_Test(&one.hearing_, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) return done != 0;
  one.hearing_ = MPI_REQUEST_NULL;
  one.heard_ = static_cast<std::byte>(access_result::lost);
  return true;
}

bulk_client::news bulk_client::step(bulk_access& one) noexcept {
  if (one.at_ == bulk_access::stage::cancelled) return await_cancelled(one);
  if (unwanted(one)) return cancel(one);
  switch (one.at_) {
    case bulk_access::stage::asked: return has_heard(one) ? on_permission(one) : news::none;
    case bulk_access::stage::moving:
      if (one.verb_ == bulk_verb::put && has_heard(one) && read_answer(one.heard_) != access_result::done)
        return cancel(one);  // the owner has given it up
      return on_moved(one, one.parts_.test());
    case bulk_access::stage::confirming:
      if (!has_heard(one)) return news::none;
      one.settle(read_answer(one.heard_));
      return news::end;
    case bulk_access::stage::cancelled: break;
  }
  return news::none;
}

bulk_client::news bulk_client::on_permission(bulk_access& one) noexcept {
  if (const access_result allowed = read_answer(one.heard_); allowed != access_result::done) {
    one.settle(allowed);
    return news::end;
  }
  const int tag = data_tag(one.verb_, one.id_);
  try {
    if (one.verb_ == bulk_verb::put) {
      one.parts_.send(one.local_, one.where_.rank, tag, among_);
      listen(one);
    } else {
      one.parts_.receive(one.local_, one.where_.rank, tag, among_);
    }
  } catch (const std::bad_alloc&) {
    one.heard_ = static_cast<std::byte>(access_result::done);  // and the owner still waits: once more
    return news::none;
  }
  one.at_ = bulk_access::stage::moving;
  return news::step;
}

bulk_client::news bulk_client::on_moved(bulk_access& one, bulk_parts::state now) noexcept {
  if (now == bulk_parts::state::moving) return news::none;
  if (now == bulk_parts::state::failed) return cancel(one);
  if (one.verb_ == bulk_verb::put) {
    one.at_ = bulk_access::stage::confirming;
    return news::step;
  }
  one.settle(access_result::done);
  return news::end;
}

/// The rank is lost, or nobody waits for the access.
bulk_client::news bulk_client::cancel(bulk_access& one) noexcept {
  one.at_ = bulk_access::stage::cancelled;
  one.cancelled_at_ns_ = base::now_ns();
  one.parts_.cancel();
  if (one.hearing_ != MPI_REQUEST_NULL) MPI_Cancel(&one.hearing_);
  return news::step;
}

/// Its record stays until MPI has no more use for it, also when its future has settled long since.
bulk_client::news bulk_client::await_cancelled(bulk_access& one) noexcept {
  const bool quiet = one.parts_.test() != bulk_parts::state::moving;
  if (quiet || base::now_ns() - one.cancelled_at_ns_ > max_wait_for_cancelled_ns) one.settle(access_result::lost);
  return has_heard(one) && quiet ? news::end : news::none;
}

}  // namespace ham::transport::mpi
