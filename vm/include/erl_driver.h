/* SPDX-License-Identifier: Apache-2.0 */
/* Linked-in drivers: the interface of Erlang/OTP 25's erl_driver.h (version 3.3) as far as vmrun
   offers it. What is declared here exists and behaves as the OTP documentation of erl_driver and
   driver_entry says; docs/drivers.md lists it all, with what is left out. Names, constants and
   layouts are OTP's, so a driver compiled against either header can be loaded. For C and C++. */
#ifndef __ERL_DRIVER_H__
#define __ERL_DRIVER_H__

#include "erl_drv_nif.h"

#include <stdlib.h>

#ifndef EXTERN
#ifdef __cplusplus
#define EXTERN extern "C"
#else
#define EXTERN extern
#endif
#endif

#ifdef __GNUC__
#define ERL_DRV_DEPRECATED_FUNC __attribute__((deprecated))
#else
#define ERL_DRV_DEPRECATED_FUNC
#endif

#define ERL_DRV_EXTENDED_MARKER                    (0xfeeeeeed)
#define ERL_DRV_EXTENDED_MAJOR_VERSION             3
#define ERL_DRV_EXTENDED_MINOR_VERSION             3
#define ERL_DRV_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD 2

/* ---- Constants ---- */

/* Modes of driver_select */
#define ERL_DRV_READ            ((int)ERL_NIF_SELECT_READ)
#define ERL_DRV_WRITE           ((int)ERL_NIF_SELECT_WRITE)
#define ERL_DRV_USE             ((int)ERL_NIF_SELECT_STOP)
#define ERL_DRV_USE_NO_CALLBACK (ERL_DRV_USE | (ERL_DRV_USE << 1))
#define DO_READ                 ERL_DRV_READ
#define DO_WRITE                ERL_DRV_WRITE

/* set_port_control_flags */
#define PORT_CONTROL_FLAG_BINARY (1 << 0)
#define PORT_CONTROL_FLAG_HEAVY  (1 << 1)

/* get_port_flags */
#define PORT_FLAG_BINARY (1 << 0)
#define PORT_FLAG_LINE   (1 << 1)

/* ErlDrvEntry.driver_flags */
#define ERL_DRV_FLAG_USE_PORT_LOCKING (1 << 0)
#define ERL_DRV_FLAG_SOFT_BUSY        (1 << 1)
#define ERL_DRV_FLAG_NO_BUSY_MSGQ     (1 << 2)
#define ERL_DRV_FLAG_USE_INIT_ACK     (1 << 3)

/* Flags that the call callback returns */
#define DRIVER_CALL_KEEP_BUFFER 0x1

/* What start returns when it has failed: without a reason, with the reason in errno, with badarg */
#define ERL_DRV_ERROR_GENERAL ((ErlDrvData)-1)
#define ERL_DRV_ERROR_ERRNO   ((ErlDrvData)-2)
#define ERL_DRV_ERROR_BADARG  ((ErlDrvData)-3)

/* Limits of erl_drv_busy_msgq_limits */
#define ERL_DRV_BUSY_MSGQ_DISABLED  (~((ErlDrvSizeT)0))
#define ERL_DRV_BUSY_MSGQ_READ_ONLY ((ErlDrvSizeT)0)
#define ERL_DRV_BUSY_MSGQ_LIM_MAX   (ERL_DRV_BUSY_MSGQ_DISABLED - 1)
#define ERL_DRV_BUSY_MSGQ_LIM_MIN   ((ErlDrvSizeT)1)

/* ---- Types ---- */

typedef ErlNapiUInt64 ErlDrvUInt64;
typedef ErlNapiSInt64 ErlDrvSInt64;
typedef ErlNapiUInt ErlDrvUInt;
typedef ErlNapiSInt ErlDrvSInt;
typedef ErlNapiUInt ErlDrvTermData;
typedef size_t ErlDrvSizeT;
typedef ssize_t ErlDrvSSizeT;

/* A reference-counted binary: orig_size bytes from orig_bytes on. */
typedef struct erl_drv_binary {
  ErlDrvSInt orig_size;
  char orig_bytes[1];
} ErlDrvBinary;

typedef struct _erl_drv_data* ErlDrvData; /* whatever start returned */
#ifndef ERL_SYS_DRV
typedef struct _erl_drv_event* ErlDrvEvent; /* a file descriptor */
#endif
typedef struct _erl_drv_port* ErlDrvPort;
typedef struct _erl_drv_port* ErlDrvThreadData;

