// UCX: active messages between two workers that poll. With --errors the endpoints report the failure of their peer.
#include <sys/socket.h>
#include <ucp/api/ucp.h>

#include <cstring>
#include <optional>

#include "common/program.hpp"

namespace {

using namespace ham::peers;

constexpr unsigned request_id = 0;
constexpr unsigned answer_id = 1;

void must(ucs_status_t status, const char* what) {
  if (status != UCS_OK) throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

/// A worker and its endpoint to the other process.
class side {
 public:
  explicit side(bool errors) : errors_(errors) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM;
    ucp_config_t* config = nullptr;
    must(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    const ucs_status_t made = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    must(made, "ucp_init");
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    must(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
  }
  side(const side&) = delete;
  side& operator=(const side&) = delete;

  /// Both sides: addresses are exchanged over a socket.
  void connect(int socket) {
    ucp_address_t* own = nullptr;
    std::size_t length = 0;
    must(ucp_worker_get_address(worker_, &own, &length), "ucp_worker_get_address");
    if (::send(socket, own, length, 0) != static_cast<ssize_t>(length)) throw std::runtime_error("address not sent");
    ucp_worker_release_address(worker_, own);
    std::vector<std::byte> other(65536);
    if (::recv(socket, other.data(), other.size(), 0) <= 0) throw std::runtime_error("no address of the other process");

    ucp_ep_params_t params{};
    params.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(other.data());
    params.err_mode = errors_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t status) {
      static_cast<side*>(self)->failure_ = status;
    };
    params.err_handler.arg = this;
    must(ucp_ep_create(worker_, &params, &endpoint_), "ucp_ep_create");
  }

  void on_message(unsigned id, ucp_am_recv_callback_t handler, void* argument) {
    ucp_am_handler_param_t params{};
    params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    params.id = id;
    params.cb = handler;
    params.arg = argument;
    must(ucp_worker_set_am_recv_handler(worker_, &params), "ucp_worker_set_am_recv_handler");
  }

  /// Returns when the memory may be used again; at once if the message fits.
  void send(unsigned id, const void* head, std::size_t head_bytes, std::span<const std::byte> data) {
    const ucp_request_param_t params{};
    void* const request = ucp_am_send_nbx(endpoint_, id, head, head_bytes, data.data(), data.size(), &params);
    finish(request, "ucp_am_send_nbx");
  }

  void finish(void* request, const char* what) {
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) must(UCS_PTR_STATUS(request), what);
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) progress();
    ucp_request_free(request);
    must(status, what);
  }

  void progress() {
    ucp_worker_progress(worker_);
    must(failure_, "the peer");
  }

  [[nodiscard]] ucp_worker_h worker() const { return worker_; }

  /// The transports of the endpoint, as UCX prints them.
  [[nodiscard]] std::string lanes() const {
    char* text = nullptr;
    std::size_t length = 0;
    FILE* const memory = ::open_memstream(&text, &length);
    ucp_ep_print_info(endpoint_, memory);
    std::fclose(memory);
    std::string all(text, length);
    std::free(text);
    std::string found;
    for (std::size_t at = 0; (at = all.find("lane[", at)) != std::string::npos; ++at) {
      const std::size_t colon = all.find(':', all.find(':', at) + 1);
      std::string name = all.substr(colon + 1, all.find_first_of(". \n", colon + 1) - colon - 1);
      if (found.find(name) == std::string::npos) found += (found.empty() ? "" : ", ") + name;
    }
    return found;
  }

 private:
  bool errors_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucs_status_t failure_ = UCS_OK;
};

/// Requests are executed outside of the callback, because answering may need progress.
class server {
 public:
  explicit server(bool errors) : side_(errors), block_(max_bytes) {
    side_.on_message(
        request_id,
        [](void* self, const void* head, std::size_t, void* data, std::size_t bytes, const ucp_am_recv_param_t* how) {
          return static_cast<server*>(self)->take(*static_cast<const op*>(head), data, bytes, *how);
        },
        this);
  }

