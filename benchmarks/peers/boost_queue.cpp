// Boost.Interprocess: a message_queue in each direction; 64 MiB go through shared memory, as its documentation says.
#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <boost/version.hpp>

#include <cstring>

#include "common/program.hpp"

namespace {

using namespace ham::peers;
namespace ipc = boost::interprocess;

constexpr std::size_t depth = 1024;
constexpr std::size_t message_bytes = sizeof(request_head) + inline_bytes;

/// Of the queues.
struct names {
  std::string requests = "ham-peers-requests-" + std::to_string(::getpid());
  std::string answers = "ham-peers-answers-" + std::to_string(::getpid());
};

/// A forked child inherits them, so their names go at once and none is left behind.
struct queues {
  explicit queues(const names& of)
      : requests(ipc::create_only, of.requests.c_str(), depth, message_bytes),
        answers(ipc::create_only, of.answers.c_str(), depth, sizeof(std::uint64_t)) {}

  ipc::message_queue requests;
  ipc::message_queue answers;
};

void remove(const names& of) {
  ipc::message_queue::remove(of.requests.c_str());
  ipc::message_queue::remove(of.answers.c_str());
}

[[noreturn]] void serve(queues& at, const std::byte* area) {
  std::vector<std::byte> message(message_bytes);
  while (true) {
    ipc::message_queue::size_type got = 0;
    unsigned priority = 0;
    at.requests.receive(message.data(), message.size(), got, priority);
    request_head head;
    std::memcpy(&head, message.data(), sizeof head);
    const std::byte* const argument = head.bytes <= inline_bytes ? message.data() + sizeof head : area;
    const std::uint64_t answer = execute(head.what, {argument, head.bytes});
    at.answers.send(&answer, sizeof answer, 0);
  }
}

class boost_client final : public client {
 public:
  boost_client(queues& at, std::byte* area) : at_(at), area_(area), message_(message_bytes) {}

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    const request_head head{what, 0, argument.size()};
    std::memcpy(message_.data(), &head, sizeof head);
    std::size_t bytes = sizeof head;
    if (argument.size() > inline_bytes) {
      std::memcpy(area_, argument.data(), argument.size());
    } else if (!argument.empty()) {
      std::memcpy(message_.data() + bytes, argument.data(), argument.size());
      bytes += argument.size();
    }
    at_.requests.send(message_.data(), bytes, 0);
    return receive();
  }

  std::uint64_t call_many(std::size_t count) override {
    const request_head head;
    for (std::size_t i = 0; i < count; ++i) at_.requests.send(&head, sizeof head, 0);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += receive();
    return sum;
  }

 private:
  std::uint64_t receive() {
    std::uint64_t answer = 0;
    ipc::message_queue::size_type got = 0;
    unsigned priority = 0;
    at_.answers.receive(&answer, sizeof answer, got, priority);
    if (got != sizeof answer) throw std::runtime_error("an answer of a wrong size");
    return answer;
  }

  queues& at_;
  std::byte* area_;
  std::vector<std::byte> message_;
};

}  // namespace

int main(int argc, char** argv) {
  const names of;
  try {
    const ipc::mapped_region area(ipc::anonymous_shared_memory(max_bytes));
    auto* const bytes = static_cast<std::byte*>(area.get_address());
    std::memset(bytes, 0, max_bytes);
    queues own(of);
    remove(of);
    const std::string version =
        std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
    return run_forked(
        argc, argv, {"boost_queue", version, "message_queue in each direction; 64 MiB by anonymous_shared_memory"},
        [&](const server_process::announce& ready) {
          ready();
          serve(own, bytes);
        },
        [&](description&) { return std::make_unique<boost_client>(own, bytes); });
  } catch (const std::exception& failure) {
    remove(of);
    std::fprintf(stderr, "boost_queue: %s\n", failure.what());
    return 1;
  }
}
