// Starting, watching and reaping targets. All of it happens on the control thread, which the children are tied to:
// the kernel kills them when it ends.
#include "transport/shm/host_transport.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/own_program.hpp"
#include "base/process_end.hpp"
#include "base/thread.hpp"
#include "transport/common/joining.hpp"

namespace ham::inline v1::transport::shm {
namespace {

constexpr std::chrono::milliseconds end_timeout{500};
constexpr std::chrono::milliseconds at_once{0};
constexpr std::int64_t unjoined_exit_ns = 2'000'000'000;  // from the close of the control socket to the process's end
constexpr std::size_t max_recordings = 16;                // of nodes that have gone
// What the control thread's epoll says; the rest are nodes, whose control sockets they stand for.
constexpr std::uint64_t command_tag = 0;
constexpr std::uint64_t process_tag = UINT64_MAX;

}  // namespace

std::unique_ptr<host_transport> host_transport::make(node_t self, int heap_fd, observer& to) {
  base::unique_fd job_file = base::make_memory_file("ham-job", sizeof(job_segment));
  base::mapping job_memory(job_file.get(), sizeof(job_segment));
  return std::unique_ptr<host_transport>(
      new host_transport(self, std::move(job_file), std::move(job_memory), base::make_event(), heap_fd, to));
}

host_transport::host_transport(node_t self, base::unique_fd job_file, base::mapping job_memory, base::unique_fd event,
                               int heap_fd, observer& to)
    : ring_transport(reinterpret_cast<job_segment*>(job_memory.data())->of(self).ring_me, event.get(), to),
      self_(self),
      job_file_(std::move(job_file)),
      job_memory_(std::move(job_memory)),
      job_(reinterpret_cast<job_segment*>(job_memory_.data())),
      event_(std::move(event)),
      heap_fd_(heap_fd),
      start_limit_ns_(start_limit_ns()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  look_at_all_every(max_blind_ns);
  job_->set_awake(self_, true);
  job_->bind(self_, base::only_core());
  watch_ = std::make_unique<base::life_watch>(job_->of(self_).alive,
                                              [this](std::uint64_t node) { on_life_word(static_cast<node_t>(node)); });
  epoll_event interest{EPOLLIN, {.u64 = command_tag}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, commands_.fd(), &interest);
  interest.data.u64 = process_tag;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, supervisor_.fd(), &interest);
  control_thread_ = base::start_thread([this] { control_loop(); });
}

host_transport::~host_transport() { shutdown(); }

void host_transport::start(std::vector<target_plan> plans, std::uint32_t nodes) {
  {
    std::lock_guard guard(mutex_);
    if (places_.size() + plans.size() > 64) base::raise_file_limit();
  }
  commands_.start(std::move(plans), nodes);
}

void host_transport::end(node_t node, std::chrono::milliseconds timeout) {
  commands_.end(node, base::now_ns() + std::chrono::nanoseconds(timeout).count());
}

bool host_transport::oversubscribed() const noexcept { return job_->oversubscribes(self_); }

void host_transport::control_loop() {
  for (;;) {
    wait_for_events();
    if (!run_commands()) break;
    drop_ended();
  }
  stop_children();
}

/// False: it is to stop.
bool host_transport::run_commands() {
  const host_commands::batch asked = commands_.take();
  if (asked.stop) return false;
  for (const auto& [node, until] : asked.ending) {
    started_target* const one = targets_.find(node);
    if (one == nullptr || one->has_ended()) continue;
    one->leaving = true;
    supervisor_.kill_at(node, until);
  }
  for (const node_t node : asked.forgotten) {
    if (started_target* const one = targets_.find(node)) one->forgotten = true;
  }
  if (!asked.starts) return true;
  std::string problem;
  try {
    for (const target_plan& plan : asked.plans) start_one(plan, asked.nodes);
  } catch (const std::exception& failure) {
    problem = failure.what();
  }
  commands_.started(std::move(problem));
  return true;
}

