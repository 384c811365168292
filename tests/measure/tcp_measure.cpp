// What the tcp transport costs beside bare sockets and bare AES, measured in the same run: ham_tcp_measure [rounds]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "conformance/subject.hpp"
#include "conformance/tcp_module.hpp"
#if defined(HAM_MEASURE_AES)
#include <openssl/evp.h>
#endif

namespace {

using namespace ham::transport;
using conformance::bytes;
using conformance::pack;
using conformance::recorder;
using conformance::word;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t call_bytes = 24;  // on the wire, of a frame without a payload
constexpr std::uint32_t to_echo = 1;
constexpr std::uint32_t to_allocate = 2;

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

bool pinned = true;

/// Only for latency: a lane has a thread of its own.
void pin(int core) {
  if (!pinned || std::thread::hardware_concurrency() < 2) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

void spin_receive(int socket, std::byte* to, std::size_t size) {
  while (size != 0) {
    const ssize_t got = ::recv(socket, to, size, MSG_DONTWAIT);
    if (got == 0) ::_exit(0);
    if (got < 0) continue;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
}

void receive(int socket, std::byte* to, std::size_t size) {
  while (size != 0) {
    const ssize_t got = ::recv(socket, to, size, MSG_WAITALL);
    if (got <= 0) ::_exit(0);
    to += got;
    size -= static_cast<std::size_t>(got);
  }
}

// ---- bare sockets

struct bare_pair {
  int socket = -1;
  pid_t child = -1;
};

/// A child that answers each `call_bytes` with as many, or swallows a stream.
template <class Child>
bare_pair start_bare(Child child) {
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listening, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(listening, 1) != 0) ::abort();
  ::getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size);
  const int one = 1;
  bare_pair result;
  result.child = ::fork();
  if (result.child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(1);
    const int socket = ::accept(listening, nullptr, nullptr);
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    child(socket);
    ::_exit(0);
  }
  result.socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(result.socket, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) ::abort();
  ::setsockopt(result.socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::close(listening);
  return result;
}

void end(const bare_pair& pair) {
  ::close(pair.socket);
  ::waitpid(pair.child, nullptr, 0);
}

double bare_round_trip_us(int socket, int rounds) {
  std::byte buffer[call_bytes] = {};
  const auto begin = clock_type::now();
  for (int i = 0; i < rounds; ++i) {
    if (::send(socket, buffer, sizeof buffer, MSG_NOSIGNAL) < 0) ::abort();
    spin_receive(socket, buffer, sizeof buffer);
  }
  return seconds_since(begin) * 1e6 / rounds;
}

double bare_stream_gbs(int socket, const bytes& data, int rounds) {
  const auto begin = clock_type::now();
  for (int i = 0; i < rounds; ++i) {
    for (std::size_t done = 0; done < data.size();) {
      const ssize_t sent = ::send(socket, data.data() + done, data.size() - done, MSG_NOSIGNAL);
      if (sent < 0) ::abort();
      done += static_cast<std::size_t>(sent);
    }
    std::byte answer{};
    receive(socket, &answer, 1);
  }
  return static_cast<double>(data.size()) * rounds / seconds_since(begin) * 1e-9;
}

// ---- the transport

std::optional<secret_key> key_if(bool secure) {
  if (!secure) return std::nullopt;
  secret_key key{};
  key.fill(std::byte{1});
  return key;
}

/// The other node: answers every frame.
[[noreturn]] void be_target(bool secure, int told) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin(1);
  const auto waiting = tcp_module().listen({"127.0.0.1:0", key_if(secure)});
  const std::string address = waiting->address();
  if (::write(told, address.c_str(), address.size() + 1) < 0) ::_exit(1);
  ham::base::heap memory(ham::base::heap::make_file());
  recorder news;
  const auto at = waiting->wait()->join(&memory, news);
  while (news.lost(0).empty()) {
    for (int idle = 0; idle < 20'000; ++idle) {
      frame arrived;
      endpoint* const from = at->poll(arrived, 1);
      if (from == nullptr) continue;
      idle = 0;
      const frame_head head = arrived.head;
      bytes answer;
      if (head.key == to_allocate) {
        const auto got = memory.allocate(word<std::uint64_t>(arrived.payload));
        std::memset(got.address, 1, word<std::uint64_t>(arrived.payload));
        answer = pack(reinterpret_cast<std::uint64_t>(got.address), std::uint64_t{got.tag});
      }
      from->release();
      std::byte* room = nullptr;
      while ((room = from->reserve(answer.size())) == nullptr && from->state() == endpoint_state::open) {
      }
      if (room == nullptr) break;
      if (!answer.empty()) std::memcpy(room, answer.data(), answer.size());
      from->commit({head.key, head.call, 1});
    }
    conformance::sleep_on(*at, std::chrono::milliseconds(100));
  }
  ::_exit(0);
}

class measured_pair {
 public:
  explicit measured_pair(bool secure) {
    int ends[2];
    if (::pipe(ends) != 0) ::abort();
    child_ = ::fork();
    if (child_ == 0) be_target(secure, ends[1]);
    char address[64] = {};
    if (::read(ends[0], address, sizeof address - 1) <= 0) ::abort();
    network_options options;
    options.secure = secure;
    here_ = tcp_module().open(options, nullptr, news_);
    here_->invite(1, address, key_if(secure));
    while ((to_ = news_.connected(1)) == nullptr) {
      if (!news_.lost(1).empty()) std::fprintf(stderr, "%s\n", news_.lost(1).front().c_str()), ::abort();
    }
  }
  ~measured_pair() {
    here_.reset();
    ::waitpid(child_, nullptr, 0);
  }

