// Cap'n Proto RPC: two parties over a Unix socket pair, the client's event loop in the calling thread.
#include <capnp/message.h>
#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>
#include <sys/socket.h>

#include <cstring>

#include "common/program.hpp"
#include "peer.capnp.h"

namespace {

using namespace ham::peers;

/// Messages of 64 MiB are more than what it reads by default.
capnp::ReaderOptions reader_options() {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::uint64_t{1} << 30;
  return options;
}

class functions final : public Peer::Server {
  kj::Promise<void> call(CallContext context) override {
    const auto parameters = context.getParams();
    const auto argument = parameters.getArgument();
    const std::uint64_t value = execute(static_cast<op>(parameters.getWhat()),
                                        {reinterpret_cast<const std::byte*>(argument.begin()), argument.size()});
    context.initResults().setValue(value);
    return kj::READY_NOW;
  }
};

void serve(int socket, const server_process::announce& ready) {
  auto io = kj::setupAsyncIo();
  auto stream = io.lowLevelProvider->wrapSocketFd(socket);
  capnp::TwoPartyVatNetwork network(*stream, capnp::rpc::twoparty::Side::SERVER, reader_options());
  auto rpc = capnp::makeRpcServer(network, kj::heap<functions>());
  ready();
  network.onDisconnect().wait(io.waitScope);
}

class capnproto_client final : public client {
 public:
  explicit capnproto_client(int socket)
      : io_(kj::setupAsyncIo()),
        stream_(io_.lowLevelProvider->wrapSocketFd(socket)),
        network_(*stream_, capnp::rpc::twoparty::Side::CLIENT, reader_options()),
        rpc_(capnp::makeRpcClient(network_)),
        peer_(server().castAs<Peer>()) {}
  ~capnproto_client() noexcept override = default;

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    try {
      // The size in words lets a message of 64 MiB be built in one segment.
      auto request = peer_.callRequest(capnp::MessageSize{argument.size() / 8 + 16, 0});
      request.setWhat(static_cast<std::uint32_t>(what));
      request.setArgument(kj::arrayPtr(reinterpret_cast<const unsigned char*>(argument.data()), argument.size()));
      return request.send().wait(io_.waitScope).getValue();
    } catch (const kj::Exception& failure) {
      throw std::runtime_error(failure.getDescription().cStr());
    }
  }

  std::uint64_t call_many(std::size_t count) override {
    std::uint64_t sum = 0;
    auto promises = kj::heapArrayBuilder<kj::Promise<void>>(count);
    for (std::size_t i = 0; i < count; ++i) {
      promises.add(peer_.callRequest().send().then(
          [&sum](const capnp::Response<Peer::CallResults>& answer) { sum += answer.getValue(); }));
    }
    kj::joinPromises(promises.finish()).wait(io_.waitScope);
    return sum;
  }

 private:
  capnp::Capability::Client server() {
    capnp::MallocMessageBuilder message;
    auto name = message.initRoot<capnp::rpc::twoparty::VatId>();
    name.setSide(capnp::rpc::twoparty::Side::SERVER);
    return rpc_.bootstrap(name);
  }

  kj::AsyncIoContext io_;
  kj::Own<kj::AsyncIoStream> stream_;
  capnp::TwoPartyVatNetwork network_;
  capnp::RpcSystem<capnp::rpc::twoparty::VatId> rpc_;
  Peer::Client peer_;
};

std::string version() {
  return std::to_string(CAPNP_VERSION / 1000000) + "." + std::to_string(CAPNP_VERSION / 1000 % 1000) + "." +
         std::to_string(CAPNP_VERSION % 1000);
}

}  // namespace

int main(int argc, char** argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 1;
  return run_forked(
      argc, argv, {"capnproto", version(), "two-party RPC over a socketpair; promises for calls under way"},
      [&](const server_process::announce& ready) {
        ::close(ends[0]);
        serve(ends[1], ready);
      },
      [&](description&) {
        ::close(ends[1]);
        return std::make_unique<capnproto_client>(ends[0]);
      });
}