void host_transport::start_one(const target_plan& plan, std::uint32_t nodes) {
  auto one = std::make_unique<started_target>(plan.node, words(plan.command));
  base::unique_fd pair_file;
  control_text welcome;
  base::mapping rings = targets_.make_pair(pair_file, welcome.epoch);
  welcome.peer = self_;
  welcome.nodes = nodes;
  welcome.pid = ::getpid();
  job_->magic = job_segment::magic_value;  // each time: another target may have written there
  job_->cores.store(base::usable_cores(), std::memory_order_relaxed);
  one->welcome(welcome, job_file_.get(), pair_file.get(), heap_fd_, event_.get());
  const base::unique_fd theirs = one->take_its_end();

  base::process_request request;
  request.command = plan.command;
  if (plan.command.front() == base::own_program_link)
    request.shown_name = base::target_name(base::own_program_name(), plan.node);
  request.cpus = plan.cpus;
  request.output = plan.output;
  request.inherited_fd = theirs.get();
  request.extra_environment = plan.environment;
  request.extra_environment.push_back("HAM_TARGET=shm:" + std::to_string(theirs.get()));
  job_->clear(plan.node);
  {
    std::lock_guard guard(mutex_);
    const auto home = homes_.extract(place_of(plan.node));
    job_->of(plan.node).home.store(home ? home.mapped() : 0, std::memory_order_relaxed);
  }
  make_recorder_room(plan.node);
  request.end = &job_->of(plan.node).end;
  supervisor_.start(plan.node, request);
  if (start_limit_ns_ != 0) supervisor_.kill_at(plan.node, base::now_ns() + start_limit_ns_);
  {
    std::lock_guard guard(mutex_);
    nodes_.insert(plan.node);
    places_.insert(place_of(plan.node));
  }
  job_->set_awake(plan.node, true);

  auto connection = std::make_unique<ring_endpoint>(plan.node, self_, ring_pair::in(rings, welcome.epoch), 0U,
                                                    remote_bell{&job_->of(plan.node).ring_me, one->event(), this});
  connection->keep(std::move(rings), {});
  connection->set_memory(one->memory());
  adopt(std::move(connection));
  watch_->watch(job_->of(plan.node).alive, static_cast<std::uint64_t>(plan.node));

  epoll_event interest{EPOLLIN, {.u64 = static_cast<std::uint64_t>(plan.node)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, one->control(), &interest);
  targets_.add(std::move(one));
}

void host_transport::wait_for_events() {
  std::array<epoll_event, 32> events{};
  std::int64_t next = supervisor_.next_ns();
  for (const auto& [node, until_ns] : hung_up_) next = std::min(next, until_ns);
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), base::milliseconds_until(next));
  bool ends = next <= base::now_ns();
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    ends = ends || tag == process_tag;
    if (tag == process_tag || tag == command_tag) continue;
    started_target* const one = targets_.find(static_cast<node_t>(tag));
    if (one != nullptr && one->listens()) read_control(*one);
  }
  if (!ends) return;
  look_after_processes();
  report_hang_ups();
}

void host_transport::look_after_processes() {
  for (const process_supervisor::event& news : supervisor_.turn()) {
    started_target* const one = targets_.find(static_cast<node_t>(news.who));
    if (one == nullptr || one->has_ended()) continue;
    if (news.what == process_supervisor::event::kind::ended) {
      on_ended(*one, news.how);
      continue;
    }
    if (!one->leaving) lose(*one, too_slow(start_limit_ns_));
    hang_up_on(*one);
  }
}

/// Where the kernel refuses to kill a process, it ends by itself when it sees that.
void host_transport::hang_up_on(started_target& one) {
  if (!one.listens()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.control(), nullptr);
  one.hang_up();
}

void host_transport::read_control(started_target& from) {
  const started_target::words words = from.read();
  switch (words.what) {
    case started_target::said::nothing: return;
    case started_target::said::hung_up: hang_up(from); return;
    case started_target::said::breaks_rules: expel(from); return;
    case started_target::said::joined: {
      std::lock_guard guard(mutex_);
      pids_[from.node] = from.pid();
    }
      if (!from.leaving) supervisor_.kill_at(from.node, base::never_ns);
      return;
    case started_target::said::is_no_target: from.refuse(words.peer); return;
    case started_target::said::wants_peer: targets_.introduce(from, words.peer); return;
  }
}

