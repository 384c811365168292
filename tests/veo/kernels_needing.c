/* A kernel whose library needs those of the helper's side. */
#include <stdint.h>

#include "veo_hmem.h"
#include "veo_ve.h"

uint64_t answer(void) {
  uint64_t previous = 0;
  veo_prev_req_result(0, &previous);
  return veo_is_ve_addr(0) == 0 && veo_get_max_proc_identifier() == 16 ? 42 : previous;
}
