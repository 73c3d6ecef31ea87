/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions for Erlang modules: the interface of Erlang/OTP 29's erl_nif.h as far as vmrun
   offers it. What is declared here exists and behaves as the OTP documentation of erl_nif says;
   docs/nifs.md lists it all, with what is left out. Names, constants and layouts are OTP's, so a
   library compiled against either header can be loaded. */
#ifndef __ERL_NIF_H__
#define __ERL_NIF_H__

#include "erl_drv_nif.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ERL_NIF_MAJOR_VERSION                      2
#define ERL_NIF_MINOR_VERSION                      18
#define ERL_NIF_MIN_ERTS_VERSION                   "erts-14.0"
#define ERL_NIF_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD 2
#define ERL_NIF_VM_VARIANT                         "beam.vanilla"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---- */

typedef ErlNapiUInt64 ErlNifUInt64;
typedef ErlNapiSInt64 ErlNifSInt64;
typedef ErlNapiUInt ErlNifUInt;
typedef ErlNapiSInt ErlNifSInt;

typedef ErlNifUInt ERL_NIF_TERM;
typedef ERL_NIF_TERM ERL_NIF_UINT;

typedef struct enif_environment_t ErlNifEnv;

typedef struct enif_func_t {
  const char* name;
  unsigned arity;
  ERL_NIF_TERM (*fptr)(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]);
  unsigned flags; /* 0 or one of ErlNifDirtyTaskFlags */
} ErlNifFunc;

typedef struct enif_entry_t {
  int major;
  int minor;
  const char* name;
  int num_of_funcs;
  ErlNifFunc* funcs;
  int (*load)(ErlNifEnv*, void** priv_data, ERL_NIF_TERM load_info);
  int (*reload)(ErlNifEnv*, void** priv_data, ERL_NIF_TERM load_info);
  int (*upgrade)(ErlNifEnv*, void** priv_data, void** old_priv_data, ERL_NIF_TERM load_info);
  void (*unload)(ErlNifEnv*, void* priv_data);
  const char* vm_variant;               /* since 2.1 */
  unsigned options;                     /* since 2.7 */
  size_t sizeof_ErlNifResourceTypeInit; /* since 2.12 */
  const char* min_erts;                 /* since 2.14 */
} ErlNifEntry;

typedef struct {
  size_t size;
  unsigned char* data;
  void* ref_bin;      /* internal */
  void* __spare__[2]; /* internal */
} ErlNifBinary;

typedef enum { ERL_NIF_LATIN1 = 1, ERL_NIF_UTF8 = 2 /* since 2.17 */ } ErlNifCharEncoding;

typedef struct {
  ERL_NIF_TERM pid; /* internal */
} ErlNifPid;

typedef struct {
  ERL_NIF_TERM port_id; /* internal */
} ErlNifPort;

typedef enum {
  ERL_NIF_DIRTY_JOB_CPU_BOUND = ERL_DIRTY_JOB_CPU_BOUND,
  ERL_NIF_DIRTY_JOB_IO_BOUND = ERL_DIRTY_JOB_IO_BOUND
} ErlNifDirtyTaskFlags;

/* Resources */
typedef int ErlNifEvent;
typedef ErlDrvMonitor ErlNifMonitor;
typedef struct enif_resource_type_t ErlNifResourceType;
typedef void ErlNifResourceDtor(ErlNifEnv*, void*);
typedef void ErlNifResourceStop(ErlNifEnv*, void*, ErlNifEvent, int is_direct_call);
typedef void ErlNifResourceDown(ErlNifEnv*, void*, ErlNifPid*, ErlNifMonitor*);
typedef void ErlNifResourceDynCall(ErlNifEnv*, void* obj, void* call_data);

typedef struct {
  ErlNifResourceDtor* dtor;
  ErlNifResourceStop* stop;
  ErlNifResourceDown* down;
  int members; /* for enif_init_resource_type: how many of the callbacks are set */
  ErlNifResourceDynCall* dyncall;
} ErlNifResourceTypeInit;

typedef enum { ERL_NIF_RT_CREATE = 1, ERL_NIF_RT_TAKEOVER = 2 } ErlNifResourceFlags;

