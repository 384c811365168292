// Parents' side: calls go out, reports come in.
#include "mpix/mpi/connection.hpp"

#include "mpix/mpi/connections.hpp"
#include "mpix/refusal.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ham::inline v1::mpix {
namespace {

// Sends of the size of a page leave at once; others go on while the parent is in MPI.
constexpr int polls_after_send = 2;

MPIX_Kernel_status no_failure() {
  MPIX_Kernel_status status{};
  status.rank = -1;
  return status;
}

MPIX_Kernel_status status_of(const kernel_report& report) {
  MPIX_Kernel_status status{};
  status.error = report.error;
  status.rank = report.rank;
  status.signal = report.signal;
  std::memcpy(status.kernel, report.kernel, sizeof status.kernel);
  std::memcpy(status.text, report.text, sizeof status.text);
  return status;
}

int tag_of(std::uint64_t ticket) { return tag_statuses + static_cast<int>(ticket % 16384); }

bool is_end(const kernel_calls& calls) { return calls.count > 0 && calls.names[calls.count - 1][0] == '\0'; }

}  // namespace

std::shared_ptr<connection> connection::of(MPI_Comm comm, MPI_Comm intercomm) {
  if (intercomm == MPI_COMM_NULL || comm == MPI_COMM_NULL) return nullptr;
  if (auto known = connections::find(intercomm)) return known;
  int is_inter = 0;
  if (MPI_Comm_test_inter(intercomm, &is_inter) != MPI_SUCCESS || is_inter == 0) return nullptr;
  auto made = std::make_shared<connection>(comm, intercomm);
  connections::add(intercomm, made);
  return made;
}

