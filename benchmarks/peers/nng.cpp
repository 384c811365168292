// nng: REQ and REP over ipc; a context for each of the calls under way, as nng_ctx is made for.
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>

#include <cstring>

#include "common/program.hpp"

namespace {

using namespace ham::peers;

void must(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": " + nng_strerror(result));
}

/// Of the abstract namespace: no file is left behind.
std::string address() { return "abstract://ham-peers-nng-" + std::to_string(::getpid()); }

void serve(const std::string& at, const server_process::announce& ready) {
  nng_socket socket;
  must(nng_rep0_open(&socket), "nng_rep0_open");
  must(nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, 0), "NNG_OPT_RECVMAXSZ");
  must(nng_listen(socket, at.c_str(), nullptr, 0), "nng_listen");
  ready();
  while (true) {
    nng_msg* message = nullptr;
    must(nng_recvmsg(socket, &message, 0), "nng_recvmsg");
    request_head head;
    std::memcpy(&head, nng_msg_body(message), sizeof head);
    const auto* const argument = static_cast<const std::byte*>(nng_msg_body(message)) + sizeof head;
    const std::uint64_t answer = execute(head.what, {argument, nng_msg_len(message) - sizeof head});
    nng_msg_clear(message);
    must(nng_msg_append(message, &answer, sizeof answer), "nng_msg_append");
    must(nng_sendmsg(socket, message, 0), "nng_sendmsg");
  }
}

/// A call under way.
struct context {
  explicit context(nng_socket socket) {
    must(nng_ctx_open(&ctx, socket), "nng_ctx_open");
    must(nng_aio_alloc(&aio, nullptr, nullptr), "nng_aio_alloc");
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context() {
    nng_ctx_close(ctx);
    nng_aio_free(aio);
  }

  nng_ctx ctx{};
  nng_aio* aio = nullptr;
};

nng_msg* make_request(op what, std::span<const std::byte> argument) {
  const request_head head{what, 0, argument.size()};
  nng_msg* message = nullptr;
  must(nng_msg_alloc(&message, sizeof head + argument.size()), "nng_msg_alloc");
  auto* const body = static_cast<std::byte*>(nng_msg_body(message));
  std::memcpy(body, &head, sizeof head);
  if (!argument.empty()) std::memcpy(body + sizeof head, argument.data(), argument.size());
  return message;
}

std::uint64_t take_answer(nng_msg* message) {
  std::uint64_t answer = 0;
  const bool fits = nng_msg_len(message) == sizeof answer;
  if (fits) std::memcpy(&answer, nng_msg_body(message), sizeof answer);
  nng_msg_free(message);
  if (!fits) throw std::runtime_error("an answer of a wrong size");
  return answer;
}

class nng_client final : public client {
 public:
  explicit nng_client(const std::string& at) {
    must(nng_req0_open(&socket_), "nng_req0_open");
    must(nng_dial(socket_, at.c_str(), nullptr, 0), "nng_dial");
  }
  ~nng_client() override {
    contexts_.clear();
    nng_close(socket_);
  }

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    must(nng_sendmsg(socket_, make_request(what, argument), 0), "nng_sendmsg");
    nng_msg* message = nullptr;
    must(nng_recvmsg(socket_, &message, 0), "nng_recvmsg");
    return take_answer(message);
  }

  std::uint64_t call_many(std::size_t count) override {
    while (contexts_.size() < count) contexts_.push_back(std::make_unique<context>(socket_));
    for (std::size_t i = 0; i < count; ++i) {
      nng_aio_set_msg(contexts_[i]->aio, make_request(op::touch, {}));
      nng_ctx_send(contexts_[i]->ctx, contexts_[i]->aio);
    }
    for (std::size_t i = 0; i < count; ++i) {
      finish(*contexts_[i], "nng_ctx_send");
      nng_ctx_recv(contexts_[i]->ctx, contexts_[i]->aio);
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      finish(*contexts_[i], "nng_ctx_recv");
      sum += take_answer(nng_aio_get_msg(contexts_[i]->aio));
    }
    return sum;
  }

 private:
  static void finish(const context& one, const char* what) {
    nng_aio_wait(one.aio);
    must(nng_aio_result(one.aio), what);
  }

  nng_socket socket_{};
  std::vector<std::unique_ptr<context>> contexts_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string at = address();
  return run_forked(
      argc, argv, {"nng", nng_version(), "REQ and REP over ipc (abstract socket), a context for each call under way"},
      [&](const server_process::announce& ready) { serve(at, ready); },
      [&](description&) { return std::make_unique<nng_client>(at); });
}