/* Options of a library (since 2.17): enif_set_option in load or upgrade */
typedef enum {
  ERL_NIF_OPT_DELAY_HALT = 1,
  ERL_NIF_OPT_ON_HALT = 2,         /* followed by an ErlNifOnHaltCallback* */
  ERL_NIF_OPT_ON_UNLOAD_THREAD = 3 /* followed by an ErlNifOnUnloadThreadCallback* */
} ErlNifOption;
typedef void ErlNifOnHaltCallback(void* priv_data);
typedef void ErlNifOnUnloadThreadCallback(void* priv_data);

/* Maps */
typedef struct {
  ERL_NIF_TERM map;
  ERL_NIF_UINT size;
  ERL_NIF_UINT idx;
  union {
    struct {
      ERL_NIF_TERM* ks;
      ERL_NIF_TERM* vs;
    } flat;
    struct {
      struct ErtsDynamicWStack_* wstack;
      ERL_NIF_TERM* kv;
    } hash;
  } u;
  void* __spare__[2];
} ErlNifMapIterator; /* all internal */

typedef enum {
  ERL_NIF_MAP_ITERATOR_FIRST = 1,
  ERL_NIF_MAP_ITERATOR_LAST = 2,
  ERL_NIF_MAP_ITERATOR_HEAD = ERL_NIF_MAP_ITERATOR_FIRST,
  ERL_NIF_MAP_ITERATOR_TAIL = ERL_NIF_MAP_ITERATOR_LAST
} ErlNifMapIteratorEntry;

typedef enum { ERL_NIF_UNIQUE_POSITIVE = 1 << 0, ERL_NIF_UNIQUE_MONOTONIC = 1 << 1 } ErlNifUniqueInteger;
typedef enum { ERL_NIF_BIN2TERM_SAFE = 0x20000000 } ErlNifBinaryToTerm;
typedef enum { ERL_NIF_INTERNAL_HASH = 1, ERL_NIF_PHASH2 = 2 } ErlNifHash;

typedef enum {
  ERL_NIF_TERM_TYPE_ATOM = 1,
  ERL_NIF_TERM_TYPE_BITSTRING = 2,
  ERL_NIF_TERM_TYPE_FLOAT = 3,
  ERL_NIF_TERM_TYPE_FUN = 4,
  ERL_NIF_TERM_TYPE_INTEGER = 5,
  ERL_NIF_TERM_TYPE_LIST = 6,
  ERL_NIF_TERM_TYPE_MAP = 7,
  ERL_NIF_TERM_TYPE_PID = 8,
  ERL_NIF_TERM_TYPE_PORT = 9,
  ERL_NIF_TERM_TYPE_REFERENCE = 10,
  ERL_NIF_TERM_TYPE_TUPLE = 11,
  ERL_NIF_TERM_TYPE__MISSING_DEFAULT_CASE__READ_THE_MANUAL = -1
} ErlNifTermType;

/* I/O vectors and queues */
#define ERL_NIF_IOVEC_SIZE 16
typedef struct erl_nif_io_vec {
  int iovcnt;
  size_t size;
  SysIOVec* iov;
  void** ref_bins; /* from here on internal */
  int flags;
  SysIOVec small_iov[ERL_NIF_IOVEC_SIZE];
  void* small_ref_bin[ERL_NIF_IOVEC_SIZE];
} ErlNifIOVec;
typedef struct erts_io_queue ErlNifIOQueue;
typedef enum { ERL_NIF_IOQ_NORMAL = 1 } ErlNifIOQueueOpts;

/* Time */
typedef ErlNifSInt64 ErlNifTime;
#define ERL_NIF_TIME_ERROR ((ErlNifSInt64)ERTS_NAPI_TIME_ERROR__)
typedef enum {
  ERL_NIF_SEC = ERTS_NAPI_SEC__,
  ERL_NIF_MSEC = ERTS_NAPI_MSEC__,
  ERL_NIF_USEC = ERTS_NAPI_USEC__,
  ERL_NIF_NSEC = ERTS_NAPI_NSEC__
} ErlNifTimeUnit;

