/* What host_library.c uses of the program that it is loaded into. */
#ifndef HAM_TESTS_VEO_HOST_PROGRAM_H
#define HAM_TESTS_VEO_HOST_PROGRAM_H

#include <pthread.h>
#include <semaphore.h>
#include <ve_offload.h>

struct veo_proc_handle* the_proc;
struct veo_thr_ctxt* the_context;
uint64_t the_library, later_request = VEO_REQUEST_ID_INVALID;
sem_t arrived, released;
pthread_barrier_t meeting;
long counted;

#endif
