// ham::codec: says how a type crosses that cannot be changed, or that needs care when it is rebuilt.
// expect: the target doubled 3/4 to 3/2
#include <ham/offload.hpp>

#include <cstdint>
#include <iostream>
#include <numeric>

using namespace ham;

// Imagine this class in somebody else's library: no default constructor, an invariant, no members to be reached.
class fraction {
 public:
  fraction(std::int64_t above, std::int64_t below)
      : above_(above / std::gcd(above, below)), below_(below / std::gcd(above, below)) {}
  std::int64_t above() const { return above_; }
  std::int64_t below() const { return below_; }

 private:
  const std::int64_t above_;
  const std::int64_t below_;
};

template <>
struct ham::codec<fraction> {
  static std::size_t size(const fraction& f) { return msg::encoded_size(f.above()) + msg::encoded_size(f.below()); }
  static void write(msg::writer& to, const fraction& f) {
    msg::encode(to, f.above());
    msg::encode(to, f.below());
  }
  static fraction read(msg::reader& from) {
    const auto above = msg::decode<std::int64_t>(from);
    const auto below = msg::decode<std::int64_t>(from);
    // Bytes of a peer: what they mean is checked here.
    if (below == 0) throw protocol_error("a fraction with denominator zero arrived");
    return {above, below};
  }
};

fraction twice(const fraction& f) { return {2 * f.above(), f.below()}; }

int main() {
  const fraction here(3, 4);
  const fraction there = offload::sync(1, fn<&twice>, here);
  std::cout << "the target doubled " << here.above() << '/' << here.below() << " to " << there.above() << '/'
            << there.below() << '\n';
}