/* What the classic driver_event waits for and reports: the bits of poll(2). */
struct erl_drv_event_data {
  short events;
  short revents;
};
typedef struct erl_drv_event_data* ErlDrvEventData;

typedef struct {
  unsigned long megasecs;
  unsigned long secs;
  unsigned long microsecs;
} ErlDrvNowData;

typedef ErlDrvSInt64 ErlDrvTime;
#define ERL_DRV_TIME_ERROR ((ErlDrvSInt64)ERTS_NAPI_TIME_ERROR__)
typedef enum {
  ERL_DRV_SEC = ERTS_NAPI_SEC__,
  ERL_DRV_MSEC = ERTS_NAPI_MSEC__,
  ERL_DRV_USEC = ERTS_NAPI_USEC__,
  ERL_DRV_NSEC = ERTS_NAPI_NSEC__
} ErlDrvTimeUnit;

typedef struct erl_io_vec {
  int vsize;        /* elements of iov and binv */
  ErlDrvSizeT size; /* bytes in all of them */
  SysIOVec* iov;
  ErlDrvBinary** binv; /* the binary an element lies in, or NULL */
} ErlIOVec;

typedef struct ErlDrvTid_* ErlDrvTid;
typedef struct ErlDrvMutex_ ErlDrvMutex;
typedef struct ErlDrvCond_ ErlDrvCond;
typedef struct ErlDrvRWLock_ ErlDrvRWLock;
typedef int ErlDrvTSDKey;

typedef struct erl_drv_port_data_lock* ErlDrvPDL;

/* The callbacks of a driver. Those that it does not need are NULL. */
typedef struct erl_drv_entry {
  int (*init)(void); /* the driver has been linked in or loaded */
  ErlDrvData (*start)(ErlDrvPort port, char* command);
  void (*stop)(ErlDrvData drv_data);
  void (*output)(ErlDrvData drv_data, char* buf, ErlDrvSizeT len);
  void (*ready_input)(ErlDrvData drv_data, ErlDrvEvent event);
  void (*ready_output)(ErlDrvData drv_data, ErlDrvEvent event);
  char* driver_name;
  void (*finish)(void); /* the driver is about to be unloaded */
  void* handle;         /* reserved */
  ErlDrvSSizeT (*control)(ErlDrvData drv_data, unsigned int command, char* buf, ErlDrvSizeT len, char** rbuf,
                          ErlDrvSizeT rlen);
  void (*timeout)(ErlDrvData drv_data);
  void (*outputv)(ErlDrvData drv_data, ErlIOVec* ev); /* if there is one, output is not called */
  void (*ready_async)(ErlDrvData drv_data, ErlDrvThreadData thread_data);
  void (*flush)(ErlDrvData drv_data); /* the port closes and its queue is not empty */
  ErlDrvSSizeT (*call)(ErlDrvData drv_data, unsigned int command, char* buf, ErlDrvSizeT len, char** rbuf,
                       ErlDrvSizeT rlen, unsigned int* flags);
  void (*event)(ErlDrvData drv_data, ErlDrvEvent event,
                ErlDrvEventData event_data); /* driver_event; OTP 21 and later never call it */
  int extended_marker;                       /* ERL_DRV_EXTENDED_MARKER */
  int major_version;                         /* ERL_DRV_EXTENDED_MAJOR_VERSION */
  int minor_version;                         /* ERL_DRV_EXTENDED_MINOR_VERSION */
  int driver_flags;                          /* ERL_DRV_FLAG_… */
  void* handle2;                             /* reserved */
  void (*process_exit)(ErlDrvData drv_data, ErlDrvMonitor* monitor); /* a monitored process is gone */
  void (*stop_select)(ErlDrvEvent event, void* reserved);            /* the event may be closed now */
  void (*emergency_close)(ErlDrvData drv_data);                      /* never called here */
} ErlDrvEntry;
#define unused_event_callback event /* its name since OTP 21 */

/* ---- What a driver library defines: DRIVER_INIT(name) { return &entry; } ---- */

#ifdef STATIC_ERLANG_DRIVER
#define ERLANG_DRIVER_NAME(NAME) NAME##_driver_init
#define ERL_DRIVER_EXPORT
#else
#define ERLANG_DRIVER_NAME(NAME) driver_init
#ifdef __GNUC__
#define ERL_DRIVER_EXPORT __attribute__((visibility("default")))
#else
#define ERL_DRIVER_EXPORT
#endif
#endif

/* ---- Terms for erl_drv_output_term and erl_drv_send_term: an array of these tags, each followed
        by its operands ---- */

