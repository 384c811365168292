// ham-top: what the nodes of this user's jobs do right now. It reads what they count, and sends nothing.
// link: ham::ham
#include <ham/offload/detail/standard_descriptors.hpp>

#include <CLI/CLI.hpp>

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "json.hpp"
#include "table.hpp"

namespace {

using namespace ham;

std::atomic<bool> ended{false};
static_assert(std::atomic<bool>::is_always_lock_free);
void end(int) { ended.store(true); }

struct wishes {
  std::string job;  ///< a pid, or the name of a program; empty: all jobs
  double interval_s = 1;
  top::sort_key sort = top::sort_key::node;
  top::filter shown;
};

/// Those that were asked for; throws if there is none.
std::vector<job_counters> read_wanted(const wishes& how) {
  if (how.job.empty()) return read_counters();
  std::int64_t pid = 0;
  const char* const last = how.job.data() + how.job.size();
  if (const auto read = std::from_chars(how.job.data(), last, pid); read.ec == std::errc() && read.ptr == last)
    return read_counters(pid);
  std::vector<job_counters> jobs = read_counters();
  std::erase_if(jobs, [&](const job_counters& one) { return one.program != how.job; });
  if (jobs.empty()) throw std::runtime_error("no job of this user has the program " + how.job);
  return jobs;
}

/// Lets the time pass; gives what was typed meanwhile, 0: nothing.
char wait_for_key(double seconds, bool listens) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (ended.load() || left.count() <= 0) return 0;
    pollfd input{listens ? STDIN_FILENO : -1, POLLIN, 0};
    if (::poll(&input, 1, static_cast<int>(left.count()) + 1) < 0 && errno != EINTR) return 0;
    char key = 0;
    if (input.revents != 0 && ::read(STDIN_FILENO, &key, 1) == 1) return key;
    if (input.revents != 0) listens = false;  // it has ended
  }
}

/// Keys come one by one, on a screen of their own, until it goes.
class screen {
 public:
  screen() {
    is_screen_ = ::isatty(STDOUT_FILENO) != 0;
    has_keys_ = is_screen_ && ::isatty(STDIN_FILENO) != 0 && ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (has_keys_) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    if (is_screen_) std::fputs("\x1b[?1049h\x1b[?25l", stdout);
  }
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;
  ~screen() {
    if (is_screen_) std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    std::fflush(stdout);
    if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  [[nodiscard]] bool has_keys() const { return has_keys_; }
  void show(const std::vector<std::string>& lines) const {
    if (is_screen_) std::fputs("\x1b[H", stdout);
    for (const std::string& one : lines) std::printf("%s%s\n", one.c_str(), is_screen_ ? "\x1b[K" : "");
    std::fputs(is_screen_ ? "\x1b[J" : "\n", stdout);
    std::fflush(stdout);
  }

 private:
  bool is_screen_ = false;
  bool has_keys_ = false;
  termios before_{};
};

std::vector<top::shown_job> shown(const wishes& how, const std::vector<job_counters>& before,
                                  const std::vector<job_counters>& now) {
  std::vector<top::shown_job> jobs = top::between(before, now);
  top::arrange(jobs, how.sort, how.shown);
  return jobs;
}

void show_once(const wishes& how, bool as_json) {
  const std::vector<job_counters> before = read_wanted(how);
  static_cast<void>(wait_for_key(how.interval_s, false));
  const std::vector<top::shown_job> jobs = shown(how, before, read_wanted(how));
  if (as_json) {
    std::printf("%s\n", top::json_text(jobs).c_str());
    return;
  }
  if (jobs.empty()) std::puts("nothing to show: no job of this user has a node that was asked for");
  for (const std::string& one : top::table_lines(jobs)) std::printf("%s\n", one.c_str());
}

void show_on(wishes how) {
  std::vector<job_counters> before = read_wanted(how);
  const screen on;
  double wait_s = std::min(0.2, how.interval_s);  // the first rates
  for (;;) {
    const char key = wait_for_key(wait_s, on.has_keys());
    if (key == 'q' || ended.load()) return;
    if (key == 's') how.sort = top::next(how.sort);
    if (key == 'g') how.shown.gone = !how.shown.gone;
    std::vector<job_counters> now = read_wanted(how);
    std::vector<std::string> lines = top::table_lines(shown(how, before, now));
    if (lines.empty()) lines.emplace_back("no job of this user has a node to show");
    if (on.has_keys()) {
      lines.emplace_back();
      lines.push_back("q: end, g: nodes that have gone, s: sort by " +
                      top::sort_key_names()[static_cast<std::size_t>(how.sort)]);
    }
    on.show(lines);
    wait_s = how.interval_s;
    before = std::move(now);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  CLI::App app(
      "ham-top: what the nodes of this user's jobs do right now. It reads what they count, and sends nothing.");
  wishes how;
  bool once = false;
  bool as_json = false;
  std::string sort = "node";
  app.add_option("JOB", how.job, "the pid of a host or a target, or the name of a host's program; default: all jobs");
  app.add_option("-i,--interval", how.interval_s, "seconds between two readings")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  app.add_option("-s,--sort", sort, "nodes of a job by this column")
      ->check(CLI::IsMember(top::sort_key_names()))
      ->capture_default_str();
  app.add_option("-n,--node", how.shown.nodes, "only nodes of these numbers")->delimiter(',')->allow_extra_args(false);
  app.add_option("--state", how.shown.state, "only nodes that do this")
      ->check(CLI::IsMember(std::vector<std::string>{"busy", "spinning", "asleep", "away", "unknown", "gone"}));
  app.add_option("--machine", how.shown.machine, "only nodes of machines whose name contains this");
  app.add_flag("-g,--gone", how.shown.gone, "nodes that have gone, too");
  app.add_flag("--once", once, "one table, of one interval");
  app.add_flag("--json", as_json, "the same as JSON");
  CLI11_PARSE(app, argc, argv);
  how.sort = *top::sort_key_of(sort);
  struct sigaction on_signal {};
  on_signal.sa_handler = &end;
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(one, &on_signal, nullptr);
  try {
    if (once || as_json)
      show_once(how, as_json);
    else
      show_on(how);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
    throw std::runtime_error("cannot write the output");
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham-top: %s\n", problem.what());
    return 1;
  }
}
