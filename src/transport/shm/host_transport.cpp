// Starting, introducing and reaping targets. All of it happens on the control thread, which the children are tied to:
// the kernel kills them when it ends.
#include "transport/shm/host_transport.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/own_program.hpp"
#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "transport/common/joining.hpp"
#include "transport/shm/messages.hpp"

namespace ham::transport::shm {
namespace {

constexpr std::chrono::milliseconds end_timeout{500};
// What the control thread's epoll says; the rest are nodes, whose control sockets they stand for.
constexpr std::uint64_t command_tag = 0;
constexpr std::uint64_t process_tag = UINT64_MAX;

base::unique_fd duplicate(int fd) {
  base::unique_fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy)
    throw config_error(std::string("cannot duplicate a descriptor (") + std::strerror(errno) +
                       "); raise the limit of open files (ulimit -n)");
  return copy;
}

std::span<const std::byte> bytes_of(const control_text& text) {
  return {reinterpret_cast<const std::byte*>(&text), sizeof text};
}

std::uint32_t random_word() noexcept {
  std::uint32_t word = 0;
  if (::getrandom(&word, sizeof word, 0) != sizeof word) word = static_cast<std::uint32_t>(base::now_ns());
  return word;
}

}  // namespace

std::unique_ptr<host_transport> host_transport::make(int heap_fd, observer& to) {
  base::unique_fd job_file = base::make_memory_file("ham-job", sizeof(job_segment));
  base::mapping job_memory(job_file.get(), sizeof(job_segment));
  return std::unique_ptr<host_transport>(
      new host_transport(std::move(job_file), std::move(job_memory), base::make_event(), heap_fd, to));
}

host_transport::host_transport(base::unique_fd job_file, base::mapping job_memory, base::unique_fd event, int heap_fd,
                               observer& to)
    : ring_transport(reinterpret_cast<job_segment*>(job_memory.data())->nodes[0].ring_me, event.get(), to),
      job_file_(std::move(job_file)),
      job_memory_(std::move(job_memory)),
      job_(reinterpret_cast<job_segment*>(job_memory_.data())),
      event_(std::move(event)),
      heap_fd_(heap_fd),
      next_epoch_(random_word()),
      start_limit_ns_(start_limit_ns()),
      command_event_(base::make_event()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  job_->magic = job_segment::magic_value;
  job_->cores = base::usable_cores();
  job_->set_awake(0, true);
  watch_ = std::make_unique<base::life_watch>(job_->nodes[0].alive, [this](std::uint64_t node) {
    job_->set_awake(static_cast<node_t>(node), false);
    observing().on_died(static_cast<node_t>(node), "its process " + how_ended(static_cast<node_t>(node)));
  });
  epoll_event interest{EPOLLIN, {.u64 = command_tag}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, command_event_.get(), &interest);
  interest.data.u64 = process_tag;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, supervisor_.fd(), &interest);
  control_thread_ = base::start_thread([this] { control_loop(); });
}

host_transport::~host_transport() { shutdown(); }

void host_transport::start(std::vector<target_plan> plans, std::uint32_t nodes) {
  std::unique_lock lock(mutex_);
  if (places_.size() + plans.size() > 64) base::raise_file_limit();
  plans_ = std::move(plans);
  plan_nodes_ = nodes;
  started_ = false;
  base::signal_event(command_event_.get());
  done_.wait(lock, [&] { return started_; });
  if (!start_error_.empty()) throw config_error(start_error_);
}

void host_transport::end(node_t node, std::chrono::milliseconds timeout) {
  {
    std::lock_guard guard(mutex_);
    ending_.emplace_back(node, base::now_ns() + std::chrono::nanoseconds(timeout).count());
  }
  base::signal_event(command_event_.get());
}

bool host_transport::oversubscribed() const noexcept {
  return job_->awake.load(std::memory_order_relaxed) > static_cast<std::int32_t>(job_->cores);
}

void host_transport::control_loop() {
  for (;;) {
    wait_for_events();
    std::unique_lock lock(mutex_);
    if (stop_) break;
    lock.unlock();
    run_commands();
    drop_ended();
  }
  stop_children();
}