#define TERM_DATA(x) ((ErlDrvTermData)(x))

#define ERL_DRV_NIL         ((ErlDrvTermData)1)  /* */
#define ERL_DRV_ATOM        ((ErlDrvTermData)2)  /* driver_mk_atom(name) */
#define ERL_DRV_INT         ((ErlDrvTermData)3)  /* ErlDrvSInt */
#define ERL_DRV_PORT        ((ErlDrvTermData)4)  /* driver_mk_port(port) */
#define ERL_DRV_BINARY      ((ErlDrvTermData)5)  /* ErlDrvBinary*, size, offset */
#define ERL_DRV_STRING      ((ErlDrvTermData)6)  /* char*, length */
#define ERL_DRV_TUPLE       ((ErlDrvTermData)7)  /* elements, which precede */
#define ERL_DRV_LIST        ((ErlDrvTermData)8)  /* elements, tail included; they precede */
#define ERL_DRV_STRING_CONS ((ErlDrvTermData)9)  /* char*, length; the tail precedes */
#define ERL_DRV_PID         ((ErlDrvTermData)10) /* driver_connected(port)… */
#define ERL_DRV_FLOAT       ((ErlDrvTermData)11) /* double* */
#define ERL_DRV_EXT2TERM    ((ErlDrvTermData)12) /* char*, length: external format */
#define ERL_DRV_UINT        ((ErlDrvTermData)13) /* ErlDrvUInt */
#define ERL_DRV_BUF2BINARY  ((ErlDrvTermData)14) /* char*, length */
#define ERL_DRV_INT64       ((ErlDrvTermData)15) /* ErlDrvSInt64* */
#define ERL_DRV_UINT64      ((ErlDrvTermData)16) /* ErlDrvUInt64* */
#define ERL_DRV_MAP         ((ErlDrvTermData)17) /* pairs; key, value, key, value… precede */

#ifndef ERL_DRIVER_TYPES_ONLY

#define DRIVER_INIT(DRIVER_NAME)                                        \
  ERL_DRIVER_EXPORT ErlDrvEntry* ERLANG_DRIVER_NAME(DRIVER_NAME)(void); \
  ERL_DRIVER_EXPORT ErlDrvEntry* ERLANG_DRIVER_NAME(DRIVER_NAME)(void)

/* ---- Data to the port's owner: {Port, {data, D}} ---- */

EXTERN int driver_output(ErlDrvPort port, char* buf, ErlDrvSizeT len);
EXTERN int driver_output2(ErlDrvPort port, char* hbuf, ErlDrvSizeT hlen, char* buf, ErlDrvSizeT len);
EXTERN int driver_output_binary(ErlDrvPort port, char* hbuf, ErlDrvSizeT hlen, ErlDrvBinary* bin,
                                ErlDrvSizeT offset, ErlDrvSizeT len);
EXTERN int driver_outputv(ErlDrvPort port, char* hbuf, ErlDrvSizeT hlen, ErlIOVec* ev, ErlDrvSizeT skip);
EXTERN ErlDrvSizeT driver_vec_to_buf(ErlIOVec* ev, char* buf, ErlDrvSizeT len);

/* ---- Terms to the owner, or to any process ---- */

EXTERN ErlDrvTermData driver_mk_atom(char* string);
EXTERN ErlDrvTermData driver_mk_port(ErlDrvPort port);
EXTERN ErlDrvTermData driver_connected(ErlDrvPort port);
EXTERN ErlDrvTermData driver_caller(ErlDrvPort port);
extern const ErlDrvTermData driver_term_nil;
EXTERN ErlDrvTermData driver_mk_term_nil(void);
EXTERN int erl_drv_output_term(ErlDrvTermData port, ErlDrvTermData* data, int len);
EXTERN int erl_drv_send_term(ErlDrvTermData port, ErlDrvTermData to, ErlDrvTermData* data, int len);
EXTERN int driver_output_term(ErlDrvPort port, ErlDrvTermData* data, int len) ERL_DRV_DEPRECATED_FUNC;
EXTERN int driver_send_term(ErlDrvPort port, ErlDrvTermData to, ErlDrvTermData* data,
                            int len) ERL_DRV_DEPRECATED_FUNC;

/* ---- Descriptors and timers ---- */

EXTERN int driver_select(ErlDrvPort port, ErlDrvEvent event, int mode, int on);
#define VMRUN_DRIVER_EVENT /* driver_event exists here; OTP 21 and later do not have it */
EXTERN int driver_event(ErlDrvPort port, ErlDrvEvent event, ErlDrvEventData event_data);
EXTERN int driver_set_timer(ErlDrvPort port, unsigned long time_ms);
EXTERN int driver_cancel_timer(ErlDrvPort port);
EXTERN int driver_read_timer(ErlDrvPort port, unsigned long* time_left_ms);

