// SPDX-License-Identifier: Apache-2.0
#include "vm/base/thread.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "vm/base/affinity.hpp"
#include "vm/base/allocate.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/signal_stack.hpp"

namespace vmrun {

namespace {
constexpr std::size_t kLongestName = 15;
}

// ---- What threads leave behind ------------------------------------------------------------------

namespace {

/// An object of a thread that is destroyed with it.
struct ThreadObject {
  void (*destroy)(void*);
  void* object;
  ThreadObject* made_before;
};

/// Destroys the calling thread's objects, newest first, and the objects that their destructors
/// make.
void destroy_thread_objects(void* newest) {
  for (auto* o = static_cast<ThreadObject*>(newest); o;) {
    o->destroy(o->object);
    ThreadObject* before = o->made_before;
    free_bytes(o);
    o = before;
  }
}

pthread_key_t thread_objects_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, destroy_thread_objects) != 0) std::abort();
    return made;
  }();
  return key;
}

}  // namespace

}  // namespace vmrun

/// glibc's function, which keeps the library of the object loaded until the object is destroyed.
extern "C" int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);
/// The address of this object identifies the program among the loaded libraries.
extern "C" [[gnu::visibility("hidden")]] void* __dso_handle;

/// The compiler calls this for a thread_local object with a destructor (Itanium C++ ABI, 3.3.6.4).
/// It replaces libstdc++'s function, which asks glibc. glibc aborts when memory is exhausted, and
/// this machine ends with a message instead. A pthread key among the first 32 takes no memory of
/// its own. Libraries with native functions call this function too; glibc handles their objects.
extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  using namespace vmrun;
  if (library != &__dso_handle) return __cxa_thread_atexit_impl(destroy, object, library);
  auto* o = static_cast<ThreadObject*>(allocate_bytes(sizeof(ThreadObject), "an object of a thread"));
  *o = {destroy, object, static_cast<ThreadObject*>(pthread_getspecific(thread_objects_key()))};
  return pthread_setspecific(thread_objects_key(), o);
}

namespace vmrun {

// ---- Threads ------------------------------------------------------------------------------------

std::thread start_thread(std::string name, std::function<void()> body) {
  name.resize(std::min(name.size(), kLongestName));
  return std::thread([name = std::move(name), body = std::move(body)] {
    pthread_setname_np(pthread_self(), name.c_str());
    drop_inherited_binding();
    const SignalStack for_handlers;
    body();
  });
}

std::thread start_needed_thread(std::string name, std::function<void()> body) {
  const std::string called = name;
  try {
    return start_thread(std::move(name), std::move(body));
  } catch (const std::system_error& e) {
    char line[128], slogan[sizeof line];
    const std::string why = called + ": " + e.code().message();
    std::snprintf(slogan, sizeof slogan, "Cannot start the thread %s", why.c_str());
    std::snprintf(line, sizeof line, "vmrun: cannot start the thread %s\n", why.c_str());
    end_for_want(line, slogan);
  }
}

}  // namespace vmrun
