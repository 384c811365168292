/* The version of these headers, for C, C++ and the preprocessor:
 *
 *     #if HAM_VERSION < 200      // 0.2.0
 *     #error this program needs HAM 0.2
 *     #endif
 *
 * ham_version() of ham/ham.h is that of the library that a program has found, which may be a later one.
 */
#ifndef HAM_VERSION_H
#define HAM_VERSION_H

/* The parts of HAM_VERSION, for the preprocessor. */
#define HAM_VERSION_MAJOR 0
#define HAM_VERSION_MINOR 2
#define HAM_VERSION_PATCH 0

/* 10000 * major + 100 * minor + patch. */
#define HAM_VERSION (HAM_VERSION_MAJOR * 10000 + HAM_VERSION_MINOR * 100 + HAM_VERSION_PATCH)
#define HAM_VERSION_STRING "0.2.0"

#endif