/* ---- The port ---- */

EXTERN int driver_failure_eof(ErlDrvPort port);
EXTERN int driver_failure_atom(ErlDrvPort port, char* string);
EXTERN int driver_failure_posix(ErlDrvPort port, int error);
EXTERN int driver_failure(ErlDrvPort port, int error);
EXTERN int driver_exit(ErlDrvPort port, int error);
EXTERN void set_busy_port(ErlDrvPort port, int on);
EXTERN void erl_drv_busy_msgq_limits(ErlDrvPort port, ErlDrvSizeT* low, ErlDrvSizeT* high);
EXTERN void set_port_control_flags(ErlDrvPort port, int flags);
EXTERN int get_port_flags(ErlDrvPort port);
EXTERN int erl_drv_consume_timeslice(ErlDrvPort port, int percent);
EXTERN ErlDrvPort driver_create_port(ErlDrvPort creator, ErlDrvTermData connected, char* name,
                                     ErlDrvData drv_data);
EXTERN void erl_drv_set_os_pid(ErlDrvPort port, ErlDrvSInt pid);

EXTERN ErlDrvPDL driver_pdl_create(ErlDrvPort port);
EXTERN void driver_pdl_lock(ErlDrvPDL lock);
EXTERN void driver_pdl_unlock(ErlDrvPDL lock);
EXTERN ErlDrvSInt driver_pdl_get_refc(ErlDrvPDL lock);
EXTERN ErlDrvSInt driver_pdl_inc_refc(ErlDrvPDL lock);
EXTERN ErlDrvSInt driver_pdl_dec_refc(ErlDrvPDL lock);

EXTERN int driver_monitor_process(ErlDrvPort port, ErlDrvTermData process, ErlDrvMonitor* monitor);
EXTERN int driver_demonitor_process(ErlDrvPort port, const ErlDrvMonitor* monitor);
EXTERN ErlDrvTermData driver_get_monitored_process(ErlDrvPort port, const ErlDrvMonitor* monitor);
EXTERN int driver_compare_monitors(const ErlDrvMonitor* monitor1, const ErlDrvMonitor* monitor2);

/* ---- The port's queue ---- */

EXTERN int driver_enq(ErlDrvPort port, char* buf, ErlDrvSizeT len);
EXTERN int driver_pushq(ErlDrvPort port, char* buf, ErlDrvSizeT len);
EXTERN int driver_enq_bin(ErlDrvPort port, ErlDrvBinary* bin, ErlDrvSizeT offset, ErlDrvSizeT len);
EXTERN int driver_pushq_bin(ErlDrvPort port, ErlDrvBinary* bin, ErlDrvSizeT offset, ErlDrvSizeT len);
EXTERN int driver_enqv(ErlDrvPort port, ErlIOVec* ev, ErlDrvSizeT skip);
EXTERN int driver_pushqv(ErlDrvPort port, ErlIOVec* ev, ErlDrvSizeT skip);
EXTERN ErlDrvSizeT driver_deq(ErlDrvPort port, ErlDrvSizeT size);
EXTERN ErlDrvSizeT driver_sizeq(ErlDrvPort port);
EXTERN SysIOVec* driver_peekq(ErlDrvPort port, int* vlen);
EXTERN ErlDrvSizeT driver_peekqv(ErlDrvPort port, ErlIOVec* ev);

/* ---- Memory and binaries ---- */

EXTERN void* driver_alloc(ErlDrvSizeT size);
EXTERN void* driver_realloc(void* ptr, ErlDrvSizeT size);
EXTERN void driver_free(void* ptr);
EXTERN ErlDrvBinary* driver_alloc_binary(ErlDrvSizeT size);
EXTERN ErlDrvBinary* driver_realloc_binary(ErlDrvBinary* bin, ErlDrvSizeT size);
EXTERN void driver_free_binary(ErlDrvBinary* bin);
EXTERN ErlDrvSInt driver_binary_get_refc(ErlDrvBinary* bin);
EXTERN ErlDrvSInt driver_binary_inc_refc(ErlDrvBinary* bin);
EXTERN ErlDrvSInt driver_binary_dec_refc(ErlDrvBinary* bin);

/* ---- Work on other threads ---- */

