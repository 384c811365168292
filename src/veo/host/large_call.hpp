// Calls with large buffers: these are laid down in the helper's memory before the call, and fetched after it, because
// the kernel copies them faster than messages would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arguments.hpp"
#include "context.hpp"
#include "near_memory.hpp"

namespace ham::inline v1::veo {

class large_call {
 public:
  /// Worth it: a helper whose memory the kernel reaches, and much to copy.
  [[nodiscard]] static bool suits(proc& of, const veo_args* args) noexcept;

  /// Copies what goes in: into the helper if nothing is under way in `in`, else to be laid down later.
  large_call(veo_thr_ctxt& in, std::uint64_t kernel, const veo_args& args);
  /// On the context's pump.
  [[nodiscard]] local_result run(veo_thr_ctxt& in);

 private:
  [[nodiscard]] sender area_wanted() const;
  [[nodiscard]] local_result make_area(veo_thr_ctxt& in);
  [[nodiscard]] bool copy(veo_thr_ctxt& in, direction where);
  [[nodiscard]] local_result call(veo_thr_ctxt& in);
  void drop_area(veo_thr_ctxt& in);

  struct buffer {
    argument_kind kind = argument_kind::integer;
    std::size_t index = 0;  ///< of the argument
    std::size_t offset = 0;
    std::size_t bytes = 0;
    void* client = nullptr;
    std::vector<std::byte> content;  ///< of what goes in later
  };
  std::uint64_t kernel_;
  veo_args args_;
  std::vector<buffer> buffers_;
  std::size_t area_bytes_ = 0;
  std::uint64_t area_ = 0;  ///< in the helper; 0: not yet
  bool laid_down_ = false;
};

}  // namespace ham::veo
