// gRPC: unary calls over a Unix socket to a server of the callback API, callbacks for calls under way, a stream for 64
// MiB.
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "common/program.hpp"
#include "peer.grpc.pb.h"

namespace {

using namespace ham::peers;
using namespace ham_peers;

/// Of the abstract namespace: no file is left behind.
std::string address() { return "unix-abstract:ham-peers-grpc-" + std::to_string(::getpid()); }

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

/// Takes the pieces of a long argument into one block, as one that HAM receives.
class transfer final : public grpc::ServerReadReactor<Request> {
 public:
  transfer(std::vector<std::byte>& block, Answer& answer) : block_(block), answer_(answer) { StartRead(&piece_); }

 private:
  void OnReadDone(bool more) override {
    if (!more) {
      answer_.set_value(execute(what_, {block_.data(), bytes_}));
      Finish(grpc::Status::OK);
      return;
    }
    what_ = static_cast<op>(piece_.what());
    if (piece_.argument().size() > block_.size() - bytes_) {
      Finish({grpc::StatusCode::OUT_OF_RANGE, "too long"});
      return;
    }
    std::memcpy(block_.data() + bytes_, piece_.argument().data(), piece_.argument().size());
    bytes_ += piece_.argument().size();
    StartRead(&piece_);
  }
  void OnDone() override { delete this; }

  std::vector<std::byte>& block_;
  Answer& answer_;
  Request piece_;
  std::size_t bytes_ = 0;
  op what_ = op::touch;
};

/// By the callback API, which the performance guide recommends.
class service final : public Peer::CallbackService {
  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context, const Request* request,
                                 Answer* answer) override {
    answer->set_value(execute(static_cast<op>(request->what()), bytes_of(request->argument())));
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerReadReactor<Request>* Transfer(grpc::CallbackServerContext*, Answer* answer) override {
    return new transfer(block_, *answer);  // the client sends one at a time
  }

  std::vector<std::byte> block_ = std::vector<std::byte>(max_bytes);
};

void serve(const std::string& at, const server_process::announce& ready) {
  service functions;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(at, grpc::InsecureServerCredentials());
  builder.RegisterService(&functions);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) throw std::runtime_error("the server cannot listen");
  ready();
  server->Wait();
}

void must(const grpc::Status& status) {
  if (!status.ok()) {
    throw std::runtime_error("status " + std::to_string(status.error_code()) + ": " + status.error_message());
  }
}

class grpc_client final : public client {
 public:
  explicit grpc_client(const std::string& at)
      : stub_(Peer::NewStub(grpc::CreateChannel(at, grpc::InsecureChannelCredentials()))) {}

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    if (argument.size() > piece_bytes) return transfer(what, argument);
    request_.set_what(static_cast<std::uint32_t>(what));
    request_.set_argument(argument.data(), argument.size());
    grpc::ClientContext context;
    must(stub_->Call(&context, request_, &answer_));
    return answer_.value();
  }

  std::uint64_t call_many(std::size_t count) override {
    struct one {
      grpc::ClientContext context;
      Request request;
      Answer answer;
      grpc::Status status;
    };
    std::vector<std::unique_ptr<one>> calls;
    std::mutex guard;
    std::condition_variable all_done;
    std::size_t done = 0;
    for (std::size_t i = 0; i < count; ++i) calls.push_back(std::make_unique<one>());
    for (const auto& each : calls) {
      one* const call = each.get();
      stub_->async()->Call(&call->context, &call->request, &call->answer, [&, call](const grpc::Status& status) {
        call->status = status;
        const std::lock_guard lock(guard);
        if (++done == count) all_done.notify_one();
      });
    }
    std::unique_lock lock(guard);
    all_done.wait(lock, [&] { return done == count; });
    std::uint64_t sum = 0;
    for (const auto& each : calls) {
      must(each->status);
      sum += each->answer.value();
    }
    return sum;
  }

 private:
  static constexpr std::size_t piece_bytes = 65536;

  std::uint64_t transfer(op what, std::span<const std::byte> argument) {
    grpc::ClientContext context;
    const auto writer = stub_->Transfer(&context, &answer_);
    request_.set_what(static_cast<std::uint32_t>(what));
    for (std::size_t at = 0; at < argument.size(); at += piece_bytes) {
      const auto piece = argument.subspan(at, std::min(piece_bytes, argument.size() - at));
      request_.set_argument(piece.data(), piece.size());
      if (!writer->Write(request_)) break;
    }
    writer->WritesDone();
    must(writer->Finish());
    return answer_.value();
  }

  std::unique_ptr<Peer::Stub> stub_;
  Request request_;
  Answer answer_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string at = address();
  return run_forked(
      argc, argv,
      {"grpc", grpc::Version(),
       "unary calls, server of the callback API, Unix socket; callbacks under way; stream for 64 MiB"},
      [&](const server_process::announce& ready) { serve(at, ready); },
      [&](description&) { return std::make_unique<grpc_client>(at); });
}
