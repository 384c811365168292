// The course of one run.
#include "job.hpp"

#include "copy.hpp"
#include "host.hpp"
#include "job_key.hpp"
#include "problem.hpp"
#include "remote_script.hpp"
#include "start_problem.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace ham::inline v1::run {
namespace {

constexpr std::chrono::seconds end_timeout{10};
constexpr std::chrono::seconds term_timeout{2};

}  // namespace

job::job(const run_options& options, std::vector<target_group> groups)
    : options_(options), groups_(std::move(groups)) {}

job::~job() {
  if (host_ > 0 && !host_has_ended_) {
    ::kill(host_, SIGKILL);
    ::waitpid(host_, nullptr, 0);
    host_has_ended_ = true;
  }
  end_remote_ends();
}

int job::run() {
  start_remote_ends();
  start_host();
  wait_for_host();
  end_remote_ends();
  drain_output();
  return exit_code(host_status_);
}

void job::start_remote_ends() {
  std::vector<target_group> remote;
  std::ranges::copy_if(groups_, std::back_inserter(remote), [](const target_group& one) { return !one.is_local(); });
  if (remote.empty()) return;
  key_ = make_job_key();
  if (options_.slurm) {
    channels_.push_back(std::make_unique<channel>(options_, remote, streams_));
  } else {
    for (const target_group& one : remote) {
      channels_.push_back(std::make_unique<channel>(options_, std::vector{one}, streams_));
    }
  }
  await([](const remote_end& one) { return one.met.has_value(); }, "no answer");
  if (options_.copy) copy_files();
  std::optional<key_file> shared;
  if (options_.slurm && !options_.key_folder.empty()) shared.emplace(options_.key_folder, key_);
  if (options_.slurm && !shared) {
    print_out(
        STDERR_FILENO,
        "ham-run: warning: the key of this run goes through srun, which does not encrypt it unless Slurm's TLS is on; "
        "--key-folder names a folder that all nodes share\n");
  }
  for (auto& one : channels_) one->serve(shared ? key_file_line(shared->path()) : key_);
  await([](const remote_end& one) { return !one.address.empty(); }, "the program did not wait for the host");
  for (auto& one : channels_) one->show_output();
}

template <class Done>
void job::await(Done done, const std::string& what) {
  const auto until = clock::now() + std::chrono::seconds(options_.timeout_s);
  const auto unfinished = [&] {
    return std::ranges::find_if(channels_, [&](const auto& one) { return !std::ranges::all_of(one->ends(), done); });
  };
  for (auto late = unfinished(); late != channels_.end(); late = unfinished()) {
    look(100);
    for (const auto& one : channels_) {
      if (!one->end_status()) continue;
      drain_output();  // it says why
      throw problem(why_it_ended(options_, *one));
    }
    if (clock::now() > until && !std::ranges::all_of((*late)->ends(), done)) {
      throw problem(why_it_is_late(options_, **late, what));
    }
  }
}

void job::copy_files() {
  for (auto& one : channels_) one->ask_for_folder();
  await([](const remote_end& one) { return !one.folder.empty(); }, "no temporary folder");
  const std::string name = std::filesystem::path(options_.program.front()).filename();
  for (auto& one : channels_) {
    const remote_end& end = one->ends().front();
    const auto copy = [&](const std::string& file, const std::string& as) {
      copy_file(options_, {end.group.machine, end.folder, as, file}, [this](int timeout_ms) { look(timeout_ms); });
    };
    copy(program_for(options_, end.met->isa), name);
    for (const file_for& more : options_.also_copied) {
      if (more.isa.empty() || more.isa == end.met->isa) copy(more.path, std::filesystem::path(more.path).filename());
    }
  }
}