/* Threads */
typedef ErlDrvSysInfo ErlNifSysInfo;
typedef struct ErlDrvTid_* ErlNifTid;
typedef struct ErlDrvMutex_ ErlNifMutex;
typedef struct ErlDrvCond_ ErlNifCond;
typedef struct ErlDrvRWLock_ ErlNifRWLock;
typedef int ErlNifTSDKey;
typedef ErlDrvThreadOpts ErlNifThreadOpts;
#define ERL_NIF_THR_UNDEFINED           0
#define ERL_NIF_THR_NORMAL_SCHEDULER    1
#define ERL_NIF_THR_DIRTY_CPU_SCHEDULER 2
#define ERL_NIF_THR_DIRTY_IO_SCHEDULER  3

/* What enif_select returns */
#define ERL_NIF_SELECT_STOP_CALLED     (1 << 0)
#define ERL_NIF_SELECT_STOP_SCHEDULED  (1 << 1)
#define ERL_NIF_SELECT_INVALID_EVENT   (1 << 2)
#define ERL_NIF_SELECT_FAILED          (1 << 3)
#define ERL_NIF_SELECT_READ_CANCELLED  (1 << 4)
#define ERL_NIF_SELECT_WRITE_CANCELLED (1 << 5)
#define ERL_NIF_SELECT_ERROR_CANCELLED (1 << 6)
#define ERL_NIF_SELECT_NOTSUP          (1 << 7)

/* ---- Memory, environments, libraries ---- */

extern void* enif_alloc(size_t size);
extern void* enif_realloc(void* ptr, size_t size);
extern void enif_free(void* ptr);
extern void* enif_priv_data(ErlNifEnv* env);
extern ErlNifEnv* enif_alloc_env(void);
extern void enif_free_env(ErlNifEnv* env);
extern void enif_clear_env(ErlNifEnv* env);
extern ERL_NIF_TERM enif_make_copy(ErlNifEnv* dst_env, ERL_NIF_TERM src_term);
extern void* enif_dlopen(const char* lib, void (*err_handler)(void*, const char*), void* err_arg);
extern void* enif_dlsym(void* handle, const char* symbol, void (*err_handler)(void*, const char*),
                        void* err_arg);

/* ---- What a term is ---- */

