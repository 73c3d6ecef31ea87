// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/code/native_env.hpp"

/// What is kept of a loaded library of native functions (library.hpp loads and retires them).
namespace vmrun {

struct NifLibrary {
  std::string path;
  Term module;
  void* handle = nullptr;  // of a file; nullptr if linked in
  ErlNifEntry* entry = nullptr;
  void* data = nullptr;                  // priv_data
  std::vector<std::uint32_t> functions;  // their numbers
  std::atomic<Word> references{1};       // one for the module; and see retain_library
  // References to the record itself: one while there are `references`, one while a process may be
  // in code that names it.
  std::atomic<unsigned> holders{2};
  // Options (enif_set_option), set while load or upgrade runs.
  bool is_loading = false;
  bool delays_halt = false;
  ErlNifOnHaltCallback* on_halt = nullptr;
  ErlNifOnUnloadThreadCallback* on_unload_thread = nullptr;
};

/// From here on the library is told when the machine halts; until it is taken out.
void listen_for_halt(NifLibrary* library);
void stop_listening_for_halt(NifLibrary* library);

/// Calls the libraries that listen. Called by the main thread at the end of a machine that flushes.
void tell_libraries_of_halt();

/// While something else than its module needs a library's code: resources with callbacks, functions
/// on dirty schedulers. The last release calls unload and closes the file. Any thread.
void retain_library(NifLibrary* library);
void release_library(NifLibrary* library);
/// One holder of the record less.
void drop_library_record(NifLibrary* library);

}  // namespace vmrun
