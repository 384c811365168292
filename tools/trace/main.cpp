// ham-trace: what the nodes of a job do, and did last; traces of jobs, for people.
// link: ham::ham
#include <ham/offload/detail/standard_descriptors.hpp>
#include <ham/offload/trace.hpp>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "last.hpp"
#include "report.hpp"
#include "timeline.hpp"

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw std::runtime_error("cannot read " + path);
  return content;
}

[[noreturn]] void fail_to_write(const std::string& what, int why) {
  throw std::runtime_error("cannot write " + what + " (" + std::strerror(why) + ")");
}

/// A page that is there is replaced; of one that cannot be written nothing is left.
void write_page(const std::string& path, const ham::trace::shown_trace& trace, const std::string& title) {
  std::ostringstream page;
  ham::trace::write_timeline(page, trace, title);
  const std::string text = page.str();
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail_to_write(path, errno);
  int why = std::fwrite(text.data(), 1, text.size(), file) == text.size() ? 0 : errno;
  if (std::fclose(file) != 0 && why == 0) why = errno;
  if (why != 0) {
    if (std::error_code ignored; std::filesystem::is_regular_file(path, ignored))
      std::filesystem::remove(path, ignored);
    fail_to_write(path, why);
  }
  std::printf("timeline: %s\n", path.c_str());
}

void report(const std::string& path, const std::string& page) {
  const ham::trace::shown_trace trace = ham::trace::read_pftrace(content_of(path));
  ham::trace::print_report(std::cout, ham::trace::report_of(trace), trace);
  std::cout.flush();
  if (page != "none") write_page(page.empty() ? path + ".html" : page, trace, path);
}

void join(const std::string& path) {
  const ham::trace::contents made = ham::trace::join(path);
  std::printf("%s: %zu nodes, %zu calls, %llu events dropped\n", path.c_str(), made.nodes, made.calls,
              static_cast<unsigned long long>(made.dropped));
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  CLI::App app("ham-trace: what the nodes of a job do, and did last; traces of jobs, for people.");
  app.require_subcommand(1);
  std::int64_t pid = 0;
  std::size_t events = 10;
  std::string trace;
  std::string page;
  CLI::App* const last = app.add_subcommand(
      "last",
      "the last events of a process and of the others of its job on this machine, also of those that have died");
  last->add_option("PID", pid, "the host or a target; it may have died, if another process of its job lives")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{INT32_MAX}));
  last->add_option("-n,--events", events, "of each thread, at most")->capture_default_str();
  CLI::App* const reporting =
      app.add_subcommand("report", "where the time of calls went, by function, and a page with the timeline");
  reporting->add_option("TRACE", trace, "what HAM_TRACE named")->required();
  reporting->add_option("--html", page, "the page; none: it is not written; default TRACE.html");
  CLI::App* const joining =
      app.add_subcommand("join", "makes a trace of TRACE.parts, which a host that was killed left");
  joining->add_option("TRACE", trace, "what HAM_TRACE named")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    if (*reporting)
      report(trace, page);
    else if (*joining)
      join(trace);
    else
      ham::trace::print_last(std::cout, ham::read_recordings(pid), events);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) fail_to_write("to the standard output", errno);
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham-trace: %s\n", problem.what());
    return 1;
  }
}