void host_transport::hang_up(started_target& one) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.control(), nullptr);
  if (!one.has_joined()) {
    if (one.how_ended.empty()) {
      // It most likely ends at this moment, and how it ends is worth more than that it hung up.
      hung_up_[one.node] = base::now_ns() + unjoined_exit_ns;
      return;
    }
    lose(one, one.how_ended);
    release(one);
    return;
  }
  std::string how =
      with_killer(one.node, job_->of(one.node).how_ended(one.pid(), static_cast<pid_t>(peer_pid(one.node))));
  if (how.empty()) how = is_dead(one) ? "died" : "closed the connection";
  report_end(one, how);
}

/// Of those whose processes have not ended in time.
void host_transport::report_hang_ups() {
  const std::int64_t now = base::now_ns();
  std::erase_if(hung_up_, [&](const auto& waiting) {
    const auto& [node, until_ns] = waiting;
    if (until_ns > now) return false;
    started_target* const one = targets_.find(node);
    if (one != nullptr && !one->has_ended()) lose(*one, "closed the connection");
    return true;
  });
}

/// It has been taken over, or is no target. What has come from it stays where it is.
void host_transport::expel(started_target& one) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.control(), nullptr);
  one.expel();
  lose(one, "sent descriptors to its host, which no target does, and was ended");
  one.leaving = true;
  supervisor_.kill_at(one.node, base::now_ns());
}

/// Each node can write the life words of all: what one says is worth a question.
void host_transport::on_life_word(node_t node) {
  if (!base::confirms_end(pid_of(node), base::confirm_timeout)) return;
  job_->end(node);
  observing().on_died(node, "its process " + how_ended(node));
}

/// Of the node's process as far as it is known: that which has joined, else that which was started.
pid_t host_transport::pid_of(node_t node) const {
  {
    std::lock_guard guard(mutex_);
    if (const auto found = pids_.find(node); found != pids_.end() && found->second > 0) return found->second;
  }
  return static_cast<pid_t>(peer_pid(node));
}

/// Whether the target's process ends for sure, not only one that was started as a wrapper around it.
bool host_transport::is_dead(const started_target& one) const {
  const bool reaped = !one.how_ended.empty();
  if (reaped && one.pid() == peer_pid(one.node)) return true;
  if (one.pid() > 0) return base::confirms_end(one.pid(), at_once);
  return reaped && base::holder_died(job_->of(one.node).alive);  // it has never joined
}

void host_transport::report_end(const started_target& one, const std::string& how) {
  if (base::holder_died(job_->of(one.node).alive))
    base::wake_watchers(job_->of(one.node).alive);  // the one that was woken by the kernel may have died, too
  if (is_dead(one)) {
    observing().on_died(one.node, one.why_lost(how));
  } else {
    observing().on_lost(one.node, one.why_lost(how));
  }
}

/// A process that has not joined gets an explanation.
void host_transport::lose(const started_target& one, const std::string& how) {
  job_->end(one.node);
  if (one.has_joined())
    report_end(one, how);
  else
    observing().on_lost(one.node, one.why_lost(how));
}

/// Of a process that has just died: in time for its futures. A wrapper in front of it may live on.
std::string host_transport::how_ended(node_t node) {
  const std::string how = job_->of(node).how_ended(pid_of(node), static_cast<pid_t>(peer_pid(node)));
  return how.empty() ? "died" : with_killer(node, how);
}

/// The same for each thread that asks how a node has ended: whoever is first tells it.
std::string host_transport::with_killer(node_t node, const std::string& how) {
  constexpr std::string_view killed = "was killed by signal 9";
  if (!how.starts_with(killed)) return how;
  std::lock_guard guard(mutex_);
  if (!nodes_.contains(node)) return how;  // it has been told
  const auto [found, first] = killed_for_memory_.try_emplace(node, false);
  if (first) found->second = memory_kills_.any_more();
  return found->second ? how + ", most likely by the kernel, which was out of memory" : how;
}

