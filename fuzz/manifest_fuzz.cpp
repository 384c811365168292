// Manifests of peers, and translations between them and one that is known.
// fuzz: -max_len=20000
#include "ham/msg/manifest.hpp"

#include <algorithm>

#include "ham/error.hpp"
#include "ham/msg/names.hpp"
#include "ham/msg/translation.hpp"
#include "input.hpp"
#include "msg/pretty_name.hpp"

using namespace ham;
using namespace ham::msg;

namespace {

const manifest& known() {
  static const manifest one(data_layout::local(), {{"f", "empty<f>,i4->i4", handler_kind::call, false},
                                                   {"g", "opaque<g,8,8>,str,vec<f8>->void", handler_kind::call, false},
                                                   {"m", "opaque<m,4,4>", handler_kind::message, false},
                                                   {"twice", "i4->i4", handler_kind::call, true}});
  return one;
}

void translate(const manifest& mine, const manifest& theirs) {
  const translation between(mine, theirs);
  for (std::uint32_t key = 0; key < mine.entries().size() + 2; ++key) {
    const std::uint32_t there = between[key];
    const std::string why = between.explain(key, "here", "there");
    fuzz::require(translation::usable(there) == why.empty(), "a key without function and reason");
    if (!translation::usable(there)) continue;
    fuzz::require(there < theirs.entries().size(), "a key that the peer does not have");
    fuzz::require(theirs.entries()[there].name == mine.entries()[key].name &&
                      theirs.entries()[there].layout == mine.entries()[key].layout,
                  "another function");
  }
}

}  // namespace

HAM_FUZZ(from) {
  const auto bytes = from.rest();
  try {
    const manifest got = manifest::parse(bytes);
    const auto again = got.serialise();
    fuzz::require(std::ranges::equal(again, bytes), "a manifest that comes out otherwise");
    translate(known(), got);
    translate(got, known());
    translate(got, got);
    for (const manifest::entry& one : got.entries()) {
      const pretty readable = pretty_with_cost(one.name);
      fuzz::require(readable.steps <= 6 * one.name.size(), "a name that is expensive to read");
      fuzz::require(readable.text.size() <= 2 * one.name.size() + 2, "a name that grows");
      fuzz::require(one.name.size() <= max_name_bytes, "a name without limit");
    }
  } catch (const protocol_error&) {
    return;
  }
}
