/* Makes a VEO process, and says whether that went well. */
#include <stdio.h>
#include <ve_offload.h>

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  printf("proc: %s\n", proc != NULL ? "made" : "none");
  return proc != NULL ? veo_proc_destroy(proc) : 1;
}