  double round_trip_us(int rounds) {
    const auto begin = clock_type::now();
    for (int i = 0; i < rounds; ++i) {
      send();
      await();
    }
    return seconds_since(begin) * 1e6 / rounds;
  }

  double million_calls_per_s(int calls, int window) {
    const auto begin = clock_type::now();
    int sent = 0;
    int back = 0;
    while (back < calls) {
      while (sent < calls && sent - back < window && to_->reserve(8) != nullptr) {
        to_->commit({to_echo, static_cast<std::uint32_t>(sent), 1});
        ++sent;
      }
      frame arrived;
      while (back < sent && here_->poll(arrived, 1) != nullptr) {
        to_->release();
        ++back;
      }
    }
    return calls / seconds_since(begin) * 1e-6;
  }

  void allocate(std::uint64_t size) {
    while (to_->reserve(8) == nullptr) {
    }
    std::memcpy(to_->reserve(8), &size, 8);
    to_->commit({to_allocate, 0, 1});
    frame arrived;
    while (here_->poll(arrived, 1) == nullptr) {
    }
    address_ = word<std::uint64_t>(arrived.payload, 0);
    tag_ = word<std::uint64_t>(arrived.payload, 1);
    to_->release();
  }

  double put_gbs(const bytes& data, int rounds) {
    const auto begin = clock_type::now();
    for (int i = 0; i < rounds; ++i) {
      if (to_->memory()->put(address_, tag_, data.data(), data.size()) != access_result::done) ::abort();
    }
    return static_cast<double>(data.size()) * rounds / seconds_since(begin) * 1e-9;
  }
  double get_gbs(bytes& data, int rounds) {
    const auto begin = clock_type::now();
    for (int i = 0; i < rounds; ++i) {
      if (to_->memory()->get(address_, tag_, data.data(), data.size()) != access_result::done) ::abort();
    }
    return static_cast<double>(data.size()) * rounds / seconds_since(begin) * 1e-9;
  }

 private:
  void send() {
    while (to_->reserve(0) == nullptr) {
    }
    to_->commit({to_echo, 0, 1});
  }
  void await() {
    frame arrived;
    while (here_->poll(arrived, 1) == nullptr) {
    }
    to_->release();
  }