EXTERN unsigned int driver_async_port_key(ErlDrvPort port);
EXTERN long driver_async(ErlDrvPort port, unsigned int* key, void (*async_invoke)(void*), void* async_data,
                         void (*async_free)(void*));

EXTERN ErlDrvMutex* erl_drv_mutex_create(char* name);
EXTERN void erl_drv_mutex_destroy(ErlDrvMutex* mtx);
EXTERN int erl_drv_mutex_trylock(ErlDrvMutex* mtx);
EXTERN void erl_drv_mutex_lock(ErlDrvMutex* mtx);
EXTERN void erl_drv_mutex_unlock(ErlDrvMutex* mtx);
EXTERN char* erl_drv_mutex_name(ErlDrvMutex* mtx);
EXTERN ErlDrvCond* erl_drv_cond_create(char* name);
EXTERN void erl_drv_cond_destroy(ErlDrvCond* cnd);
EXTERN void erl_drv_cond_signal(ErlDrvCond* cnd);
EXTERN void erl_drv_cond_broadcast(ErlDrvCond* cnd);
EXTERN void erl_drv_cond_wait(ErlDrvCond* cnd, ErlDrvMutex* mtx);
EXTERN char* erl_drv_cond_name(ErlDrvCond* cnd);
EXTERN ErlDrvRWLock* erl_drv_rwlock_create(char* name);
EXTERN void erl_drv_rwlock_destroy(ErlDrvRWLock* rwlck);
EXTERN int erl_drv_rwlock_tryrlock(ErlDrvRWLock* rwlck);
EXTERN void erl_drv_rwlock_rlock(ErlDrvRWLock* rwlck);
EXTERN void erl_drv_rwlock_runlock(ErlDrvRWLock* rwlck);
EXTERN int erl_drv_rwlock_tryrwlock(ErlDrvRWLock* rwlck);
EXTERN void erl_drv_rwlock_rwlock(ErlDrvRWLock* rwlck);
EXTERN void erl_drv_rwlock_rwunlock(ErlDrvRWLock* rwlck);
EXTERN char* erl_drv_rwlock_name(ErlDrvRWLock* rwlck);
EXTERN int erl_drv_tsd_key_create(char* name, ErlDrvTSDKey* key);
EXTERN void erl_drv_tsd_key_destroy(ErlDrvTSDKey key);
EXTERN void erl_drv_tsd_set(ErlDrvTSDKey key, void* data);
EXTERN void* erl_drv_tsd_get(ErlDrvTSDKey key);
EXTERN ErlDrvThreadOpts* erl_drv_thread_opts_create(char* name);
EXTERN void erl_drv_thread_opts_destroy(ErlDrvThreadOpts* opts);
EXTERN int erl_drv_thread_create(char* name, ErlDrvTid* tid, void* (*func)(void*), void* args,
                                 ErlDrvThreadOpts* opts);
EXTERN char* erl_drv_thread_name(ErlDrvTid tid);
EXTERN ErlDrvTid erl_drv_thread_self(void);
EXTERN int erl_drv_equal_tids(ErlDrvTid tid1, ErlDrvTid tid2);
EXTERN void erl_drv_thread_exit(void* resp);
EXTERN int erl_drv_thread_join(ErlDrvTid tid, void** respp);

/* ---- Drivers and libraries ---- */

EXTERN void add_driver_entry(ErlDrvEntry* de);
EXTERN int remove_driver_entry(ErlDrvEntry* de);
EXTERN int driver_lock_driver(ErlDrvPort port);
EXTERN void* driver_dl_open(char* path);
EXTERN void* driver_dl_sym(void* handle, char* name);
EXTERN int driver_dl_close(void* handle);
EXTERN char* driver_dl_error(void);

/* ---- The system ---- */

EXTERN void driver_system_info(ErlDrvSysInfo* sip, size_t si_size);
EXTERN char* erl_errno_id(int error);
EXTERN ErlDrvTime erl_drv_monotonic_time(ErlDrvTimeUnit time_unit);
EXTERN ErlDrvTime erl_drv_time_offset(ErlDrvTimeUnit time_unit);
EXTERN ErlDrvTime erl_drv_convert_time_unit(ErlDrvTime val, ErlDrvTimeUnit from, ErlDrvTimeUnit to);
EXTERN int driver_get_now(ErlDrvNowData* now) ERL_DRV_DEPRECATED_FUNC;
EXTERN int erl_drv_putenv(const char* key, char* value);
EXTERN int erl_drv_getenv(const char* key, char* value, size_t* value_size);

#endif /* ERL_DRIVER_TYPES_ONLY */

#endif
