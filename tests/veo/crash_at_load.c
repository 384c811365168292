/* A library of kernels that cannot be loaded: its constructor crashes. */
__attribute__((constructor)) static void crash(void) { *(volatile int*)8 = 1; }
