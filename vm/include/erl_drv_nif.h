/* SPDX-License-Identifier: Apache-2.0 */
/* What the public interfaces for drivers (erl_driver.h) and for native functions (erl_nif.h) have
   in common. Names, constants and layouts are those of Erlang/OTP 25, so that a library built
   against either header works. */
#ifndef __ERL_DRV_NIF_H__
#define __ERL_DRV_NIF_H__

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The build configuration that Erlang's headers define; libraries test these. */
#ifndef SIZEOF_CHAR
#define SIZEOF_CHAR 1
#endif
#ifndef SIZEOF_SHORT
#define SIZEOF_SHORT 2
#endif
#ifndef SIZEOF_INT
#define SIZEOF_INT 4
#endif
#ifndef SIZEOF_LONG
#define SIZEOF_LONG 8
#endif
#ifndef SIZEOF_LONG_LONG
#define SIZEOF_LONG_LONG 8
#endif
#ifndef SIZEOF_VOID_P
#define SIZEOF_VOID_P 8
#endif

typedef unsigned long ErlNapiUInt64;
typedef signed long ErlNapiSInt64;
typedef ErlNapiUInt64 ErlNapiUInt;
typedef ErlNapiSInt64 ErlNapiSInt;
#define ERL_NAPI_SINT64_MAX__ 9223372036854775807L
#define ERL_NAPI_SINT64_MIN__ (-ERL_NAPI_SINT64_MAX__ - 1L)

/* Time units, and the answer to an impossible question about time. */
#define ERTS_NAPI_SEC__        0
#define ERTS_NAPI_MSEC__       1
#define ERTS_NAPI_USEC__       2
#define ERTS_NAPI_NSEC__       3
#define ERTS_NAPI_TIME_ERROR__ ERL_NAPI_SINT64_MIN__

/* A piece of data in the layout of readv and writev. As with Erlang's headers it is struct iovec
   itself only if HAVE_SYS_UIO_H is defined. */
#ifdef HAVE_SYS_UIO_H
typedef struct iovec SysIOVec;
#else
typedef struct {
  char* iov_base;
  size_t iov_len;
} SysIOVec;
#endif

typedef struct {
  int driver_major_version;
  int driver_minor_version;
  char* erts_version;
  char* otp_release;
  int thread_support;
  int smp_support;
  int async_threads;
  int scheduler_threads;
  int nif_major_version;
  int nif_minor_version;
  int dirty_scheduler_support;
} ErlDrvSysInfo;

typedef struct {
  int suggested_stack_size; /* in kilowords; negative: the default */
} ErlDrvThreadOpts;

/* Kinds of work for dirty schedulers. */
typedef enum { ERL_DIRTY_JOB_CPU_BOUND = 1, ERL_DIRTY_JOB_IO_BOUND = 2 } ErlDirtyJobFlags;

/* Modes of driver_select and enif_select. */
enum ErlNifSelectFlags {
  ERL_NIF_SELECT_READ = 1 << 0,
  ERL_NIF_SELECT_WRITE = 1 << 1,
  ERL_NIF_SELECT_STOP = 1 << 2,
  ERL_NIF_SELECT_CANCEL = 1 << 3,
  ERL_NIF_SELECT_CUSTOM_MSG = 1 << 4,
  ERL_NIF_SELECT_ERROR = 1 << 5
};

/* The identity of a monitor; opaque. */
typedef struct {
  unsigned char data[sizeof(void*) * 4];
} ErlDrvMonitor;

#endif
