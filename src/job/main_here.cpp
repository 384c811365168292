// The target that runs main, from the host's wish to the exit of the process.
#include "job/main_here.hpp"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/thread.hpp"

namespace ham::inline v1::detail {
namespace {

main_here* the_one = nullptr;
/// The one again, also after its end: main may look at its arguments to the last.
[[gnu::used]] main_here* arguments_of_main = nullptr;

/// With the status, which atexit() does not tell.
void end_at_exit() {
#ifdef __GLIBC__
  ::on_exit([](int status, void*) { main_here::end(status); }, nullptr);
#else
  std::atexit([] { main_here::end(EXIT_SUCCESS); });
#endif
}

}  // namespace

main_here::main_here(target_of_main target, std::function<void()> after)
    : owner_(::getpid()), target_(std::move(target)), after_(std::move(after)), words_(target_->arguments()) {
  for (std::string& word : words_) arguments_.push_back(word.data());
  arguments_.push_back(nullptr);
}

main_here& main_here::begin(target_of_main target, std::function<void()> after) {
  ::unsetenv(base::info_of(base::setting::main_node).variable);  // what is started here has its main to itself
  const bool progress_thread = target->wants_progress_thread();
  the_one = arguments_of_main = new main_here(std::move(target), std::move(after));
  if (progress_thread) the_one->node().start_progress_thread();
  end_at_exit();
  return *the_one;
}

main_here* main_here::get() noexcept { return the_one; }

bool main_here::enter(int& argc, char**& argv) noexcept {
  if (the_one == nullptr || std::exchange(the_one->entered_, true)) return false;
  argc = static_cast<int>(the_one->words_.size());
  argv = the_one->arguments_.data();
  return true;
}

int main_here::run(function main) noexcept {
  return main(static_cast<int>(words_.size()), arguments_.data(), ::environ);
}

void main_here::withdraw() noexcept {
  if (the_one != nullptr && process_engine() == &the_one->node()) set_process_engine(nullptr);
}

void main_here::end(int status, bool exits) noexcept {
  main_here* const here = std::exchange(the_one, nullptr);
  if (here == nullptr || here->owner_ != ::getpid()) return;
  try {
    if (base::on_library_thread) {
      here->target_->report_end_of_main(status);
      return;  // the kernel ends the rest with this process
    }
    set_process_engine(&here->node());  // for destructors of objects that others have made here
    here->target_->end_main(status, exits);
    if (here->begun_by_ == std::this_thread::get_id())
      here->target_.reset();
    else  // the thread that began may still be in a call
      static_cast<void>(here->target_.release());
    if (here->after_) here->after_();
  } catch (const std::exception& problem) {
    base::log("job", base::log_level::error, "at the end of main: %s", problem.what());
  }
}

}  // namespace ham::detail