void job::start_host() {
  process_plan plan;
  plan.command = options_.program;
  plan.environment = options_.environment;
  plan.folder = options_.folder;
  std::vector<descriptor> kept;
  const auto tapped = [&](int to, const std::string& prefix) {
    pipe_ends ends = make_pipe();
    streams_.add_copy(std::move(ends.read), to, prefix);
    kept.push_back(std::move(ends.write));
    return kept.back().get();
  };
  const auto start_local = [&](std::size_t number) -> std::vector<std::string> {
    if (!options_.output_prefix) return {};
    const std::string prefix = target_group{"", number, 1}.prefix();
    const int out = tapped(STDOUT_FILENO, prefix);
    const int err = tapped(STDERR_FILENO, prefix);
    plan.inherited.insert(plan.inherited.end(), {out, err});
    return redirected(options_.program.front(), out, err);
  };
  const auto address_of_node = [&](std::size_t number) -> std::string {
    for (const auto& way : channels_) {
      for (const remote_end& one : way->ends()) {
        if (one.group.first == number) return one.address;
      }
    }
    throw problem("node " + std::to_string(number) + " was not started");
  };
  if (options_.choose_nodes()) {
    plan.environment.emplace_back("HAM_NODES", node_list(groups_, address_of_node, start_local));
  }
  if (!channels_.empty()) {
    kept.push_back(key_in_memory(key_));
    plan.inherited.push_back(kept.back().get());
    plan.environment.emplace_back("HAM_KEY", "fd:" + std::to_string(kept.back().get()));
  }
  if (!options_.cores.empty()) plan.environment.emplace_back("HAM_CPU_AFFINITY", options_.cores);
  if (std::getenv("HAM_START_TIMEOUT") == nullptr) {
    plan.environment.emplace_back("HAM_START_TIMEOUT", std::to_string(options_.timeout_s));
  }
  if (options_.output_prefix) {
    plan.out = tapped(STDOUT_FILENO, "[0] ");
    plan.err = tapped(STDERR_FILENO, "[0] ");
  }
  host_ = start_process(plan);
}

void job::wait_for_host() {
  while (!host_has_ended_) {
    look(1000);
    for (const auto& one : channels_) {
      if (host_has_ended_ || !one->end_status() || one->loss_told) continue;
      one->loss_told = true;
      print_out(STDERR_FILENO,
                "ham-run: lost " + one->name() + " (" + describe_end(*one->end_status()) + "); its targets are gone\n");
    }
  }
}

void job::end_remote_ends() {
  is_ending_ = true;
  for (auto& one : channels_) {
    one->hang_up();
    if (!one->answered()) one->signal(SIGTERM);  // nothing runs there that could notice
  }
  const auto all_ended = [&] {
    return std::ranges::all_of(channels_, [](const auto& one) { return one->end_status().has_value(); });
  };
  auto until = clock::now() + end_timeout;
  while (!all_ended() && clock::now() < until) look(100);
  for (auto& one : channels_) {
    if (one->answered() && !one->end_status()) {
      print_out(STDERR_FILENO, "ham-run: " + one->name() +
                                   " does not answer: what runs there ends when its end of the connection does\n");
    }
    one->signal(SIGTERM);
  }
  until = clock::now() + term_timeout;
  while (!all_ended() && clock::now() < until) look(100);
}

/// What was printed last may still be on its way. Something that stays in the background may hold an output open.
void job::drain_output() {
  const auto until = clock::now() + std::chrono::seconds(2);
  while (!streams_.empty() && clock::now() < until) look(20);
}

void job::look(int timeout_ms) {
  streams_.wait(timeout_ms, signals_.fd());
  while (const auto news = signals_.next()) deal_with(*news);
  reap();
}

void job::deal_with(const signal_news& news) {
  if (news.number == SIGCHLD || host_has_ended_) return;
  const bool to_end = news.number == SIGINT || news.number == SIGTERM;
  if (is_ending_) {  // within the destructor, after a start that has failed
    for (const auto& one : channels_) {
      if (to_end) one->signal(SIGKILL);
    }
    return;
  }
  if (host_ < 0) throw interrupted{news.number};
  if (to_end && ++times_asked_to_end_ >= 3) {
    ::kill(host_, SIGKILL);
    return;
  }
  const bool heard_already = news.from_terminal && (news.number == SIGINT || news.number == SIGQUIT);
  if (!heard_already) ::kill(host_, news.number);
}

void job::reap() {
  for (auto& one : channels_) one->reap();
  if (host_ > 0 && !host_has_ended_ && ::waitpid(host_, &host_status_, WNOHANG) == host_) host_has_ended_ = true;
}

}  // namespace ham::run
