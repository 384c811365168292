// Event loop of Boost.Asio: its io_context waits for a timer and for results of other nodes.
// expect: ^node 1 says 42$
// expect: ^the timer has expired$
#include <ham/offload.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <iostream>

using namespace ham;
namespace asio = boost::asio;

int answer(int question) { return question * 2; }

/// Serves the runtime whenever its descriptor is readable.
class ham_service {
 public:
  explicit ham_service(asio::io_context& in) : descriptor_(in, offload::event_fd()) { wait(); }
  ham_service(const ham_service&) = delete;
  ham_service& operator=(const ham_service&) = delete;
  ~ham_service() { descriptor_.release(); }  // the runtime closes it

 private:
  void wait() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      offload::serve_event_fd();
      wait();
    });
  }
  asio::posix::stream_descriptor descriptor_;
};

int main() {
  asio::io_context context;
  const ham_service service(context);
  int left = 2;
  const auto finish = [&] {
    if (--left == 0) context.stop();
  };
  asio::steady_timer timer(context, std::chrono::milliseconds(5));
  timer.async_wait([&](const boost::system::error_code&) {
    std::cout << "the timer has expired\n";
    finish();
  });
  offload::async(1, fn<&answer>, 21).on_result([&](offload::future<int> result) {
    std::cout << "node 1 says " << result.get() << '\n';
    finish();
  });
  context.run();
}
