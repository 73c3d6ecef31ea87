/* SPDX-License-Identifier: Apache-2.0 */
/* What a library in C++ has made of a thread_local object with a destructor: the compiler's call,
   by which the library stays until the thread ends. */
#include <erl_nif.h>

extern int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library);
extern void* __dso_handle;

static void destroy(void* object) { (void)object; }

static ERL_NIF_TERM make(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[]) {
  static int object;
  (void)argc, (void)argv;
  return enif_make_int(env, __cxa_thread_atexit(destroy, &object, &__dso_handle));
}

static ErlNifFunc functions[] = {{"make", 0, make, 0}};

ERL_NIF_INIT(thread_objects, functions, 0, 0, 0, 0)
