// Greetings of the tcp transport and requests on its bulk lanes: what is taken comes out of its own value again.
// fuzz: -max_len=128
#include <vector>

#include "input.hpp"
#include "transport/tcp/address.hpp"
#include "transport/tcp/bulk_format.hpp"
#include "transport/tcp/hello_format.hpp"

using namespace ham;
using namespace ham::transport::tcp;

namespace {

template <std::size_t Size>
std::array<std::byte, Size> block(fuzz::input& from) {
  std::array<std::byte, Size> result{};
  const auto bytes = from.take(Size);
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

void greet(fuzz::input& from) {
  const auto bytes = block<hello::bytes>(from);
  hello got;
  if (read_hello(bytes, got) != nullptr) return;
  fuzz::require(got.from != got.to && got.from >= 0 && got.to >= 0, "node numbers that cannot be");
  std::array<std::byte, hello::bytes> again{};
  store_hello(again.data(), got);
  fuzz::require(again == bytes, "a greeting that comes out otherwise");
}

void answer(fuzz::input& from) {
  const auto nonce = from.number<std::uint64_t>();
  const auto bytes = block<welcome::bytes>(from);
  welcome got;
  if (read_welcome(bytes, nonce, got) != nullptr) return;
  std::array<std::byte, welcome::bytes> again{};
  store_welcome(again.data(), got);
  fuzz::require(got.nonce == nonce && again == bytes, "an answer that comes out otherwise");
}

void bulk(fuzz::input& from) {
  const auto bytes = block<bulk_request::bytes>(from);
  if (bulk_request got; read_request(bytes, got)) {
    std::array<std::byte, bulk_request::bytes> again{};
    store_request(again.data(), got);
    fuzz::require(again == bytes, "a request that comes out otherwise");
  }
  const auto word = block<answer_bytes>(from);
  if (bulk_answer got{}; read_answer(word, got)) {
    std::array<std::byte, answer_bytes> again{};
    store_answer(again.data(), got);
    fuzz::require(again == word, "an answer that comes out otherwise");
  }
}

void address(fuzz::input& from) {
  const std::string text(from.text());
  for (const auto parse : {&parse_address, &parse_bind}) {
    try {
      const host_port got = parse(text);
      fuzz::require(!got.host.empty() && !got.port.empty(), "an address without its parts");
    } catch (const config_error&) {
      continue;
    }
  }
}

}  // namespace

HAM_FUZZ(from) {
  switch (from.byte() % 4) {
    case 0: return greet(from);
    case 1: return answer(from);
    case 2: return bulk(from);
    default: return address(from);
  }
}
