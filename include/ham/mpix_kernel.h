/* Kernels of spawned MPI processes, called by name: MPIX_Kernel_call and MPIX_Kernel_call_multiple of S. Rinke,
 * S. Prabhakaran, F. Wolf, "Efficient Offloading of Parallel Kernels Using MPI_Comm_spawn" (paper 5), and what goes
 * beyond it: completion, status, non-blocking calls. For C, C++ and, through module mpix_kernel_f08, Fortran.
 *
 *   MPI_Comm_spawn("./kernels", MPI_ARGV_NULL, 4, MPI_INFO_NULL, 0, comm, &intercomm, MPI_ERRCODES_IGNORE);
 *   double a = 1.5; int b = 2; char c = 'x';
 *   void* args[] = {&a, &b, &c};
 *   int sizes[] = {sizeof a, sizeof b, sizeof c};
 *   MPIX_Kernel_call("kernel0", 3, args, sizes, 0, comm, intercomm);   // runs kernel0(1.5, 2, 'x') on each child
 *   MPIX_Kernel_call("", 0, NULL, NULL, 0, comm, intercomm);           // ends the children
 *
 * The spawned program is the kernels, ordinary functions of external C linkage, linked with libmpixkernel_main; or it
 * is ham-kernel-host with shared libraries of kernels as its arguments. docs/mpix.md tells how to build and run both.
 *
 * Common to all functions: they are collective over `comm`, whose processes are those that spawned; arguments before
 * `root` are looked at on the process of that rank only. They return MPI_SUCCESS, or MPI_ERR_ARG, MPI_ERR_COMM,
 * MPI_ERR_ROOT, MPI_ERR_OTHER; no error handler is called. Any thread may call them where MPI allows it to.
 */
#ifndef HAM_MPIX_KERNEL_H
#define HAM_MPIX_KERNEL_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls function `kernelname` on every child of `intercomm`, with `argcount` arguments: argument i is the argsizes[i]
 * bytes at args[i]. A parameter of arithmetic, enumeration or structure type gets them as its value; a pointer gets the
 * address of the received bytes, aligned for every type, valid until the kernel returns, and its own to change; no
 * bytes make a pointer that must not be followed. How the types of the parameters are found out, and what is refused:
 * docs/mpix.md, "Types". The name may tell them: "kernel0(double, int, char)".
 *
 * Returns when the arguments may be changed; the kernel may not have started. Kernels run in the order of the calls.
 * The empty name ends the children once they have run what was called before; afterwards the communicator is good for
 * MPI_Comm_disconnect only. The first call with an intercommunicator duplicates it and waits for the children to start.
 *
 * MPI_ERR_OTHER: an earlier kernel crashed, the children cannot be used any more. What goes wrong in the children is
 * told by MPIX_Kernel_wait and MPIX_Kernel_waitall; see there for programs that never ask. */
int MPIX_Kernel_call(char* kernelname, int argcount, void* args[], int* argsizes, int root, MPI_Comm comm,
                     MPI_Comm intercomm);

/* `count` kernels in one message, run in order. An empty name may be the last one. */
int MPIX_Kernel_call_multiple(int count, char* array_of_kernelname[], int* array_of_argcount, void** array_of_args[],
                              int* array_of_argsizes[], int root, MPI_Comm comm, MPI_Comm intercomm);

/* What can become of a kernel. */
enum {
  MPIX_KERNEL_OK = 0,
  MPIX_KERNEL_UNKNOWN = 1,   /* no such function in at least one child: it ran nowhere */
  MPIX_KERNEL_MISMATCH = 2,  /* number or size of the arguments do not fit the function: it ran nowhere */
  MPIX_KERNEL_UNTYPED = 3,   /* types of the parameters not known, or such as cannot be passed: it ran nowhere */
  MPIX_KERNEL_CRASHED = 4,   /* a signal ended it */
  MPIX_KERNEL_EXCEPTION = 5, /* it threw */
  MPIX_KERNEL_NOT_RUN = 6    /* not run, or not to its end, because of an earlier crash */
};

/* Outcome of one kernel. */
typedef struct MPIX_Kernel_status {
  int error;  /* MPIX_KERNEL_OK or what went wrong, of the lowest rank that says something */
  int rank;   /* that child's rank; -1 if all is well */
  int signal; /* of a crash */
  int reserved;
  long long result; /* what the kernel returned on child 0, if that is an integer and all is well */
  char kernel[64];  /* its name, perhaps cut */
  char text[256];   /* what went wrong, for people; may be cut */
} MPIX_Kernel_status;