void host_transport::run_commands() {
  std::vector<target_plan> plans;
  {
    std::lock_guard guard(mutex_);
    for (const auto& [node, until] : std::exchange(ending_, {})) {
      child* const one = find(node);
      if (one == nullptr || one->ended) continue;
      one->leaving = true;
      supervisor_.kill_at(node, until);
    }
    for (const node_t node : std::exchange(forgotten_, {})) {
      if (child* const one = find(node)) one->forgotten = true;
    }
    if (started_) return;
    plans.swap(plans_);
  }
  std::string error;
  try {
    for (const target_plan& plan : plans) start_one(plan, plan_nodes_);
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  std::lock_guard guard(mutex_);
  start_error_ = error;
  started_ = true;
  done_.notify_all();
}

base::mapping host_transport::make_pair(base::unique_fd& file, std::uint32_t& epoch) {
  file = base::make_memory_file("ham-pair", ring_pair::bytes);
  epoch = next_epoch_ = next_epoch_ * 1664525U + 1013904223U;
  return {file.get(), ring_pair::bytes};
}

void host_transport::start_one(const target_plan& plan, std::uint32_t nodes) {
  auto one = std::make_unique<child>();
  one->node = plan.node;
  one->heap = base::heap::make_file();
  one->event = base::make_event();
  auto [mine, theirs] = base::make_control_pair();
  one->control = std::move(mine);

  base::unique_fd pair_file;
  control_text welcome;
  base::mapping rings = make_pair(pair_file, welcome.epoch);
  welcome.kind = control_kind::welcome;
  welcome.node = plan.node;
  welcome.nodes = nodes;
  welcome.side = 1;
  const std::array<int, 6> fds{job_file_.get(), pair_file.get(),  one->heap.get(),
                               heap_fd_,        one->event.get(), event_.get()};
  if (!base::send_control(one->control.get(), bytes_of(welcome), fds)) {
    throw config_error("cannot hand a target its memory" +
                       base::refused_call("sendmsg", "raise the limit of open files (ulimit -n)"));
  }

  one->memory = std::make_shared<mapped_memory>(duplicate(one->heap.get()));

  base::process_request request;
  request.command = plan.command;
  if (plan.command.front() == base::own_program_link)
    request.shown_name = base::target_name(base::own_program_name(), plan.node);
  request.cpus = plan.cpus;
  request.inherited_fd = theirs.get();
  request.extra_environment = plan.environment;
  request.extra_environment.push_back("HAM_TARGET=shm:" + std::to_string(theirs.get()));
  job_->clear(plan.node);
  request.end = &job_->of(plan.node).end;
  supervisor_.start(plan.node, request);
  if (start_limit_ns_ != 0) supervisor_.kill_at(plan.node, base::now_ns() + start_limit_ns_);
  one->program = words(plan.command);
  {
    std::lock_guard guard(mutex_);
    nodes_.insert(plan.node);
    places_.insert(place_of(plan.node));
  }
  job_->set_awake(plan.node, true);

  auto connection = std::make_unique<ring_endpoint>(plan.node, 0, ring_pair{rings.data(), welcome.epoch}, 0U,
                                                    remote_bell{&job_->of(plan.node).ring_me, one->event.get()});
  connection->keep(std::move(rings), {});
  connection->set_memory(one->memory);
  adopt(std::move(connection));
  watch_->watch(job_->of(plan.node).alive, static_cast<std::uint64_t>(plan.node));

  epoll_event interest{EPOLLIN, {.u64 = static_cast<std::uint64_t>(plan.node)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, one->control.get(), &interest);
  children_.push_back(std::move(one));
}

host_transport::child* host_transport::find(node_t node) noexcept {
  for (auto& one : children_) {
    if (one->node == node) return one.get();
  }
  return nullptr;
}

void host_transport::wait_for_events() {
  std::array<epoll_event, 32> events{};
  const std::int64_t next = supervisor_.next_ns();
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), base::milliseconds_until(next));
  bool ends = next <= base::now_ns();
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    ends = ends || tag == process_tag;
    if (tag == process_tag) continue;
    if (tag == command_tag) {
      base::drain_event(command_event_.get());
      continue;
    }
    child* const one = find(static_cast<node_t>(tag));
    if (one != nullptr && one->control) read_control(*one);
  }
  if (ends) look_after_processes();
}

void host_transport::look_after_processes() {
  for (const process_supervisor::event& news : supervisor_.turn()) {
    child* const one = find(static_cast<node_t>(news.who));
    if (one == nullptr || one->ended) continue;
    if (news.what == process_supervisor::event::kind::ended)
      on_ended(*one, news.how);
    else if (!one->leaving)
      lose(*one, too_slow(start_limit_ns_));
  }
}

void host_transport::read_control(child& from) {
  bool closed = false;
  const auto message = base::receive_control(from.control.get(), false, closed);
  if (closed && !from.hung_up) hang_up(from);
  if (!message) return;
  const std::string_view characters(reinterpret_cast<const char*>(message->bytes.data()), message->bytes.size());
  if (!from.joined && !message->from_other_user && characters.starts_with(declined)) {
    from.last_words = characters.substr(declined.size());
    return;
  }
  control_text text;
  if (message->bytes.size() != sizeof text) return;
  std::memcpy(&text, message->bytes.data(), sizeof text);
  if (text.version != control_text::protocol) return;
  if (message->from_other_user) {  // who may only hold a socket joins nothing and gets no descriptors of others
    if (text.kind == control_kind::connect) refuse(from, text.peer);
    return;
  }
  if (text.kind == control_kind::joined) {
    from.joined = true;
    if (!from.leaving) supervisor_.kill_at(from.node, base::never_ns);
  }
  if (text.kind != control_kind::connect) return;
  try {
    introduce(from.node, text.peer);
  } catch (const std::exception&) {  // no descriptors or memory left for the connection
    introduced_.erase(std::minmax<node_t>(from.node, text.peer));
    refuse(from, text.peer);
  }
}

