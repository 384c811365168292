/* Pointers with a tag that says which VE process they belong to. For host programs and kernels.
 *
 * Bit 63: memory of a VE process. Bits 62 to 59: its identifier. Below: the address there. */
#ifndef VEO_HMEM_H
#define VEO_HMEM_H

#ifdef __cplusplus
extern "C" {
#endif

/** 1 if the pointer is tagged, else 0. */
int veo_is_ve_addr(const void* addr);
/** The address without its tag; an untagged pointer as it is. */
void* veo_get_hmem_addr(void* addr);
/** Number of identifiers that a tag can hold: 16. */
int veo_get_max_proc_identifier(void);
/** 0 to 15, or -1 if the pointer is not tagged. */
int veo_get_proc_identifier_from_hmem(const void* addr);
/** syscall(2) that answers -errno on failure. For kernels. */
signed long syscall_wrapper(int number, signed long arg0, signed long arg1, signed long arg2, signed long arg3,
                            signed long arg4, signed long arg5);

#ifdef __cplusplus
}
#endif
#endif
