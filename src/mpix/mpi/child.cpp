// Children's side: receive, pass on, run, report.
#include "mpix/mpi/child.hpp"

#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

namespace ham::inline v1::mpix {
namespace {

// Binomial tree: a rank without its lowest bit is its parent.
int tree_parent(int rank) { return rank & (rank - 1); }

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

}  // namespace

child::child(MPI_Comm parents) : parents_(parents), guard_(rank_of(MPI_COMM_WORLD)) {
  MPI_Comm_dup(parents, &control_);
  MPI_Comm_dup(MPI_COMM_WORLD, &siblings_);
  MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(siblings_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(siblings_, &rank_);
  MPI_Comm_size(siblings_, &size_);
  MPI_Comm_remote_size(control_, &parent_count_);
}

void child::serve() {
  try {
    do {
      message_buffer bytes = receive();
      forward(bytes);
      execute(bytes);
    } while ((now_.flags & ends_children) == 0);
    pause wait;
    while (!outbox_.progress()) wait();
  } catch (const abandoned&) {
    // After a crash of whichever child; what it or its siblings wait for may never come.
  }
}

void child::leave() {
  if (unfetched_ > 0 && !crashed_) std::fprintf(stderr, "ham: nobody asked: %s\n", last_failure_.c_str());
  guard_.limit_the_end();
  MPI_Comm_free(&control_);
  MPI_Comm_free(&siblings_);
  MPI_Comm_disconnect(&parents_);
}

// Things that are due while this process waits for something else.
void child::look_around() {
  outbox_.progress();
  int source = MPI_ANY_SOURCE;
  if (poll_message(source, tag_abandon, control_)) throw abandoned();
  source = MPI_ANY_SOURCE;
  while (unfetched_ > 0 && poll_message(source, tag_received, control_)) {
    --unfetched_;
    guard_.report_received();
    source = MPI_ANY_SOURCE;
  }
  if (unfetched_ > 0 && settings::get().grace.count() >= 0 && std::chrono::steady_clock::now() > deadline_) {
    std::fprintf(stderr, "ham: nobody asked in %lld s (HAM_MPIX_GRACE), so the job ends: %s\n",
                 static_cast<long long>(settings::get().grace.count()), last_failure_.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void child::wait_for(MPI_Request& request) {
  pause wait;
  while (is_pending(request)) {
    look_around();
    wait();
  }
}

// Calls of different roots may overtake each other: their tickets say the order.
std::optional<message_buffer> child::poll() {
  if (rank_ != 0) return poll_batch(tree_parent(rank_), siblings_);
  while (auto bytes = poll_batch(MPI_ANY_SOURCE, control_)) {
    const std::uint64_t ticket = batch_view(*bytes).header().ticket;
    early_.emplace(ticket, std::move(*bytes));
    if (ticket == next_ticket_) break;
  }
  const auto next = early_.find(next_ticket_);
  if (next == early_.end()) return std::nullopt;
  message_buffer bytes = std::move(next->second);
  early_.erase(next);
  ++next_ticket_;
  return bytes;
}

message_buffer child::receive() {
  pause wait;
  for (;;) {
    if (auto bytes = poll()) return std::move(*bytes);
    look_around();
    wait();
  }
}

void child::forward(const message_buffer& bytes) {
  std::vector<MPI_Request> requests;
  for (int bit = 1; bit < size_ && (rank_ & bit) == 0; bit <<= 1) {
    if ((rank_ | bit) < size_) start_batch(bytes, rank_ | bit, siblings_, requests);
  }
  // Kernels may change the bytes, so they have to be gone.
  for (MPI_Request& request : requests) wait_for(request);
}

void child::execute(message_buffer& bytes) {
  batch_view batch(bytes);
  now_ = batch.header();
  reports_ = 0;
  results_.assign(now_.kernels, 0);
  std::vector<prepared*> shapes;
  for (const kernel_shape& shape : batch.shapes()) shapes.push_back(&prepare(shape));
  if (now_.kernels > 0) guard_.take_signals();
  std::vector<std::byte*> arguments;
  for (std::uint32_t i = 0; i < now_.kernels; ++i) {
    if (crashed_) {
      report(failure::not_run, i, now_.kernels - i, "", "not run: an earlier kernel crashed here");
      break;
    }
    prepared& what = *shapes[batch.next(arguments)];
    run(what, i, arguments);
  }
  if ((now_.flags & wants_done) != 0) say_done();
}

child::prepared& child::prepare(const kernel_shape& shape) {
  const auto known = kernels_.find(shape.key);
  if (known != kernels_.end()) return known->second;
  prepared result;
  result.name = std::string(shape.name);
  try {
    result.ready = std::make_unique<kernel>(kernel_request{shape.name, shape.sizes});
  } catch (const refusal& why) {
    result.why = why;
  }
  int first_without = result.why ? rank_ : INT_MAX;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &first_without, 1, MPI_INT, MPI_MIN, siblings_, &request);
  wait_for(request);
  if (first_without != INT_MAX) result.ready.reset();
  if (first_without != rank_) result.why.reset();
  return kernels_.emplace(std::string(shape.key), std::move(result)).first->second;
}

void child::run(prepared& what, std::uint32_t index, std::vector<std::byte*>& arguments) {
  if (!what.ready) {
    if (what.why) report(what.why->code(), index, 1, what.name, what.why->what());
    return;
  }
  const run_outcome outcome = guard_.run(*what.ready, what.name.c_str(), arguments);
  if (outcome.signal != 0) {
    crashed_ = true;
    report(failure::crashed, index, 1, what.name, std::string("crashed: ") + signal_text(outcome.signal),
           outcome.signal);
  } else if (outcome.threw) {
    report(failure::exception, index, 1, what.name, outcome.text);
  } else {
    results_[index] = outcome.result;
  }
}

void child::report(failure what, std::uint32_t first, std::uint32_t count, const std::string& name,
                   const std::string& text, int signal) {
  kernel_report one;
  one.ticket = now_.ticket;
  one.rank = rank_;
  one.error = static_cast<int>(what);
  one.first = first;
  one.count = count;
  one.signal = signal;
  copy_text(one.kernel, name);
  const std::string where =
      name.empty() ? "child " + std::to_string(rank_) : "kernel \"" + name + "\" on child " + std::to_string(rank_);
  last_failure_ = where + ": " + text;
  copy_text(one.text, last_failure_);
  ++reports_;
  if (unfetched_ == 0) deadline_ = std::chrono::steady_clock::now() + settings::get().grace;
  ++unfetched_;
  // A crash concerns every parent; one of them asking is enough.
  const bool to_all = what == failure::crashed;
  for (int parent = to_all ? 0 : now_.root; parent < (to_all ? parent_count_ : now_.root + 1); ++parent) {
    message_buffer bytes(sizeof one);
    std::memcpy(bytes.data(), &one, sizeof one);
    outbox_.send(std::move(bytes), parent, tag_report, control_);
  }
}

// Child 0 knows that all have ended, and of how many failures, when the sum has come together.
void child::say_done() {
  std::uint32_t all_reports = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ireduce(&reports_, &all_reports, 1, MPI_UINT32_T, MPI_SUM, 0, siblings_, &request);
  wait_for(request);
  if (rank_ != 0) return;
  kernel_report done;
  done.ticket = now_.ticket;
  done.count = now_.kernels;
  done.reports = all_reports;
  message_buffer bytes(sizeof done + results_.size() * sizeof results_[0]);
  std::memcpy(bytes.data(), &done, sizeof done);
  if (!results_.empty()) std::memcpy(bytes.data() + sizeof done, results_.data(), bytes.size() - sizeof done);
  outbox_.send(std::move(bytes), now_.root, tag_report, control_);
}

}  // namespace ham::mpix