void host_transport::hang_up(child& one) {
  one.hung_up = true;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.control.get(), nullptr);
  if (!one.joined) {
    // It most likely ends at this moment, and how it ends is worth more than that it hung up.
    const std::string how = one.how_ended.empty() ? supervisor_.wait(one.node, std::chrono::seconds(2)) : one.how_ended;
    lose(one, how.empty() ? "closed the connection" : how);
    if (!how.empty()) release(one);
    return;
  }
  std::string how = job_->of(one.node).how_ended(static_cast<pid_t>(peer_pid(one.node)));
  if (how.empty()) how = base::holder_died(job_->of(one.node).alive) ? "died" : "closed the connection";
  report_end(one, how);
}

/// The process that was started may be a wrapper around the target. The kernel marks the target's life word before it
/// closes its sockets.
void host_transport::report_end(const child& one, const std::string& how) {
  if (base::holder_died(job_->of(one.node).alive))
    observing().on_died(one.node, "its process " + how);
  else
    observing().on_lost(one.node, "its process " + how);
}

/// A process that has not joined gets an explanation.
void host_transport::lose(child& one, const std::string& how) {
  job_->set_awake(one.node, false);
  if (one.joined) {
    report_end(one, how);
    return;
  }
  observing().on_lost(one.node, why_not_joined(one.program, how, one.last_words));
}

/// Of a process that has just died: in time for its futures. A wrapper in front of it may live on.
std::string host_transport::how_ended(node_t node) {
  constexpr std::string_view killed = "was killed by signal 9";
  std::string how = job_->of(node).how_ended(static_cast<pid_t>(peer_pid(node)));
  if (how.empty()) return "died";
  std::lock_guard guard(mutex_);
  if (how.starts_with(killed) && memory_kills_.any_more())
    how += ", most likely by the kernel, which was out of memory";
  return how;
}

void host_transport::refuse(child& asker, node_t peer) {
  control_text text;
  text.kind = control_kind::refused;
  text.peer = peer;
  base::send_control(asker.control.get(), bytes_of(text), {});
}

void host_transport::introduce(node_t first, node_t second) {
  child* one = find(first);
  child* other = find(second);
  if (one == nullptr || first == second) return;
  if (other == nullptr || other->ended || other->hung_up) {
    refuse(*one, second);
    return;
  }
  if (!introduced_.insert(std::minmax(first, second)).second) return;
  base::unique_fd pair_file;
  control_text text;
  text.kind = control_kind::connected;
  static_cast<void>(make_pair(pair_file, text.epoch));  // the host itself does not look into it
  text.peer = second;
  text.side = 0;
  const bool told = base::send_control(one->control.get(), bytes_of(text),
                                       std::array{pair_file.get(), other->heap.get(), other->event.get()});
  text.peer = first;
  text.side = 1;
  const bool both_told = told && base::send_control(other->control.get(), bytes_of(text),
                                                    std::array{pair_file.get(), one->heap.get(), one->event.get()});
  if (!both_told) refuse(*one, second);
}

void host_transport::on_ended(child& one, const std::string& how) {
  one.how_ended = how;
  if (!one.joined && !one.hung_up) read_control(one);  // it may have said why
  if (one.ended) return;
  lose(one, how);
  release(one);
}

/// Its process is gone, everyone knows: a host that goes on starting others must not keep its memory and descriptors.
void host_transport::release(child& one) {
  one.ended = true;
  one.memory->abandon();
  one.heap.reset();
  one.control.reset();
}

/// Those that are used no more, and whose processes are gone.
void host_transport::drop_ended() {
  const auto over = [](const auto& one) { return one->ended && one->forgotten; };
  for (const auto& one : children_) {
    if (!over(one)) continue;
    std::erase_if(introduced_, [&](const auto& two) { return two.first == one->node || two.second == one->node; });
    std::lock_guard guard(mutex_);
    places_.erase(place_of(one->node));
    nodes_.erase(one->node);
  }
  std::erase_if(children_, over);
}

bool host_transport::has_place_of(node_t node) const {
  std::lock_guard guard(mutex_);
  return places_.contains(place_of(node));
}

void host_transport::forget(endpoint& with) noexcept {
  ring_transport::forget(with);
  if (watch_ != nullptr) watch_->unwatch(static_cast<std::uint64_t>(with.peer()));
  try {
    std::lock_guard guard(mutex_);
    if (!nodes_.contains(with.peer())) return;  // another transport's
    forgotten_.push_back(with.peer());
  } catch (const std::bad_alloc&) {
    return;  // its descriptors stay
  }
  base::signal_event(command_event_.get());
}

void host_transport::stop_children() {
  for (auto& one : children_) one->control.reset();
  supervisor_.stop(end_timeout);
}

void host_transport::shutdown() noexcept {
  {
    std::lock_guard guard(mutex_);
    if (stop_) return;
    stop_ = true;
  }
  base::signal_event(command_event_.get());
  control_thread_.join();
  watch_.reset();
}

}  // namespace ham::transport::shm