  [[noreturn]] void run(int socket, const server_process::announce& ready) {
    ready();
    side_.connect(socket);
    while (true) {
      side_.progress();
      if (long_one_ != nullptr) take_long();
      for (std::size_t i = 0; i < short_ones_.size(); ++i) answer(short_ones_[i].what, short_ones_[i].argument());
      short_ones_.clear();
    }
  }

 private:
  struct short_request {
    op what = op::touch;
    std::size_t bytes = 0;
    std::byte data[inline_bytes];
    [[nodiscard]] std::span<const std::byte> argument() const { return {data, bytes}; }
  };

  ucs_status_t take(op what, void* data, std::size_t bytes, const ucp_am_recv_param_t& how) {
    if ((how.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
      long_one_ = data;
      long_what_ = what;
      long_bytes_ = bytes;
      return UCS_INPROGRESS;
    }
    if (bytes > inline_bytes) {
      std::memcpy(block_.data(), data, bytes);
      answer_long(what, bytes);
      return UCS_OK;
    }
    short_request& one = short_ones_.emplace_back();
    one.what = what;
    one.bytes = bytes;
    if (bytes > 0) std::memcpy(one.data, data, bytes);
    return UCS_OK;
  }

  void take_long() {
    ucp_request_param_t params{};
    void* const descriptor = std::exchange(long_one_, nullptr);
    void* const request = ucp_am_recv_data_nbx(side_.worker(), descriptor, block_.data(), long_bytes_, &params);
    side_.finish(request, "ucp_am_recv_data_nbx");
    answer_long(long_what_, long_bytes_);
  }

  void answer_long(op what, std::size_t bytes) { answer(what, {block_.data(), bytes}); }
  void answer(op what, std::span<const std::byte> argument) {
    const std::uint64_t result = execute(what, argument);
    side_.send(answer_id, &result, sizeof result, {});
  }

  side side_;
  std::vector<std::byte> block_;
  std::vector<short_request> short_ones_;
  void* long_one_ = nullptr;
  op long_what_ = op::touch;
  std::size_t long_bytes_ = 0;
};

class ucx_client final : public client {
 public:
  ucx_client(bool errors, int socket) : side_(errors) {
    side_.on_message(
        answer_id,
        [](void* self, const void* head, std::size_t, void*, std::size_t, const ucp_am_recv_param_t*) {
          auto* const own = static_cast<ucx_client*>(self);
          std::uint64_t answer = 0;
          std::memcpy(&answer, head, sizeof answer);
          own->sum_ += answer;
          ++own->answers_;
          return UCS_OK;
        },
        this);
    side_.connect(socket);
  }

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    side_.send(request_id, &what, sizeof what, argument);
    return await(1);
  }

  std::uint64_t call_many(std::size_t count) override {
    const op what = op::touch;
    for (std::size_t i = 0; i < count; ++i) side_.send(request_id, &what, sizeof what, {});
    return await(count);
  }

  [[nodiscard]] std::string lanes() const { return side_.lanes(); }

 private:
  std::uint64_t await(std::size_t answers) {
    while (answers_ < answers) side_.progress();
    answers_ = 0;
    return std::exchange(sum_, 0);
  }

  side side_;
  std::size_t answers_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  std::string name = "ucx";
  const bool errors = argc > 1 && std::string_view(argv[1]) == "--errors";
  if (errors) {
    ++argv;
    --argc;
    name = std::getenv("UCX_POSIX_ERROR_HANDLING") != nullptr ? "ucx_errors_shm" : "ucx_errors";
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 1;
  return run_forked(
      argc, argv, {name, ucp_get_version_string(), "ucp_am_send_nbx, both sides poll"},
      [&](const server_process::announce& ready) { server(errors).run(ends[1], ready); },
      [&](description& what) {
        auto peer = std::make_unique<ucx_client>(errors, ends[0]);
        static_cast<void>(peer->call(op::touch, {}));
        what.how +=
            "; " + std::string(errors ? "peer error handling" : "no error handling") + "; over " + peer->lanes();
        return peer;
      });
}
