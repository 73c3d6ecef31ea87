// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/include/erl_nif.h"
#include "vm/process/process.hpp"

/// What a native function gets as ErlNifEnv. There are three kinds:
///   bound to a process   made on the C stack for one call of a native function (or of load,
///                        upgrade); terms are built in the process's heap
///   callback             for destructors, stop, down and dynamic calls: a heap of its own that
///                        ends with the call
///   independent          enif_alloc_env: a heap of its own, until enif_free_env; any thread, one
///                        at a time
/// Terms never move while an environment is in use: nothing native code can call collects (see
/// vm/process/bif.hpp).
namespace vmrun {

struct NifLibrary;
struct Export;

/// Memory that lives as long as the environment: copies of odd binaries, of iolists, of arguments.
struct NifTemporary {
  NifTemporary* next;
  void (*end)(void* argument);  // called when it is freed; may be null
  void* argument;
  alignas(16) unsigned char bytes[8];
};

}  // namespace vmrun

struct enif_environment_t {
  vmrun::Process* process;  // nullptr unless bound to one
  vmrun::Heap* heap;
  vmrun::NifLibrary* library;  // whose code runs; nullptr: not known
  vmrun::NifTemporary* temporaries = nullptr;
  vmrun::Export* next_call = nullptr;  // enif_schedule_nif: what is to run next, with these arguments
  vmrun::Term* next_arguments = nullptr;
  bool raised = false;      // the process's exception is set
  bool unfinished = false;  // one of the fields above is set: see finish_nif
  bool dirty = false;       // on a dirty scheduler
  vmrun::Term tracee;       // in a tracer's callback: the process it is about, if it is one

  enif_environment_t(vmrun::Process* p, vmrun::Heap* h, vmrun::NifLibrary* l)
      : process(p), heap(h), library(l) {}
};

namespace vmrun {

/// Returns memory that lives until the environment's call is over (until an independent one is
/// cleared), or nullptr when memory is exhausted.
void* temporary_memory(ErlNifEnv& env, std::size_t bytes);
/// Calls end(argument) when that memory is freed.
void at_end(ErlNifEnv& env, void (*end)(void*), void* argument);
void free_temporaries(ErlNifEnv& env);

/// The environment of a callback, with its heap.
struct CallbackEnv : ErlNifEnv {
  explicit CallbackEnv(NifLibrary* library) : ErlNifEnv(nullptr, &own_heap, library) {}
  ~CallbackEnv() { free_temporaries(*this); }
  Arena own_heap;
};

inline Term to_term(ERL_NIF_TERM w) { return Term::from_raw(w); }
inline ERL_NIF_TERM from_term(Term t) { return t.raw(); }

}  // namespace vmrun
