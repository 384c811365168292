// Targets: of a host on this machine, of a launcher, and on accelerators.
#include "job/run_target.hpp"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/own_program.hpp"
#include "base/settings.hpp"
#include "compose/transports.hpp"
#include "ham/msg/thread_pool.hpp"
#include "job/main_here.hpp"
#include "job/own_targets.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/objects.hpp"
#include "runtime/options.hpp"
#include "runtime/output.hpp"

namespace ham::inline v1::detail {

target_boot boot_of(std::shared_ptr<transport::target_side> side, transport::company reaches) {
  target_boot boot;
  boot.self = side->self();
  boot.starter = side->host();
  if (boot.starter != 0) boot.begin = [](engine&) {};  // it meets the host, which waits for that
  boot.nodes = side->nodes();
  boot.memory = side->take_memory();
  boot.open = [side, reaches](engine& target, node_directory& directory) {
    auto made = side->open(target.events);
    if (reaches == transport::company::nobody)
      directory.use_only(*made);
    else
      directory.use_local(*made, reaches == transport::company::targets);
    return made;
  };
  boot.join = [side = std::move(side)] { side->join(); };
  return boot;
}

running_target::running_target(target_boot boot)
    : boot_(std::move(boot)),
      target_(
          boot_.self, boot_.nodes,
          boot_.memory != nullptr ? std::move(boot_.memory) : std::make_unique<base::heap>(base::heap::make_file())),
      directory_(target_, boot_.how),
      main_(target_),
      job_(directory_, nullptr, &main_),
      before_(process_engine()) {
  target_.limit_messages(message_limit());
  target_.ways.set_starter(boot_.starter);
  if (boot_.start) directory_.take_start_requests();
  if (boot_.begin) target_.locked([&] { static_cast<void>(target_.peers.expect(boot_.starter)); });
  target_.owner = &job_;
  open_transport();
  set_process_engine(&target_);
  try {
    boot_.join();
  } catch (...) {
    set_process_engine(before_);
    throw;
  }
}

/// And takes the device that comes with it, and its memory.
void running_target::open_transport() {
  auto made = boot_.open(target_, directory_);
  auto* const owner = dynamic_cast<transport::device_owner*>(made.get());
  if (owner != nullptr) {
    if (auto memory = owner->take_memory(); memory != nullptr)
      target_.memory.use_device(std::make_shared<device_heap>(std::move(memory)));
  }
  target_.use(std::move(made));
  if (owner != nullptr) device_ = std::make_unique<device_calls>(target_, *owner);
}

running_target::~running_target() { set_process_engine(before_); }

void running_target::begin() {
  if (!boot_.begin) return;
  try {
    target_.await_ready(0);
    boot_.begin(target_);
  } catch (const node_failure&) {  // the job has ended, which serve() knows
  }
}

bool running_target::serve() {
  target_.serve([this] { begin(); });
  while (const auto request = directory_.take_start_request()) {
    if (target_.has_ended()) break;
    target_.serve([&] {
      boot_.start(*request);
      if (main_.requested()) target_.interrupt_service();
    });
  }
  if (main_.requested() && !target_.has_ended()) return true;
  leave();
  return false;
}

void running_target::leave() {
  boot_.ended();
  msg::thread_pool::process().shutdown();
  device_.reset();
  destroy_objects_of(target_);
  target_.leave();
  boot_.left();
}

void running_target::end_main(int status, bool exits, const std::string& why) {
  boot_.main_ended();
  main_.report_end(status, exits, why);
  target_.serve();
  if (!target_.has_ended()) target_.serve();  // an interruption was left over
  leave();
}

void running_target::report_end_of_main(int status) {
  constexpr std::int64_t max_wait_ns = 1'000'000'000;
  main_.report_end(status, true);
  const std::int64_t until = base::now_ns() + max_wait_ns;
  while (target_.peers.is_ready(0) && base::now_ns() < until) base::sleep_ns(1'000'000);
}

target_of_main run_target(target_boot boot) {
  auto target = std::make_unique<running_target>(std::move(boot));
  if (!target->serve()) target.reset();
  return target;
}

namespace {

using transport::company;

struct described_side {
  std::unique_ptr<transport::target_side> side;
  company reaches;
};

/// What HAM_TARGET=NAME:TEXT says.
described_side side_of(const std::string& set) {
  const std::size_t colon = set.find(':');
  const transport::factory* const by = colon == std::string::npos ? nullptr : find_transport(set.substr(0, colon));
  std::unique_ptr<transport::target_side> side;
  if (by != nullptr && by->as_starting() != nullptr) side = by->as_starting()->make_target(set.substr(colon + 1));
  if (side == nullptr) {
    throw config_error("HAM_TARGET=\"" + set + "\" is not what a host of this release sets; unset it");
  }
  return {std::move(side), by->as_starting()->host_factory().reaches()};
}

/// Of the transport that called ham_main.
described_side called_side(std::uint64_t address) {
  for (const transport::factory* const one : transports()) {
    if (one->as_starting() == nullptr) continue;
    if (auto side = one->as_starting()->make_called_target(address))
      return {std::move(side), one->as_starting()->host_factory().reaches()};
  }
  throw config_error(
      "ham_main was told of a ring in a place unknown here; build host and target from the same release");
}

/// Whether the host counts on the same targets as this rank, which is told soon after the greeting.
bool await_comparison(const node_directory& directory, engine& at) {
  base::backoff<base::backoff_schedule{.spins = 100, .yields = 100, .sleep_ns = 50'000}> pause;
  while (!directory.has_compared() && at.peers.is_ready(0)) {
    at.poll_once();
    pause.wait();
  }
  return directory.has_compared();
}

}  // namespace

bool is_target_process() { return base::in_environment(base::setting::target); }

expected_target expect_target_process(bool plain_output) {
  // Whoever sets it has this process call what they like. A privileged host's own targets are no exception: they cannot
  // tell it from its caller.
  const std::string text = base::text_of(base::setting::target);
  ::unsetenv(base::info_of(base::setting::target).variable);  // what this process starts is no target
  described_side made = side_of(text);
  base::name_this_target(made.side->self());
  std::shared_ptr<line_output> output;
  if (!plain_output) output = std::make_shared<line_output>();
  const auto boot = std::make_shared<target_boot>(boot_of(std::move(made.side), made.reaches));
  boot->how.timeout = tcp_timeout();
  boot->left = [output] {};
  return {boot->self, boot->nodes, [boot] { return run_target(std::move(*boot)); }};
}

target_of_main run_target_process(bool plain_output) { return expect_target_process(plain_output).run(); }

void run_called_target(std::uint64_t address) {
  described_side made = called_side(address);
  const auto main = reinterpret_cast<main_here::function>(static_cast<std::uintptr_t>(made.side->main_address()));
  target_of_main target = run_target(boot_of(std::move(made.side), made.reaches));
  if (target == nullptr) return;
  if (main == nullptr) {
    target->end_main(0,
                     "the application's library for it has no function main; build that in, not only what is called");
    return;
  }
  main_here::end(main_here::begin(std::move(target)).run(main), false);
}

target_of_main run_rank(std::unique_ptr<transport::process_group> group, const fresh_targets& planned,
                        target_defaults how) {
  const node_t first = group->first();
  const node_t end = first + static_cast<node_t>(group->size()) - 1;
  const node_t self = group->self();
  const bool any_thread = group->for_any_thread();
  const auto targets = std::make_shared<own_targets>(std::move(how));
  const auto known = std::make_shared<node_directory*>(nullptr);
  target_boot boot;
  boot.self = self;
  boot.nodes = static_cast<std::size_t>(end) + planned.size();
  boot.how.timeout = tcp_timeout();
  boot.open = [targets, known, planned, first, end, ranks = std::shared_ptr(std::move(group))](
                  engine& target, node_directory& directory) mutable {
    *known = &directory;
    set_routes(target, planned, first, end);
    targets->attach(target, directory);
    auto made = ranks->open(&target.memory.own(), target.events);
    ranks.reset();
    directory.use_ranks(*made, first, end);
    return made;
  };
  boot.begin = [targets, known, any_thread, own = targets_of(planned, self), nodes = boot.nodes](engine& target) {
    if (!own.empty() && await_comparison(**known, target)) targets->start(own, nodes, any_thread);
  };
  boot.left = [targets] { targets->end(); };
  return run_target(std::move(boot));
}

}  // namespace ham::detail
