// The supplied main of programs that consist of kernels.
#include <ham/mpix_kernel.h>

int main(int argc, char** argv) { return MPIX_Kernel_main(argc, argv); }