  pid_t child_ = -1;
  recorder news_;
  std::unique_ptr<network> here_;
  endpoint* to_ = nullptr;
  std::uint64_t address_ = 0;
  std::uint64_t tag_ = 0;
};

double aes_gbs([[maybe_unused]] const bytes& data) {
#if defined(HAM_MEASURE_AES)
  EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  unsigned char key[32] = {};
  unsigned char iv[12] = {};
  bytes out(16384 + 16);
  int size = 0;
  const auto begin = clock_type::now();
  for (std::size_t done = 0; done + 16384 <= data.size(); done += 16384) {
    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nullptr, key, iv);
    EVP_EncryptUpdate(context, reinterpret_cast<unsigned char*>(out.data()), &size,
                      reinterpret_cast<const unsigned char*>(data.data() + done), 16384);
  }
  const double result = static_cast<double>(data.size()) / seconds_since(begin) * 1e-9;
  EVP_CIPHER_CTX_free(context);
  return result;
#else
  return 0;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  pin(0);
  std::vector<double> bare_us, plain_us, secure_us, plain_rate, secure_rate;
  constexpr int trips = 4'000;
  for (int i = 0; i < 5 * rounds; ++i) {
    {
      const bare_pair bare = start_bare([](int socket) {
        std::byte buffer[call_bytes];
        for (;;) {
          spin_receive(socket, buffer, sizeof buffer);
          if (::send(socket, buffer, sizeof buffer, MSG_NOSIGNAL) < 0) ::_exit(0);
        }
      });
      bare_us.push_back(bare_round_trip_us(bare.socket, trips));
      end(bare);
    }
    for (const bool secure : {false, true}) {
      measured_pair pair(secure);
      (secure ? secure_us : plain_us).push_back(pair.round_trip_us(trips));
      (secure ? secure_rate : plain_rate).push_back(pair.million_calls_per_s(200'000, 1000));
    }
  }
  std::printf("round trip of %zu bytes, bare sockets: %.2f us\n", call_bytes, median(bare_us));
  std::printf("  frames, plaintext: %.2f us, ratio %.2f\n", median(plain_us), median(plain_us) / median(bare_us));
  std::printf("  frames, TLS: %.2f us, ratio %.2f\n", median(secure_us), median(secure_us) / median(bare_us));
  std::printf("request and reply, 1000 under way: plaintext %.2f, TLS %.2f million/s\n", median(plain_rate),
              median(secure_rate));

  pinned = false;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) CPU_SET(i, &all);
  ::sched_setaffinity(0, sizeof all, &all);
  bytes data(std::size_t{256} << 20, std::byte{7});
  std::vector<double> stream, plain_put, secure_put, plain_get, secure_get, aes;
  for (int i = 0; i < rounds; ++i) {
    {
      const bare_pair bare = start_bare([size = data.size()](int socket) {
        bytes into(size, std::byte{1});
        for (;;) {
          receive(socket, into.data(), into.size());
          std::byte done{};
          if (::send(socket, &done, 1, MSG_NOSIGNAL) < 0) ::_exit(0);
        }
      });
      static_cast<void>(bare_stream_gbs(bare.socket, data, 1));
      stream.push_back(bare_stream_gbs(bare.socket, data, 2));
      end(bare);
    }
    for (const bool secure : {false, true}) {
      measured_pair pair(secure);
      pair.allocate(data.size());
      static_cast<void>(pair.put_gbs(data, 1));
      (secure ? secure_put : plain_put).push_back(pair.put_gbs(data, 2));
      static_cast<void>(pair.get_gbs(data, 1));
      (secure ? secure_get : plain_get).push_back(pair.get_gbs(data, 2));
    }
    aes.push_back(aes_gbs(data));
  }
  std::printf("256 MiB, bare socket stream: %.2f GB/s; AES-256-GCM of OpenSSL: %.2f GB/s\n", median(stream),
              median(aes));
  std::printf("  put plaintext: %.2f GB/s, ratio %.2f; get %.2f GB/s\n", median(plain_put),
              median(plain_put) / median(stream), median(plain_get));
  std::printf("  put TLS: %.2f GB/s, ratio to AES %.2f, to stream %.2f; get %.2f GB/s\n", median(secure_put),
              median(secure_put) / median(aes), median(secure_put) / median(stream), median(secure_get));
  return 0;
}
