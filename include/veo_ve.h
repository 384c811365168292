/* What kernels can call besides the C library. */
#ifndef VEO_VE_H
#define VEO_VE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result of the request `offs` + 1 before the running one on this context's thread. 0, or -1 if it had none. */
int veo_prev_req_result(int offs, uint64_t* result);

#ifdef __cplusplus
}
#endif
#endif
