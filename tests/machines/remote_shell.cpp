// Stands for ssh and sshd between the machines of machines.sh.
//   remote_shell --serve                        waits for commands at port 22, as the first process of a machine
//   remote_shell [OPTION...] MACHINE WORD...    executes the words there, with this one's input, output and error
// Each of the three streams is a TCP connection; that of the input brings the exit status back.
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>

namespace {

constexpr int port = 22;
constexpr int failed = 255;  // as ssh says it

/// What each connection begins with; that of the input then has the command.
struct opening {
  std::uint64_t session;
  std::uint32_t stream;
  std::uint32_t command_size;
};

struct session {
  std::array<int, 3> streams{-1, -1, -1};
  std::string command;
};

bool read_all(int from, void* into, std::size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = ::read(from, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int to, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t put = ::write(to, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

/// Copies until either end is closed.
void copy(int from, int to) {
  std::array<char, 1 << 14> room{};
  for (;;) {
    const ssize_t got = ::read(from, room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !write_all(to, room.data(), static_cast<std::size_t>(got))) return;
  }
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "remote_shell: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(failed);
}

// ---- the machine that is called

/// SSH_CONNECTION: addresses and ports of both ends.
std::string ends_of(int connection) {
  std::string text;
  for (const auto name : {::getpeername, ::getsockname}) {
    sockaddr_in end{};
    socklen_t size = sizeof end;
    name(connection, reinterpret_cast<sockaddr*>(&end), &size);
    char address[INET_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET, &end.sin_addr, address, sizeof address);
    text += (text.empty() ? "" : " ") + std::string(address) + " " + std::to_string(ntohs(end.sin_port));
  }
  return text;
}

[[noreturn]] void execute(const session& one) {
  ::signal(SIGCHLD, SIG_DFL);
  const pid_t command = ::fork();
  if (command == 0) {
    ::setsid();
    ::setenv("SSH_CONNECTION", ends_of(one.streams[0]).c_str(), 1);
    for (int stream = 0; stream < 3; ++stream) ::dup2(one.streams[static_cast<std::size_t>(stream)], stream);
    ::execl("/bin/sh", "sh", "-c", one.command.c_str(), nullptr);
    ::_exit(127);
  }
  // Its output ends when all who write to it have ended.
  ::close(one.streams[1]);
  ::close(one.streams[2]);
  int status = 0;
  if (command < 0 || ::waitpid(command, &status, 0) < 0) ::_exit(1);
  const std::int32_t code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ::signal(SIGPIPE, SIG_IGN);  // nobody may wait for it any more
  ::_exit(write_all(one.streams[0], &code, sizeof code) ? 0 : 1);
}

int listen_at_all_addresses() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || ::listen(listener, 64) != 0) fail("listen");
  return listener;
}

[[noreturn]] void serve() {
  ::signal(SIGCHLD, SIG_IGN);  // sessions, and whoever has lost its parent, need no reaping
  const int listener = listen_at_all_addresses();
  std::map<std::uint64_t, session> sessions;
  for (;;) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    opening what{};
    if (connection < 0) continue;
    if (!read_all(connection, &what, sizeof what) || what.stream >= 3) {
      ::close(connection);
      continue;
    }
    session& one = sessions[what.session];
    one.streams[what.stream] = connection;
    if (what.stream == 0) {
      one.command.resize(what.command_size);
      read_all(connection, one.command.data(), one.command.size());
    }
    if (one.streams[0] < 0 || one.streams[1] < 0 || one.streams[2] < 0) continue;
    if (::fork() == 0) execute(one);
    for (const int stream : one.streams) ::close(stream);
    sessions.erase(what.session);
  }
}

// ---- the machine that calls

int connect_to(const std::string& machine) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(machine.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    std::fprintf(stderr, "remote_shell: no machine %s\n", machine.c_str());
    std::exit(failed);
  }
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(connection, found->ai_addr, found->ai_addrlen) != 0) fail("connect to " + machine);
  ::freeaddrinfo(found);
  return connection;
}

int call(const std::string& machine, const std::string& command) {
  session one;
  opening what{};
  if (::getrandom(&what.session, sizeof what.session, 0) != sizeof what.session) fail("getrandom");
  for (std::uint32_t stream = 0; stream < 3; ++stream) {
    one.streams[stream] = connect_to(machine);
    what.stream = stream;
    what.command_size = stream == 0 ? static_cast<std::uint32_t>(command.size()) : 0;
    write_all(one.streams[stream], &what, sizeof what);
    if (stream == 0) write_all(one.streams[stream], command.data(), command.size());
  }
  std::thread([&one] {
    copy(STDIN_FILENO, one.streams[0]);
    ::shutdown(one.streams[0], SHUT_WR);
  }).detach();
  std::thread output(copy, one.streams[1], STDOUT_FILENO);
  std::thread errors(copy, one.streams[2], STDERR_FILENO);
  std::int32_t code = failed;
  if (!read_all(one.streams[0], &code, sizeof code))
    std::fprintf(stderr, "remote_shell: %s is lost\n", machine.c_str());
  output.join();
  errors.join();
  ::_exit(code);  // the thread that copies the input may be in the middle of it
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--serve") serve();
  ::signal(SIGPIPE, SIG_IGN);
  int at = 1;
  while (at < argc && argv[at][0] == '-') ++at;
  if (at + 1 >= argc) return failed;
  const std::string machine = argv[at];
  std::string command = argv[at + 1];
  for (int i = at + 2; i < argc; ++i) command += std::string(" ") + argv[i];
  return call(machine, command);
}
