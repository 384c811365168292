/* Extensions of this VEO: what a native calling convention needs to know, and a Vector Engine does not. */
#ifndef VEO_HAM_H
#define VEO_HAM_H

#include "ve_offload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum veo_ham_result {
  VEO_HAM_RESULT_BITS = 0, /**< the integer register as it is */
  VEO_HAM_RESULT_I32 = 1,  /**< sign-extended; likewise I16 and I8 */
  VEO_HAM_RESULT_I16 = 2,
  VEO_HAM_RESULT_I8 = 3,
  VEO_HAM_RESULT_U32 = 4, /**< zero-extended; likewise U16 and U8 */
  VEO_HAM_RESULT_U16 = 5,
  VEO_HAM_RESULT_U8 = 6,
  VEO_HAM_RESULT_DOUBLE = 7, /**< the 64 bits of the double */
  VEO_HAM_RESULT_FLOAT = 8   /**< the 32 bits of the float, in the upper and in the lower half */
};

/** Says what kernels called with these arguments return, whatever their debug information says; which is what counts if
 * this is not called. Cleared by veo_args_clear. -1 with EINVAL if unknown. */
int veo_ham_args_set_result(struct veo_args* args, enum veo_ham_result kind);
/** The address space of the helper is reached by the kernel's process_vm calls, not in messages. For tests. */
int veo_ham_is_near(struct veo_proc_handle* proc);

#ifdef __cplusplus
}
#endif
#endif