#define MPIX_KERNEL_STATUSES_IGNORE ((MPIX_Kernel_status*)0) /* as `statuses`: nobody wants to know */

/* The kernels of one call, to be waited for; MPIX_Kernel_wait or MPIX_Kernel_test frees it and sets it to null. */
typedef struct MPIX_Kernel_request_s* MPIX_Kernel_request;
#define MPIX_KERNEL_REQUEST_NULL ((MPIX_Kernel_request)0) /* a request that was freed */

/* As MPIX_Kernel_call and MPIX_Kernel_call_multiple, but they never wait (except for the first call with an
 * intercommunicator), and give every parent a request to wait for the kernels' end with. */
int MPIX_Kernel_icall(char* kernelname, int argcount, void* args[], int* argsizes, int root, MPI_Comm comm,
                      MPI_Comm intercomm, MPIX_Kernel_request* request);
int MPIX_Kernel_icall_multiple(int count, char* array_of_kernelname[], int* array_of_argcount, void** array_of_args[],
                               int* array_of_argsizes[], int root, MPI_Comm comm, MPI_Comm intercomm,
                               MPIX_Kernel_request* request);

/* Waits until all children have ended the kernels of `request`, or one has crashed, and frees it. `statuses` gets one
 * element for each kernel. MPI_ERR_OTHER: at least one kernel failed. Not collective, but a parent other than the root
 * is told by the root: it waits until the root waits or tests as well. Sleeps while nothing happens. */
int MPIX_Kernel_wait(MPIX_Kernel_request* request, MPIX_Kernel_status statuses[]);

/* The same without waiting: `*flag` says whether the kernels have ended; only then is the request freed. */
int MPIX_Kernel_test(MPIX_Kernel_request* request, int* flag, MPIX_Kernel_status statuses[]);

/* Waits until all kernels called with `intercomm` so far have ended. `status` gets the first failure that no request
 * was told, or MPIX_KERNEL_OK. MPI_ERR_OTHER: there was one.
 *
 * A program that calls as in the paper and never waits is not left hanging: the child writes what went wrong to its
 * standard error, and if no parent has fetched that within HAM_MPIX_GRACE seconds (default 10) it ends the job. */
int MPIX_Kernel_waitall(int root, MPI_Comm comm, MPI_Comm intercomm, MPIX_Kernel_status* status);

/* Children's side, before MPIX_Kernel_main: opens a library (a path, or a name for the loader to find) and offers its
 * functions as kernels. Only functions of the program itself, of such libraries, and those registered with
 * MPIX_KERNEL can be called by parents. MPI_SUCCESS, or MPI_ERR_ARG with the reason on standard error. May be called
 * before MPI_Init. */
int MPIX_Kernel_library(const char* path);

/* Children's side: initialises MPI if that is not done, serves the parents until they send the empty name or leave, and
 * finalises MPI. What the supplied main calls. Returns the exit status for main. */
int MPIX_Kernel_main(int argc, char** argv);

/* Tells the types of a kernel where its debug information does not: MPIX_KERNEL(void, kernel0, (double, int, char)) at
 * file scope. It declares the function, so the compiler checks that they are the right ones. Arithmetic types and
 * pointers, without names of parameters. */
#ifdef __cplusplus
#define MPIX_KERNEL_EXTERN_ extern "C"
#else
#define MPIX_KERNEL_EXTERN_ extern
#endif
#define MPIX_KERNEL_TEXT_(name, text)                                           \
  MPIX_KERNEL_EXTERN_ const char name[] __attribute__((visibility("default"))); \
  const char name[] = text
#define MPIX_KERNEL(result, name, parameters)                    \
  MPIX_KERNEL_EXTERN_ result name parameters;                    \
  MPIX_KERNEL_TEXT_(mpix_kernel_parameters_##name, #parameters); \
  MPIX_KERNEL_TEXT_(mpix_kernel_result_##name, #result)

#ifdef __cplusplus
}

/* C++ makes no char* of a literal. */
inline int MPIX_Kernel_call(const char* kernelname, int argcount, void* args[], int* argsizes, int root, MPI_Comm comm,
                            MPI_Comm intercomm) {
  return MPIX_Kernel_call(const_cast<char*>(kernelname), argcount, args, argsizes, root, comm, intercomm);
}
inline int MPIX_Kernel_icall(const char* kernelname, int argcount, void* args[], int* argsizes, int root, MPI_Comm comm,
                             MPI_Comm intercomm, MPIX_Kernel_request* request) {
  return MPIX_Kernel_icall(const_cast<char*>(kernelname), argcount, args, argsizes, root, comm, intercomm, request);
}
#endif

#endif
