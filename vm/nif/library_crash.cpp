// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/library_crash.hpp"

#include <dlfcn.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "vm/base/fatal_signal.hpp"
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/term/print.hpp"

// The handler finds the library by unwinding: the outermost frame in a watched library is the
// function that the machine has called. The handler runs in a process that is dying, so it may use
// functions that signal handlers otherwise may not; a second signal ends the process at once.

namespace vmrun {
namespace {

/// It is never freed, since a crash may come at any time. There is one for each address at which a
/// library has ever been, and one text for each library.
struct Watched {
  const void* base;
  std::atomic<const std::string*> what;
  Watched* next;
};
std::atomic<Watched*> watched{nullptr};

const void* base_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

Watched* library_at(const void* address) {
  const void* base = base_of(address);
  for (Watched* w = watched.load(std::memory_order_acquire); w; w = w->next)
    if (w->base == base) return w;
  return nullptr;
}

/// Returns the native function of that library with the highest start below the address.
const NifFunction* function_near(const void* address, const void* base) {
  const NifFunction* found = nullptr;
  for (std::uint32_t n = 1; n < nif_function_count(); ++n) {
    const NifFunction& f = nif_functions[n];
    const auto* start = reinterpret_cast<const void*>(f.fn);
    if (start && start <= address && (!found || start > reinterpret_cast<const void*>(found->fn)) &&
        base_of(start) == base)
      found = &f;
  }
  return found;
}

/// What unwinding has found: the foreign library that was entered last, and the address in it that
/// the machine has called.
struct CrashSite {
  const Watched* library = nullptr;
  const void* outermost = nullptr;
};

/// Called for each frame, innermost first. A thread that ran out of stack has hundreds of
/// thousands.
_Unwind_Reason_Code look_at(_Unwind_Context* context, void* argument) {
  CrashSite& site = *static_cast<CrashSite*>(argument);
  const auto* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (const Watched* w = library_at(address)) {
    site = {w, address};
  } else if (site.library) {
    return _URC_END_OF_STACK;
  }
  return _URC_NO_REASON;
}

bool report(const FatalSignal& signal) {
  CrashSite site;
  _Unwind_Backtrace(look_at, &site);
  const Watched* library = site.library;
  if (!library) return false;
  char text[1024];
  BoundedText out(text, sizeof text);
  out.put("vmrun: ");
  out.put(*library->what.load(std::memory_order_acquire));
  char how[128];
  out.put(" ");
  out.put(signal.text(how, sizeof how));
  if (const NifFunction* f = function_near(site.outermost, library->base)) {
    out.put(" in ");
    print_mfa(out, f->entry->module, f->entry->function, f->arity);
  }
  out.put("\n");
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, out.text().size());
  return true;
}

_Unwind_Reason_Code end_at_once(_Unwind_Context*, void*) { return _URC_END_OF_STACK; }

void install() {
  _Unwind_Backtrace(end_at_once, nullptr);  // prepares what it needs while memory can still be allocated
  on_fatal_signal(report);
}

}  // namespace

void watch_native_library(const void* address, const std::string& what) {
  static std::once_flag once;
  std::call_once(once, install);
  static std::mutex mutex;
  static auto& texts = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  const std::string* text = &*texts.insert(what).first;
  // The releases pair with the loads of a handler that interrupts this or another thread.
  if (Watched* w = library_at(address)) w->what.store(text, std::memory_order_release);
  else
    watched.store(new Watched{base_of(address), text, watched.load(std::memory_order_relaxed)},
                  std::memory_order_release);
}

}  // namespace vmrun
