// Durations for people.
#pragma once

#include <string>

namespace ham::inline v1::trace {

/// "12.3 us", "4.0 ms", "1.2 s": the unit is the largest of which it is one or more, but at least us. `decimals`:
/// digits behind the point. Not for negative ones.
[[nodiscard]] std::string duration_text(double ns, int decimals);

}  // namespace ham::trace
