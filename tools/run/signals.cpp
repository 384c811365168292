// signalfd.
#include "signals.hpp"

#include "problem.hpp"

#include <signal.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

namespace ham::inline v1::run {

signals::signals() {
  sigset_t heard;
  ::sigemptyset(&heard);
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&heard, one);
  ::sigprocmask(SIG_BLOCK, &heard, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  // Inherited as ignored, it would not be told.
  ::signal(SIGCHLD, SIG_DFL);
  from_ = descriptor(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!from_) throw problem(std::string("cannot wait for signals (") + std::strerror(errno) + ")");
}

std::optional<signal_news> signals::next() {
  signalfd_siginfo info{};
  if (::read(from_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return signal_news{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

}  // namespace ham::run