void host_transport::on_ended(started_target& one, const std::string& end) {
  const std::string how = with_killer(one.node, end);
  one.how_ended = how;
  hung_up_.erase(one.node);
  if (!one.has_joined() && !one.has_hung_up() && one.listens()) read_control(one);  // it may have said why
  if (one.has_ended()) return;
  lose(one, how);
  release(one);
}

void host_transport::release(started_target& one) {
  // Peers of one that has ended in order learn it from its goodbye.
  targets_.release(one, is_dead(one) && base::holder_died(job_->of(one.node).alive));
}

void host_transport::drop_ended() {
  const std::vector<node_t> dropped = targets_.drop_ended();
  if (dropped.empty()) return;
  std::lock_guard guard(mutex_);
  for (const node_t node : dropped) {
    places_.erase(place_of(node));
    nodes_.erase(node);
    pids_.erase(node);
    killed_for_memory_.erase(node);
    keep_recording(node);
  }
}

/// Without it the node has a recorder of its own, which goes with it.
void host_transport::make_recorder_room(node_t node) noexcept {
  const std::uint64_t begin = recorder_offset(node);
  const std::uint64_t end = begin + base::recorder_area::bytes;
  if (base::file_size(job_file_.get()) < end)
    static_cast<void>(base::resize_file(job_file_.get(), end));
  else
    base::drop_range(job_file_.get(), begin, base::recorder_area::bytes);
}

/// Tools read what nodes that have gone did last, but a host that goes on replacing nodes must not keep it for ever.
/// mutex_ is held.
void host_transport::keep_recording(node_t node) {
  try {
    recordings_.push_back(node);
  } catch (const std::bad_alloc&) {
    return;  // its area stays
  }
  if (recordings_.size() <= max_recordings) return;
  const node_t oldest = recordings_.front();
  recordings_.pop_front();
  if (places_.contains(place_of(oldest))) return;
  base::drop_range(job_file_.get(), recorder_offset(oldest), base::recorder_area::bytes);
  drop_unused_pages(place_of(oldest));
}

/// Numbers grow: for a long time each new node is the first one at its place. What is not used is not even read, which
/// would bring its page back. mutex_ is held.
void host_transport::drop_unused_pages(std::size_t of_place) noexcept {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::int32_t counting = job_->counting_places.load(std::memory_order_relaxed);
  const auto used = [&](std::size_t place) {
    return place == place_of(self_) || static_cast<std::int64_t>(place) < counting || places_.contains(place);
  };
  const std::uint64_t first = place_offset(of_place) / page_bytes * page_bytes;
  for (std::uint64_t page = first; page < place_offset(of_place + 1); page += page_bytes) {
    if (page < place_offset(0)) continue;
    bool unused = true;
    const place_range there = places_between(page, page + page_bytes);
    for (std::size_t place = there.first; place <= there.last; ++place) unused = unused && !used(place);
    if (unused) base::drop_range(job_file_.get(), page, page_bytes);
  }
}

void host_transport::set_home_core(node_t node, int core) noexcept {
  std::lock_guard guard(mutex_);
  if (node == self_ || places_.contains(place_of(node))) {
    job_->of(node).home.store(core + 1, std::memory_order_relaxed);
    return;
  }
  try {
    homes_.insert_or_assign(place_of(node), core + 1);
  } catch (const std::bad_alloc&) {  // it wakes up anywhere
  }
}

bool host_transport::has_place_of(node_t node) const {
  std::lock_guard guard(mutex_);
  return places_.contains(place_of(node));
}

void host_transport::forget(endpoint& with) noexcept {
  ring_transport::forget(with);
  if (watch_ != nullptr) watch_->unwatch(static_cast<std::uint64_t>(with.peer()));
  {
    std::lock_guard guard(mutex_);
    if (!nodes_.contains(with.peer())) return;  // another transport's
  }
  commands_.forget(with.peer());
}

void host_transport::stop_children() {
  targets_.hang_up();
  supervisor_.stop(end_timeout);
}

void host_transport::shutdown() noexcept {
  if (!commands_.stop()) return;
  control_thread_.join();
  watch_.reset();
}

}  // namespace ham::transport::shm
