// ssh and srun with a script at the other end.
#include "channel.hpp"

#include "problem.hpp"
#include "shell_text.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

namespace ham::inline v1::run {
namespace {

constexpr std::size_t max_lines_kept = 30;

std::vector<std::string> srun_command(const std::vector<target_group>& groups) {
  std::string nodes;
  for (const target_group& one : groups) nodes += (nodes.empty() ? "" : ",") + one.machine;
  const std::string count = std::to_string(groups.size());
  return {"srun",
          "--nodes=" + count,
          "--ntasks=" + count,
          "--ntasks-per-node=1",
          "--nodelist=" + nodes,
          "--input=all",
          "--label",
          "--unbuffered",
          "--kill-on-bad-exit=0",
          "--overlap",
          "--cpu-bind=none",
          "sh",
          "-c",
          remote_script()};
}

}  // namespace

std::vector<std::string> channel::command(const run_options& options, const std::vector<target_group>& groups) {
  if (options.slurm) return srun_command(groups);
  std::vector<std::string> words = options.ssh;
  words.push_back(groups.front().machine);
  words.push_back("exec sh -c " + shell_word(remote_script()));
  return words;
}

channel::channel(const run_options& options, std::vector<target_group> groups, streams& out) : options_(options) {
  for (target_group& one : groups) ends_.push_back({std::move(one), {}, {}, {}});
  pipe_ends to = make_pipe();
  pipe_ends output = make_pipe();
  pipe_ends errors = make_pipe();
  process_plan plan;
  std::vector<target_group> all;
  for (const remote_end& one : ends_) all.push_back(one.group);
  plan.command = command(options, all);
  plan.in = to.read.get();
  plan.out = output.write.get();
  plan.err = errors.write.get();
  plan.deaf_to_interrupts = true;
  pid_ = start_process(plan);
  in_ = std::move(to.write);
  if (options.slurm) {
    out.add_lines(std::move(output.read), [this](std::string_view line) {
      const remote_end* const from = end_of(line);
      return print_out(STDOUT_FILENO, (from == nullptr ? "" : prefix_of(*from)) + std::string(line) + "\n");
    });
  } else {
    out.add_copy(std::move(output.read), STDOUT_FILENO, prefix_of(ends_.front()));
  }
  out.add_lines(std::move(errors.read), [this](std::string_view line) { return take_line(line); });
}

channel::~channel() {
  if (status_) return;
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

/// The end that a line is from; srun's label is taken off the line.
remote_end* channel::end_of(std::string_view& line) {
  if (!options_.slurm) return &ends_.front();
  const std::size_t colon = line.find(": ");
  const std::size_t first = line.find_first_not_of(' ');
  if (colon == line.npos || first == line.npos || first >= colon) return nullptr;
  const long task = parse_number(line.substr(first, colon - first), 0, static_cast<long>(ends_.size()) - 1);
  if (task < 0) return nullptr;
  line.remove_prefix(colon + 2);
  return &ends_[static_cast<std::size_t>(task)];
}

std::string channel::prefix_of(const remote_end& from) const {
  return options_.output_prefix ? from.group.prefix() : "";
}

void channel::learn(remote_end& from, std::string_view line) {
  if (auto met = parse_greeting(line)) {
    // srun numbers its tasks; the nodes say themselves which ones they are.
    const auto here =
        std::ranges::find_if(ends_, [&](const remote_end& one) { return one.group.machine == met->slurm_node; });
    if (options_.slurm && here != ends_.end()) std::swap(here->group, from.group);
    from.met = std::move(met);
  } else if (auto folder = parse_folder(line)) {
    from.folder = *folder;
  } else if (auto address = parse_waiting(line)) {
    from.address = *address;
    // It waits at all its addresses then, and says one of them; its name leads to one that the other nodes can reach.
    if (options_.slurm) from.address = address_of(from.group.machine) + address->substr(address->rfind(':'));
  }
}

bool channel::take_line(std::string_view line) {
  remote_end* const from = end_of(line);
  if (from != nullptr && !shown_) {
    learn(*from, line);
    if (parse_greeting(line) || parse_folder(line) || parse_waiting(line)) return true;
  }
  const std::string text = (from == nullptr ? "" : prefix_of(*from)) + std::string(line);
  if (shown_) return print_out(STDERR_FILENO, text + "\n");
  heard_.push_back(text);
  if (heard_.size() > max_lines_kept) heard_.pop_front();
  return true;
}

void channel::show_output() {
  shown_ = true;
  for (const std::string& line : heard_) print_out(STDERR_FILENO, line + "\n");
  heard_.clear();
}

std::string channel::output_so_far() const {
  std::string result;
  for (const std::string& line : heard_) result += "\n  | " + line;
  return result;
}

bool channel::answered() const {
  return std::ranges::all_of(ends_, [](const remote_end& one) { return one.met.has_value(); });
}

void channel::ask_for_folder() { send(folder_line() + "\n"); }

void channel::serve(const std::string& key_line) {
  server what;
  for (const remote_end& one : ends_) what.groups.push_back(one.group);
  what.copied_to = ends_.front().folder;
  what.address = address_of(ends_.front().group.machine);
  if (options_.slurm) {
    what.address = "0.0.0.0";
  } else if (!ends_.front().met->address.empty()) {
    what.address = address_of(ends_.front().met->address);
  }
  send(serve_line(options_, what) + "\n" + key_line + "\n");
}

void channel::send(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(in_.get(), rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return;  // it has ended; that is noticed and told elsewhere
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void channel::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

bool channel::reap() {
  int status = 0;
  if (status_ || ::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  status_ = status;
  in_.close();
  return true;
}

std::string channel::name() const {
  if (!options_.slurm) return ends_.front().group.machine;
  return "the nodes of the Slurm job";
}

}  // namespace ham::run
