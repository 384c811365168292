// Records by number, pipes by process.
#include "job/target_outputs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/refused_call.hpp"
#include "base/settings.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

[[noreturn]] void throw_no_pipe(const char* call) {
  throw config_error("cannot make a pipe for the output of a target" +
                     base::refused_call(call, "raise the limit of open files (ulimit -n)"));
}

/// The end to write to, and the end to read from.
std::pair<base::unique_fd, base::unique_fd> make_output_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_no_pipe("pipe2");
  base::unique_fd to(ends[1]);
  base::unique_fd from(ends[0]);
  if (!to || !from) throw_no_pipe("fcntl");
  return {std::move(to), std::move(from)};
}

base::unique_fd open_output_folder(const std::string& name) {
  ::mkdir(name.c_str(), 0777);  // it may be there already
  base::unique_fd folder(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    throw config_error("HAM_OUTPUT=" + name + " is no folder, and none can be made there (" + std::strerror(errno) +
                       "); the folder that it is in must exist");
  return folder;
}

}  // namespace

/// -1: HAM_OUTPUT is not set. Opened once: the working directory may change. mutex_ is held.
int target_outputs::folder() {
  if (!folder_) {
    const std::string name = base::text_of(base::setting::output);
    if (!name.empty()) folder_ = open_output_folder(name);
  }
  return folder_.get();
}

target_outputs::turn::turn(target_outputs& at, node_t number) : at_(at), number_(number) {
  if (at_.reader_.is_this_thread()) return;
  std::unique_lock lock(at_.mutex_);
  at_.turn_ended_.wait(lock, [this] { return !at_.turns_.contains(number_); });
  taken_ = at_.turns_.insert(number_).second;
}

target_outputs::turn::~turn() {
  if (!taken_) return;
  const std::lock_guard guard(at_.mutex_);
  at_.turns_.erase(number_);
  at_.turn_ended_.notify_all();
}

output_pipes target_outputs::begin(node_t process) {
  const std::lock_guard guard(mutex_);
  node_t number = process;
  if (const auto found = numbers_.find(process); found != numbers_.end()) number = found->second;
  record& of = records_[number];
  of.has_pipes = false;
  if (of.to == nullptr) of.to = std::make_shared<node_output>(number, folder());
  if (!of.to->is_wanted()) return {};
  output_pipes pipes = make_pipes(of);
  of.has_pipes = true;
  return pipes;
}

void target_outputs::forget(node_t number) noexcept {
  const std::lock_guard guard(mutex_);
  records_.erase(number);
}

bool target_outputs::can_capture(node_t number) const {
  const std::lock_guard guard(mutex_);
  const auto found = records_.find(number);
  return found != records_.end() && found->second.to != nullptr;
}

void target_outputs::use(node_t number, offload::output_handler handler) {
  std::shared_ptr<node_output> of;
  {
    const std::lock_guard guard(mutex_);
    if (const auto found = records_.find(number); found != records_.end()) of = found->second.to;
  }
  if (of == nullptr) return;
  std::exception_ptr problem;
  reader_.run([&] {
    try {
      of->use(std::move(handler));
    } catch (...) {
      problem = std::current_exception();
    }
  });
  if (problem) std::rethrow_exception(problem);
}

output_pipes target_outputs::open(node_t number) {
  const std::lock_guard guard(mutex_);
  const auto found = records_.find(number);
  if (found == records_.end() || found->second.has_pipes) return {};
  output_pipes pipes = make_pipes(found->second);
  found->second.has_pipes = true;
  return pipes;
}

void target_outputs::undo_open(node_t number) noexcept {
  const std::lock_guard guard(mutex_);
  if (const auto found = records_.find(number); found != records_.end()) found->second.has_pipes = false;
}

output_pipes target_outputs::make_pipes(const record& of) {
  auto [out, from_out] = make_output_pipe();
  auto [err, from_err] = make_output_pipe();
  const auto receiver = [&](offload::output_stream stream) {
    return [to = of.to, stream](std::string_view text, base::line_end end) { to->deliver(stream, text, end); };
  };
  reader_.add(std::move(from_out), receiver(offload::output_stream::out));
  reader_.add(std::move(from_err), receiver(offload::output_stream::err));
  return {std::move(out), std::move(err)};
}

}  // namespace ham::detail
