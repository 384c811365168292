// Handlers that may throw, files that may be full.
#include "job/node_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/log.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

using offload::line_end;
using offload::output_stream;

constexpr std::array<const char*, 2> endings{".out", ".err"};

std::size_t place_of_stream(output_stream stream) noexcept { return stream == output_stream::out ? 0 : 1; }

line_end public_end_of(base::line_end end) noexcept {
  switch (end) {
    case base::line_end::newline: return line_end::newline;
    case base::line_end::part: return line_end::part;
    case base::line_end::none: break;
  }
  return line_end::end_of_output;
}

[[noreturn]] void throw_no_output_file(const std::string& name, const std::string& why, const char* advice) {
  throw config_error("cannot open " + name + " in the folder of HAM_OUTPUT (" + why + "); " + advice);
}

/// Others may be allowed to write to the folder, too: what they put there must neither lead elsewhere, nor make who
/// opens it wait.
base::unique_fd open_output_file(int folder, const std::string& name) {
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  base::unique_fd file(::openat(folder, name.c_str(), flags, 0666));
  const bool too_many = errno == EMFILE || errno == ENFILE;
  if (!file && (errno == ELOOP || errno == ENXIO))  // a link, a pipe that nobody reads, a socket
    throw_no_output_file(name, "it is no file", "remove it, or choose another folder");
  if (!file)
    throw_no_output_file(
        name, std::strerror(errno),
        too_many ? "raise the limit of open files (ulimit -n)" : "choose a folder that this program may write to");
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    throw_no_output_file(name, "it is no file", "remove it, or choose another folder");
  return file;
}

}  // namespace

node_output::node_output(node_t number, int folder) : number_(number) {
  if (folder < 0) return;
  for (std::size_t i = 0; i < files_.size(); ++i)
    files_[i].fd = open_output_file(folder, std::to_string(number) + endings[i]);
}

void node_output::use(offload::output_handler handler) {
  auto next = handler ? std::make_shared<const offload::output_handler>(std::move(handler)) : nullptr;
  const std::lock_guard guard(mutex_);
  handler_.swap(next);
}

bool node_output::is_wanted() const {
  const std::lock_guard guard(mutex_);
  return handler_ != nullptr || files_[0].fd;
}

void node_output::deliver(output_stream stream, std::string_view text, base::line_end end) noexcept {
  std::shared_ptr<const offload::output_handler> handler;
  {
    const std::lock_guard guard(mutex_);
    handler = handler_;
  }
  try {
    if (handler != nullptr)
      (*handler)(number_, stream, {text, public_end_of(end)});
    else
      write(stream, text, end);
  } catch (const std::exception& problem) {
    base::log("job", base::log_level::error, "the handler of offload::on_output for node %d has thrown: %s", number_,
              problem.what());
  } catch (...) {
    base::log("job", base::log_level::error, "the handler of offload::on_output for node %d has thrown something else",
              number_);
  }
}

void node_output::write(output_stream stream, std::string_view text, base::line_end end) {
  const std::size_t place = place_of_stream(stream);
  file& to = files_[place];
  std::string line;
  line.reserve(text.size() + 2);
  if (to.in_line) line += '\n';  // another process goes on
  line += text;
  if (end == base::line_end::newline) line += '\n';
  to.in_line = end == base::line_end::none;
  const int own = stream == output_stream::out ? STDOUT_FILENO : STDERR_FILENO;
  const int problem = base::write_bytes(to.fd ? to.fd.get() : own, line);
  if (problem == 0 || !to.fd || std::exchange(to.complained, true)) return;
  base::log("job", base::log_level::warning, "%d%s cannot be written (%s); output of node %d is lost (said once)",
            number_, endings[place], std::strerror(problem), number_);
}

}  // namespace ham::detail
