// The exception of a replay of a recorded graph: which stage has failed.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include "ham/error.hpp"

namespace ham::inline v1 {

/// A stage of a recorded graph has failed (offload::graph): its function has thrown, or its result could not be sent.
class stage_error : public error {
 public:
  /// Which one.
  struct origin {
    std::size_t stage = 0;  ///< in the order of recording, inputs included: graph_value::number()
    std::string name;       ///< its function, or what graph_value::name() has said
    node_t node = -1;
  };

  /// For the library. `cause`: what the stage has thrown.
  stage_error(const std::string& message, origin where, std::exception_ptr cause)
      : error(message), origin_(std::move(where)), cause_(std::move(cause)) {}

  /// Number of the stage that has failed, in the order of recording, inputs included.
  [[nodiscard]] std::size_t stage() const noexcept { return origin_.stage; }
  /// Name of its function, or what graph_value::name() has said.
  [[nodiscard]] const std::string& name() const noexcept { return origin_.name; }
  /// Where it ran.
  [[nodiscard]] node_t node() const noexcept { return origin_.node; }
  /// What it has thrown, as get() of a call throws it.
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  origin origin_;
  std::exception_ptr cause_;
};

}  // namespace ham