connection::connection(MPI_Comm comm, MPI_Comm intercomm) : intercomm_(intercomm) {
  MPI_Comm_dup(intercomm, &control_);
  MPI_Comm_dup(comm, &siblings_);
  MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(siblings_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(siblings_, &rank_);
  MPI_Comm_size(siblings_, &parents_);
  MPI_Comm_remote_size(control_, &children_);
}

int connection::call(int root, const kernel_calls* calls, std::uint32_t flags, bool collects, std::uint64_t& ticket) {
  const std::lock_guard lock(mutex_);
  ticket = next_ticket_++;
  if (rank_ != root) return left_ ? MPI_ERR_COMM : MPI_SUCCESS;
  progress();
  if (left_ || ended_) return MPI_ERR_COMM;
  kernel_calls kernels = calls != nullptr ? *calls : kernel_calls{};
  batch_header header;
  header.flags = flags;
  header.ticket = ticket;
  header.part = settings::get().part;
  header.root = root;
  if (is_end(kernels)) {
    --kernels.count;
    header.flags |= ends_children;
    ended_ = true;
  }
  if ((flags & wants_done) != 0) {
    pending_call& pending = pending_[ticket];
    pending.collects = collects;
    pending.statuses.assign(collects ? 1 : kernels.count + (ended_ ? 1 : 0), no_failure());
    for (std::size_t i = 0; !collects && i < kernels.count; ++i)
      copy_text(pending.statuses[i].kernel, kernels.names[i]);
  }
  if (crash_) {
    fail_pending();
    acknowledge();
    if (ended_) {
      send_end_directly();
    } else {
      // Children take the calls of all roots in the order of their tickets, and another root may know of no crash.
      header.flags = 0;
      outbox_.send_batch(pack({}, header), 0, control_);
    }
    return calls == nullptr ? MPI_ERR_ARG : ended_ || collects ? MPI_SUCCESS : MPI_ERR_OTHER;
  }
  outbox_.send_batch(pack(kernels, header), 0, control_);
  for (int i = 0; i < polls_after_send && !outbox_.progress(); ++i) continue;
  return calls == nullptr ? MPI_ERR_ARG : MPI_SUCCESS;
}

void connection::progress() {
  if (left_) return;
  outbox_.progress();
  int source = MPI_ANY_SOURCE;
  while (const auto bytes = poll_message(source, tag_report, control_)) {
    kernel_report report;
    if (bytes->size() >= sizeof report) {
      std::memcpy(&report, bytes->data(), sizeof report);
      receive_report(report, {bytes->data() + sizeof report, bytes->size() - sizeof report});
    }
    source = MPI_ANY_SOURCE;
  }
}

void connection::receive_report(const kernel_report& report, std::span<const std::byte> rest) {
  if (report.error != MPIX_KERNEL_OK) return receive_failure(report);
  const auto found = pending_.find(report.ticket);
  if (found == pending_.end()) return;
  pending_call& call = found->second;
  call.ended = true;
  call.reports_due = report.reports;
  const std::size_t count = std::min(rest.size() / sizeof(std::int64_t), call.statuses.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t result = 0;
    std::memcpy(&result, rest.data() + i * sizeof result, sizeof result);
    if (call.statuses[i].error == MPIX_KERNEL_OK) call.statuses[i].result = result;
  }
}

void connection::receive_failure(const kernel_report& report) {
  const auto found = pending_.find(report.ticket);
  const bool is_told = found != pending_.end() && !found->second.collects;
  if (found != pending_.end()) ++found->second.reports;
  if (!is_told && !untold_) untold_ = status_of(report);
  unacknowledged_.push_back(report.rank);
  if (is_told) acknowledge();
  for (std::uint32_t i = 0; is_told && i < report.count; ++i) {
    if (report.first + i >= found->second.statuses.size()) break;
    MPIX_Kernel_status& status = found->second.statuses[report.first + i];
    if (status.error != MPIX_KERNEL_OK && status.rank <= report.rank) continue;
    char name[sizeof status.kernel];
    std::memcpy(name, status.kernel, sizeof name);
    status = status_of(report);
    std::memcpy(status.kernel, name, sizeof name);
  }
  if (report.error == MPIX_KERNEL_CRASHED && !crash_) {
    crash_ = report;
    if (ended_) send_end_directly();  // what has said so may never reach those that wait for the one that crashed
  }
  if (crash_) fail_pending();
}

// Children wait for the word that somebody was told of their failures.
void connection::acknowledge() {
  for (const int child : std::exchange(unacknowledged_, {})) {
    outbox_.send(message_buffer(1), child, tag_received, control_);
  }
}

MPIX_Kernel_status connection::crash_status() const noexcept {
  MPIX_Kernel_status status = status_of(*crash_);
  status.error = MPIX_KERNEL_NOT_RUN;
  copy_text(status.text, "not run, or not to its end, everywhere: " + std::string(crash_->text));
  return status;
}

// After a crash children may hang in the kernel, waiting for the one that crashed: nothing more is expected of them.
void connection::fail_pending() {
  for (auto& [ticket, call] : pending_) {
    if (ticket < crash_->ticket || has_ended(call)) continue;
    call.ended = true;
    call.reports_due = 0;
    if (call.collects) continue;
    for (std::size_t i = ticket == crash_->ticket ? crash_->first : 0; i < call.statuses.size(); ++i) {
      MPIX_Kernel_status& status = call.statuses[i];
      if (status.error != MPIX_KERNEL_OK) continue;
      char name[sizeof status.kernel];
      std::memcpy(name, status.kernel, sizeof name);
      status = crash_status();
      std::memcpy(status.kernel, name, sizeof name);
    }
  }
}

bool connection::has_ended(const pending_call& call) const noexcept {
  return call.ended && call.reports >= call.reports_due;
}

bool connection::test(std::uint64_t ticket, int root, std::vector<MPIX_Kernel_status>& statuses) {
  const std::lock_guard lock(mutex_);
  progress();
  if (rank_ != root) {
    int source = root;
    const auto bytes = poll_message(source, tag_of(ticket), siblings_);
    if (!bytes) return false;
    statuses.resize(bytes->size() / sizeof(MPIX_Kernel_status));
    if (!statuses.empty()) std::memcpy(statuses.data(), bytes->data(), statuses.size() * sizeof statuses[0]);
    return true;
  }
  const auto found = pending_.find(ticket);
  if (found == pending_.end()) {
    statuses.clear();
    notify_other_parents(ticket, statuses);
    return true;
  }
  if (!has_ended(found->second)) return false;
  statuses = std::move(found->second.statuses);
  if (found->second.collects && untold_) statuses[0] = *std::exchange(untold_, std::nullopt);
  acknowledge();
  pending_.erase(found);
  notify_other_parents(ticket, statuses);
  return true;
}

void connection::notify_other_parents(std::uint64_t ticket, const std::vector<MPIX_Kernel_status>& statuses) {
  for (int parent = 0; parent < parents_; ++parent) {
    if (parent == rank_) continue;
    message_buffer bytes(statuses.size() * sizeof statuses[0]);
    if (!statuses.empty()) std::memcpy(bytes.data(), statuses.data(), bytes.size());
    outbox_.send(std::move(bytes), parent, tag_of(ticket), siblings_);
  }
}

void connection::send_end_directly() {
  if (std::exchange(abandoned_, true)) return;
  for (int child = 0; child < children_; ++child) outbox_.send(message_buffer(1), child, tag_abandon, control_);
}

void connection::forget() {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  left_ = true;
  MPI_Comm_free(&control_);
  MPI_Comm_free(&siblings_);
}

void connection::leave() {
  {
    const std::lock_guard lock(mutex_);
    if (left_) return;
    progress();
    // Whoever was root of the end, or has heard of a crash, knows it for all.
    int state[3] = {ended_ ? 1 : 0, crash_ ? 1 : 0, abandoned_ ? 1 : 0};
    MPI_Allreduce(MPI_IN_PLACE, state, 3, MPI_INT, MPI_MAX, siblings_);
    const bool has_crashed = state[1] != 0;
    if (rank_ == 0 && has_crashed && state[2] == 0) send_end_directly();
    if (rank_ == 0 && !has_crashed && state[0] == 0) {
      batch_header header;
      header.ticket = next_ticket_;
      header.part = settings::get().part;
      header.flags = ends_children;
      outbox_.send_batch(pack({}, header), 0, control_);
    }
    pause wait;
    while (!outbox_.progress() && !has_crashed) wait();
  }
  forget();
  MPI_Comm_disconnect(&intercomm_);
}

}  // namespace ham::mpix