extern ErlNifTermType enif_term_type(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_atom(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_binary(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_empty_list(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_exception(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_fun(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_list(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_map(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_number(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_pid(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_port(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_ref(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_tuple(ErlNifEnv* env, ERL_NIF_TERM term);
extern int enif_is_identical(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs);
extern int enif_compare(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs);
/* Since 2.18: bytes of a term on a heap; an atom's place in the cache of a connection. */
extern size_t enif_term_size(ERL_NIF_TERM term);
extern int enif_get_atom_cache_index(ErlNifEnv* env, ERL_NIF_TERM atom, unsigned* index);
extern unsigned enif_max_atom_cache_index(void);
extern ErlNifUInt64 enif_hash(ErlNifHash type, ERL_NIF_TERM term, ErlNifUInt64 salt);

/* ---- Reading terms ---- */

extern int enif_get_int(ErlNifEnv* env, ERL_NIF_TERM term, int* ip);
extern int enif_get_uint(ErlNifEnv* env, ERL_NIF_TERM term, unsigned* ip);
extern int enif_get_long(ErlNifEnv* env, ERL_NIF_TERM term, long* ip);
extern int enif_get_ulong(ErlNifEnv* env, ERL_NIF_TERM term, unsigned long* ip);
extern int enif_get_double(ErlNifEnv* env, ERL_NIF_TERM term, double* dp);
extern int enif_get_atom(ErlNifEnv* env, ERL_NIF_TERM atom, char* buf, unsigned len,
                         ErlNifCharEncoding encoding);
extern int enif_get_atom_length(ErlNifEnv* env, ERL_NIF_TERM atom, unsigned* len,
                                ErlNifCharEncoding encoding);
extern int enif_get_string(ErlNifEnv* env, ERL_NIF_TERM list, char* buf, unsigned len,
                           ErlNifCharEncoding encoding);
extern int enif_get_string_length(ErlNifEnv* env, ERL_NIF_TERM list, unsigned* len,
                                  ErlNifCharEncoding encoding); /* since 2.17 */
extern int enif_get_list_cell(ErlNifEnv* env, ERL_NIF_TERM term, ERL_NIF_TERM* head, ERL_NIF_TERM* tail);
extern int enif_get_list_length(ErlNifEnv* env, ERL_NIF_TERM term, unsigned* len);
extern int enif_get_tuple(ErlNifEnv* env, ERL_NIF_TERM tpl, int* arity, const ERL_NIF_TERM** array);
extern int enif_get_local_pid(ErlNifEnv* env, ERL_NIF_TERM term, ErlNifPid* pid);
extern int enif_get_local_port(ErlNifEnv* env, ERL_NIF_TERM term, ErlNifPort* port_id);
#define enif_get_int64  enif_get_long
#define enif_get_uint64 enif_get_ulong

/* ---- Making terms ---- */

extern ERL_NIF_TERM enif_make_int(ErlNifEnv* env, int i);
extern ERL_NIF_TERM enif_make_uint(ErlNifEnv* env, unsigned i);
extern ERL_NIF_TERM enif_make_long(ErlNifEnv* env, long i);
extern ERL_NIF_TERM enif_make_ulong(ErlNifEnv* env, unsigned long i);
extern ERL_NIF_TERM enif_make_double(ErlNifEnv* env, double d);
extern ERL_NIF_TERM enif_make_atom(ErlNifEnv* env, const char* name);
extern ERL_NIF_TERM enif_make_atom_len(ErlNifEnv* env, const char* name, size_t len);
extern int enif_make_existing_atom(ErlNifEnv* env, const char* name, ERL_NIF_TERM* atom,
                                   ErlNifCharEncoding encoding);
extern int enif_make_existing_atom_len(ErlNifEnv* env, const char* name, size_t len, ERL_NIF_TERM* atom,
                                       ErlNifCharEncoding encoding);
extern ERL_NIF_TERM enif_make_tuple(ErlNifEnv* env, unsigned cnt, ...);
extern ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv* env, const ERL_NIF_TERM arr[], unsigned cnt);
extern ERL_NIF_TERM enif_make_list(ErlNifEnv* env, unsigned cnt, ...);
extern ERL_NIF_TERM enif_make_list_from_array(ErlNifEnv* env, const ERL_NIF_TERM arr[], unsigned cnt);
extern ERL_NIF_TERM enif_make_list_cell(ErlNifEnv* env, ERL_NIF_TERM head, ERL_NIF_TERM tail);
extern int enif_make_reverse_list(ErlNifEnv* env, ERL_NIF_TERM list_in, ERL_NIF_TERM* list_out);
extern ERL_NIF_TERM enif_make_string(ErlNifEnv* env, const char* string, ErlNifCharEncoding encoding);
extern ERL_NIF_TERM enif_make_string_len(ErlNifEnv* env, const char* string, size_t len,
                                         ErlNifCharEncoding encoding);
extern ERL_NIF_TERM enif_make_ref(ErlNifEnv* env);
/* Since 2.17: the atom is made if need be; 0: there is no such atom. */
extern int enif_make_new_atom(ErlNifEnv* env, const char* name, ERL_NIF_TERM* atom,
                              ErlNifCharEncoding encoding);
extern int enif_make_new_atom_len(ErlNifEnv* env, const char* name, size_t len, ERL_NIF_TERM* atom,
                                  ErlNifCharEncoding encoding);
extern ERL_NIF_TERM enif_make_unique_integer(ErlNifEnv* env, ErlNifUniqueInteger properties);
#define enif_make_int64         enif_make_long
#define enif_make_uint64        enif_make_ulong
#define enif_make_pid(ENV, PID) ((void)(ENV), (ERL_NIF_TERM)((PID)->pid))

#define enif_make_tuple1(ENV, E1)                         enif_make_tuple(ENV, 1, E1)
#define enif_make_tuple2(ENV, E1, E2)                     enif_make_tuple(ENV, 2, E1, E2)
#define enif_make_tuple3(ENV, E1, E2, E3)                 enif_make_tuple(ENV, 3, E1, E2, E3)
#define enif_make_tuple4(ENV, E1, E2, E3, E4)             enif_make_tuple(ENV, 4, E1, E2, E3, E4)
#define enif_make_tuple5(ENV, E1, E2, E3, E4, E5)         enif_make_tuple(ENV, 5, E1, E2, E3, E4, E5)
#define enif_make_tuple6(ENV, E1, E2, E3, E4, E5, E6)     enif_make_tuple(ENV, 6, E1, E2, E3, E4, E5, E6)
#define enif_make_tuple7(ENV, E1, E2, E3, E4, E5, E6, E7) enif_make_tuple(ENV, 7, E1, E2, E3, E4, E5, E6, E7)
#define enif_make_tuple8(ENV, E1, E2, E3, E4, E5, E6, E7, E8) \
  enif_make_tuple(ENV, 8, E1, E2, E3, E4, E5, E6, E7, E8)
#define enif_make_tuple9(ENV, E1, E2, E3, E4, E5, E6, E7, E8, E9) \
  enif_make_tuple(ENV, 9, E1, E2, E3, E4, E5, E6, E7, E8, E9)
#define enif_make_list1(ENV, E1)                         enif_make_list(ENV, 1, E1)
#define enif_make_list2(ENV, E1, E2)                     enif_make_list(ENV, 2, E1, E2)
#define enif_make_list3(ENV, E1, E2, E3)                 enif_make_list(ENV, 3, E1, E2, E3)
#define enif_make_list4(ENV, E1, E2, E3, E4)             enif_make_list(ENV, 4, E1, E2, E3, E4)
#define enif_make_list5(ENV, E1, E2, E3, E4, E5)         enif_make_list(ENV, 5, E1, E2, E3, E4, E5)
#define enif_make_list6(ENV, E1, E2, E3, E4, E5, E6)     enif_make_list(ENV, 6, E1, E2, E3, E4, E5, E6)
#define enif_make_list7(ENV, E1, E2, E3, E4, E5, E6, E7) enif_make_list(ENV, 7, E1, E2, E3, E4, E5, E6, E7)
#define enif_make_list8(ENV, E1, E2, E3, E4, E5, E6, E7, E8) \
  enif_make_list(ENV, 8, E1, E2, E3, E4, E5, E6, E7, E8)
#define enif_make_list9(ENV, E1, E2, E3, E4, E5, E6, E7, E8, E9) \
  enif_make_list(ENV, 9, E1, E2, E3, E4, E5, E6, E7, E8, E9)

/* ---- Exceptions: the result is what the native function returns ---- */

extern ERL_NIF_TERM enif_make_badarg(ErlNifEnv* env);
extern ERL_NIF_TERM enif_raise_exception(ErlNifEnv* env, ERL_NIF_TERM reason);
extern int enif_has_pending_exception(ErlNifEnv* env, ERL_NIF_TERM* reason);

/* ---- Binaries ---- */

extern int enif_inspect_binary(ErlNifEnv* env, ERL_NIF_TERM bin_term, ErlNifBinary* bin);
extern int enif_inspect_iolist_as_binary(ErlNifEnv* env, ERL_NIF_TERM term, ErlNifBinary* bin);
extern int enif_alloc_binary(size_t size, ErlNifBinary* bin);
extern int enif_realloc_binary(ErlNifBinary* bin, size_t size);
extern void enif_release_binary(ErlNifBinary* bin);
extern ERL_NIF_TERM enif_make_binary(ErlNifEnv* env, ErlNifBinary* bin);
extern unsigned char* enif_make_new_binary(ErlNifEnv* env, size_t size, ERL_NIF_TERM* termp);
extern ERL_NIF_TERM enif_make_sub_binary(ErlNifEnv* env, ERL_NIF_TERM bin_term, size_t pos, size_t size);
extern int enif_term_to_binary(ErlNifEnv* env, ERL_NIF_TERM term, ErlNifBinary* bin);
extern size_t enif_binary_to_term(ErlNifEnv* env, const unsigned char* data, size_t sz, ERL_NIF_TERM* term,
                                  unsigned int opts);

/* env may be NULL in enif_inspect_iovec: then the vector is kept until enif_free_iovec. */
extern int enif_inspect_iovec(ErlNifEnv* env, size_t max_length, ERL_NIF_TERM iovec_term, ERL_NIF_TERM* tail,
                              ErlNifIOVec** iovec);
extern void enif_free_iovec(ErlNifIOVec* iov);
extern ErlNifIOQueue* enif_ioq_create(ErlNifIOQueueOpts opts);
extern void enif_ioq_destroy(ErlNifIOQueue* q);
extern size_t enif_ioq_size(ErlNifIOQueue* q);
extern int enif_ioq_enq_binary(ErlNifIOQueue* q, ErlNifBinary* bin, size_t skip);
extern int enif_ioq_enqv(ErlNifIOQueue* q, ErlNifIOVec* iov, size_t skip);
extern int enif_ioq_deq(ErlNifIOQueue* q, size_t count, size_t* size);
extern SysIOVec* enif_ioq_peek(ErlNifIOQueue* q, int* iovlen);
extern int enif_ioq_peek_head(ErlNifEnv* env, ErlNifIOQueue* q, size_t* size, ERL_NIF_TERM* head);

/* ---- Maps ---- */

extern ERL_NIF_TERM enif_make_new_map(ErlNifEnv* env);
extern int enif_get_map_size(ErlNifEnv* env, ERL_NIF_TERM term, size_t* size);
extern int enif_get_map_value(ErlNifEnv* env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM* value);
extern int enif_make_map_put(ErlNifEnv* env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM value,
                             ERL_NIF_TERM* map_out);
extern int enif_make_map_update(ErlNifEnv* env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM value,
                                ERL_NIF_TERM* map_out);
extern int enif_make_map_remove(ErlNifEnv* env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM* map_out);
extern int enif_make_map_from_arrays(ErlNifEnv* env, ERL_NIF_TERM keys[], ERL_NIF_TERM values[], size_t cnt,
                                     ERL_NIF_TERM* map_out);
extern int enif_map_iterator_create(ErlNifEnv* env, ERL_NIF_TERM map, ErlNifMapIterator* iter,
                                    ErlNifMapIteratorEntry entry);
extern void enif_map_iterator_destroy(ErlNifEnv* env, ErlNifMapIterator* iter);
extern int enif_map_iterator_is_head(ErlNifEnv* env, ErlNifMapIterator* iter);
extern int enif_map_iterator_is_tail(ErlNifEnv* env, ErlNifMapIterator* iter);
extern int enif_map_iterator_next(ErlNifEnv* env, ErlNifMapIterator* iter);
extern int enif_map_iterator_prev(ErlNifEnv* env, ErlNifMapIterator* iter);
extern int enif_map_iterator_get_pair(ErlNifEnv* env, ErlNifMapIterator* iter, ERL_NIF_TERM* key,
                                      ERL_NIF_TERM* value);

/* ---- Resources ---- */

extern ErlNifResourceType* enif_open_resource_type(ErlNifEnv* env, const char* module_str, const char* name,
                                                   void (*dtor)(ErlNifEnv*, void*), ErlNifResourceFlags flags,
                                                   ErlNifResourceFlags* tried);
extern ErlNifResourceType* enif_open_resource_type_x(ErlNifEnv* env, const char* name,
                                                     const ErlNifResourceTypeInit* init,
                                                     ErlNifResourceFlags flags, ErlNifResourceFlags* tried);
extern ErlNifResourceType* enif_init_resource_type(ErlNifEnv* env, const char* name,
                                                   const ErlNifResourceTypeInit* init,
                                                   ErlNifResourceFlags flags, ErlNifResourceFlags* tried);
extern void* enif_alloc_resource(ErlNifResourceType* type, size_t size);
extern void enif_keep_resource(void* obj);
extern void enif_release_resource(void* obj);
extern size_t enif_sizeof_resource(void* obj);
extern ERL_NIF_TERM enif_make_resource(ErlNifEnv* env, void* obj);
extern int enif_get_resource(ErlNifEnv* env, ERL_NIF_TERM term, ErlNifResourceType* type, void** objp);
extern ERL_NIF_TERM enif_make_resource_binary(ErlNifEnv* env, void* obj, const void* data, size_t size);
extern int enif_dynamic_resource_call(ErlNifEnv* env, ERL_NIF_TERM module, ERL_NIF_TERM name,
                                      ERL_NIF_TERM rsrc, void* call_data);
extern int enif_monitor_process(ErlNifEnv* env, void* obj, const ErlNifPid* target, ErlNifMonitor* monitor);
extern int enif_demonitor_process(ErlNifEnv* env, void* obj, const ErlNifMonitor* monitor);
extern int enif_compare_monitors(const ErlNifMonitor* monitor1, const ErlNifMonitor* monitor2);
extern ERL_NIF_TERM enif_make_monitor_term(ErlNifEnv* env, const ErlNifMonitor* monitor);

extern int enif_select(ErlNifEnv* env, ErlNifEvent e, enum ErlNifSelectFlags flags, void* obj,
                       const ErlNifPid* pid, ERL_NIF_TERM ref);
extern int enif_select_x(ErlNifEnv* env, ErlNifEvent e, enum ErlNifSelectFlags flags, void* obj,
                         const ErlNifPid* pid, ERL_NIF_TERM msg, ErlNifEnv* msg_env);
#define enif_select_read(ENV, E, OBJ, PID, MSG, MSG_ENV)                                                     \
  enif_select_x(ENV, E, (enum ErlNifSelectFlags)(ERL_NIF_SELECT_READ | ERL_NIF_SELECT_CUSTOM_MSG), OBJ, PID, \
                MSG, MSG_ENV)
#define enif_select_write(ENV, E, OBJ, PID, MSG, MSG_ENV)                                                \
  enif_select_x(ENV, E, (enum ErlNifSelectFlags)(ERL_NIF_SELECT_WRITE | ERL_NIF_SELECT_CUSTOM_MSG), OBJ, \
                PID, MSG, MSG_ENV)
#define enif_select_error(ENV, E, OBJ, PID, MSG, MSG_ENV)                                                \
  enif_select_x(ENV, E, (enum ErlNifSelectFlags)(ERL_NIF_SELECT_ERROR | ERL_NIF_SELECT_CUSTOM_MSG), OBJ, \
                PID, MSG, MSG_ENV)

/* ---- Processes and scheduling ---- */

extern ErlNifPid* enif_self(ErlNifEnv* env, ErlNifPid* pid);
extern void enif_set_pid_undefined(ErlNifPid* pid);
extern int enif_is_pid_undefined(const ErlNifPid* pid);
#define enif_compare_pids(PID1, PID2) enif_compare((PID1)->pid, (PID2)->pid)
extern int enif_whereis_pid(ErlNifEnv* env, ERL_NIF_TERM name, ErlNifPid* pid);
extern int enif_whereis_port(ErlNifEnv* env, ERL_NIF_TERM name, ErlNifPort* port);
extern int enif_is_process_alive(ErlNifEnv* env, ErlNifPid* pid);
extern int enif_is_current_process_alive(ErlNifEnv* env);
extern int enif_is_port_alive(ErlNifEnv* env, ErlNifPort* port_id);
/* Any thread. env: the caller's; NULL in threads that the library has started. msg_env is cleared
   when the message was sent; NULL: msg is copied. */
extern int enif_send(ErlNifEnv* env, const ErlNifPid* to_pid, ErlNifEnv* msg_env, ERL_NIF_TERM msg);
/* Like port_command/2, but never waits for a busy port. env: the calling process's. msg may belong
   to any environment, which the caller keeps. */
extern int enif_port_command(ErlNifEnv* env, const ErlNifPort* to_port, ErlNifEnv* msg_env, ERL_NIF_TERM msg);
extern int enif_consume_timeslice(ErlNifEnv* env, int percent);
extern ERL_NIF_TERM enif_schedule_nif(ErlNifEnv* env, const char* fun_name, int flags,
                                      ERL_NIF_TERM (*fp)(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]),
                                      int argc, const ERL_NIF_TERM argv[]);
extern int enif_thread_type(void);

/* ---- Threads and locks ---- */

extern ErlNifMutex* enif_mutex_create(char* name);
extern void enif_mutex_destroy(ErlNifMutex* mtx);
extern int enif_mutex_trylock(ErlNifMutex* mtx);
extern void enif_mutex_lock(ErlNifMutex* mtx);
extern void enif_mutex_unlock(ErlNifMutex* mtx);
extern char* enif_mutex_name(ErlNifMutex* mtx);
extern ErlNifCond* enif_cond_create(char* name);
extern void enif_cond_destroy(ErlNifCond* cnd);
extern void enif_cond_signal(ErlNifCond* cnd);
extern void enif_cond_broadcast(ErlNifCond* cnd);
extern void enif_cond_wait(ErlNifCond* cnd, ErlNifMutex* mtx);
extern char* enif_cond_name(ErlNifCond* cnd);
extern ErlNifRWLock* enif_rwlock_create(char* name);
extern void enif_rwlock_destroy(ErlNifRWLock* rwlck);
extern int enif_rwlock_tryrlock(ErlNifRWLock* rwlck);
extern void enif_rwlock_rlock(ErlNifRWLock* rwlck);
extern void enif_rwlock_runlock(ErlNifRWLock* rwlck);
extern int enif_rwlock_tryrwlock(ErlNifRWLock* rwlck);
extern void enif_rwlock_rwlock(ErlNifRWLock* rwlck);
extern void enif_rwlock_rwunlock(ErlNifRWLock* rwlck);
extern char* enif_rwlock_name(ErlNifRWLock* rwlck);
extern int enif_tsd_key_create(char* name, ErlNifTSDKey* key);
extern void enif_tsd_key_destroy(ErlNifTSDKey key);
extern void enif_tsd_set(ErlNifTSDKey key, void* data);
extern void* enif_tsd_get(ErlNifTSDKey key);
extern ErlNifThreadOpts* enif_thread_opts_create(char* name);
extern void enif_thread_opts_destroy(ErlNifThreadOpts* opts);
extern int enif_thread_create(char* name, ErlNifTid* tid, void* (*func)(void*), void* args,
                              ErlNifThreadOpts* opts);
extern ErlNifTid enif_thread_self(void);
extern int enif_equal_tids(ErlNifTid tid1, ErlNifTid tid2);
extern void enif_thread_exit(void* resp);
extern int enif_thread_join(ErlNifTid tid, void** respp);
extern char* enif_thread_name(ErlNifTid tid);

/* ---- System, time, text ---- */

extern void enif_system_info(ErlNifSysInfo* sip, size_t si_size);
/* Since 2.17; 0, or an error number. */
extern int enif_set_option(ErlNifEnv* env, ErlNifOption opt, ...);
extern int enif_getenv(const char* key, char* value, size_t* value_size);
extern ErlNifTime enif_monotonic_time(ErlNifTimeUnit unit);
extern ErlNifTime enif_time_offset(ErlNifTimeUnit unit);
extern ErlNifTime enif_convert_time_unit(ErlNifTime val, ErlNifTimeUnit from, ErlNifTimeUnit to);
extern ERL_NIF_TERM enif_now_time(ErlNifEnv* env);
extern ERL_NIF_TERM enif_cpu_time(ErlNifEnv* env);
/* Like printf, with %T for a term. */
extern int enif_fprintf(FILE* filep, const char* format, ...);
extern int enif_vfprintf(FILE* filep, const char* format, va_list ap);
extern int enif_snprintf(char* buffer, size_t size, const char* format, ...);
extern int enif_vsnprintf(char* buffer, size_t size, const char* format, va_list ap);

/* ---- The library itself ---- */

#define ERL_NIF_INIT_EXPORT __attribute__((visibility("default")))
#ifdef __cplusplus
#define ERL_NIF_INIT_LINKAGE extern "C"
#else
#define ERL_NIF_INIT_LINKAGE
#endif

/* A library of several files needs this on Windows, except in the file with ERL_NIF_INIT. */
#define ERL_NIF_INIT_GLOB

/* NAME: the module, unquoted. Makes nif_init, which erlang:load_nif/2 looks for. */
#define ERL_NIF_INIT(NAME, FUNCS, LOAD, RELOAD, UPGRADE, UNLOAD)         \
  ERL_NIF_INIT_LINKAGE ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void);  \
  ERL_NIF_INIT_LINKAGE ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void) { \
    static ErlNifEntry entry = {ERL_NIF_MAJOR_VERSION,                   \
                                ERL_NIF_MINOR_VERSION,                   \
                                #NAME,                                   \
                                (int)(sizeof(FUNCS) / sizeof(FUNCS[0])), \
                                FUNCS,                                   \
                                LOAD,                                    \
                                RELOAD,                                  \
                                UPGRADE,                                 \
                                UNLOAD,                                  \
                                ERL_NIF_VM_VARIANT,                      \
                                1,                                       \
                                sizeof(ErlNifResourceTypeInit),          \
                                ERL_NIF_MIN_ERTS_VERSION};               \
    return &entry;                                                       \
  }

#ifdef __cplusplus
}
#endif

#endif
