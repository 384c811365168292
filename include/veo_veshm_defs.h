/* Flags of shared memory on a Vector Engine. */
#ifndef VEO_VESHM_DEFS_H
#define VEO_VESHM_DEFS_H

/** `mode` of the functions of veo_veshm.h, which do not look at it. */
enum VESHM_mode_flag { VE_SHM_RO = 1, VE_PCISYNC = 2, VE_REGISTER_PCI = 4, VE_MAP_256MB = 0x10 };

/** The same. */
enum VESHM_additional_mode_flag {
  VE_REGISTER_NONE = 0x1000,
  VE_REGISTER_VEMVA = 0x2000,
  VE_REGISTER_VEHVA = 0x4000,
  VE_MEM_LOCAL = 0x8000
};

#endif
