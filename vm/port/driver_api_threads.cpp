// SPDX-License-Identifier: Apache-2.0
// Functions for drivers: threads, locks, thread-specific data.

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <vector>

#include "vm/base/affinity.hpp"
#include "vm/include/erl_driver.h"

struct ErlDrvMutex_ {
  std::mutex lock;
  std::string name;
};
struct ErlDrvCond_ {
  std::condition_variable condition;
  std::string name;
};
struct ErlDrvRWLock_ {
  std::shared_mutex lock;
  std::string name;
};
/// A thread that a driver has started, or any other thread that has asked for its identity.
struct ErlDrvTid_ {
  pthread_t thread{};
  std::string name;
  void* (*function)(void*) = nullptr;  // nullptr: not started by a driver
  void* argument = nullptr;
};

namespace {

std::string name_or_nothing(const char* name) { return name ? name : ""; }
char* text(std::string& name) { return name.data(); }

thread_local ErlDrvTid own_thread = nullptr;
/// The identity of a thread that no driver has started. It lives as long as the thread.
thread_local ErlDrvTid_ foreign_thread;

// Thread-specific data. A key is an index. A key that has been given back is reused with a new
// generation, so that old values are not seen.
struct Key {
  bool used = false;
  unsigned generation = 0;
};
struct Value {
  void* data = nullptr;
  unsigned generation = 0;
};
std::mutex keys_lock;
std::vector<Key> keys;
constexpr int kMaxKeys = 1 << 16;
thread_local std::vector<Value> values;

unsigned generation_of(ErlDrvTSDKey key) {
  std::lock_guard guard(keys_lock);
  const auto i = static_cast<std::size_t>(key);
  return key >= 0 && i < keys.size() && keys[i].used ? keys[i].generation : 0;
}

void* start_thread(void* tid) {
  vmrun::drop_inherited_binding();
  own_thread = static_cast<ErlDrvTid>(tid);
  return own_thread->function(own_thread->argument);
}

}  // namespace

extern "C" {

// ---- Mutexes, condition variables, read-write locks ---------------------------------------------

ErlDrvMutex* erl_drv_mutex_create(char* name) {
  auto* mutex = new (std::nothrow) ErlDrvMutex;
  if (mutex) mutex->name = name_or_nothing(name);
  return mutex;
}
void erl_drv_mutex_destroy(ErlDrvMutex* mtx) { delete mtx; }
int erl_drv_mutex_trylock(ErlDrvMutex* mtx) { return mtx->lock.try_lock() ? 0 : EBUSY; }
void erl_drv_mutex_lock(ErlDrvMutex* mtx) { mtx->lock.lock(); }
void erl_drv_mutex_unlock(ErlDrvMutex* mtx) { mtx->lock.unlock(); }
char* erl_drv_mutex_name(ErlDrvMutex* mtx) { return mtx ? text(mtx->name) : nullptr; }

ErlDrvCond* erl_drv_cond_create(char* name) {
  auto* condition = new (std::nothrow) ErlDrvCond;
  if (condition) condition->name = name_or_nothing(name);
  return condition;
}
void erl_drv_cond_destroy(ErlDrvCond* cnd) { delete cnd; }
void erl_drv_cond_signal(ErlDrvCond* cnd) { cnd->condition.notify_one(); }
void erl_drv_cond_broadcast(ErlDrvCond* cnd) { cnd->condition.notify_all(); }
void erl_drv_cond_wait(ErlDrvCond* cnd, ErlDrvMutex* mtx) {
  std::unique_lock held(mtx->lock, std::adopt_lock);
  cnd->condition.wait(held);
  held.release();
}
char* erl_drv_cond_name(ErlDrvCond* cnd) { return cnd ? text(cnd->name) : nullptr; }

ErlDrvRWLock* erl_drv_rwlock_create(char* name) {
  auto* lock = new (std::nothrow) ErlDrvRWLock;
  if (lock) lock->name = name_or_nothing(name);
  return lock;
}
void erl_drv_rwlock_destroy(ErlDrvRWLock* rwlck) { delete rwlck; }
int erl_drv_rwlock_tryrlock(ErlDrvRWLock* rwlck) { return rwlck->lock.try_lock_shared() ? 0 : EBUSY; }
void erl_drv_rwlock_rlock(ErlDrvRWLock* rwlck) { rwlck->lock.lock_shared(); }
void erl_drv_rwlock_runlock(ErlDrvRWLock* rwlck) { rwlck->lock.unlock_shared(); }
int erl_drv_rwlock_tryrwlock(ErlDrvRWLock* rwlck) { return rwlck->lock.try_lock() ? 0 : EBUSY; }
void erl_drv_rwlock_rwlock(ErlDrvRWLock* rwlck) { rwlck->lock.lock(); }
void erl_drv_rwlock_rwunlock(ErlDrvRWLock* rwlck) { rwlck->lock.unlock(); }
char* erl_drv_rwlock_name(ErlDrvRWLock* rwlck) { return rwlck ? text(rwlck->name) : nullptr; }

// ---- Thread-specific data -----------------------------------------------------------------------

int erl_drv_tsd_key_create(char* name, ErlDrvTSDKey* key) {
  if (!key) return EINVAL;
  std::lock_guard guard(keys_lock);
  std::size_t i = 0;
  while (i < keys.size() && keys[i].used) ++i;
  if (i == kMaxKeys) return EAGAIN;
  if (i == keys.size()) keys.emplace_back();
  keys[i].used = true;
  ++keys[i].generation;
  *key = static_cast<ErlDrvTSDKey>(i);
  return 0;
}

void erl_drv_tsd_key_destroy(ErlDrvTSDKey key) {
  std::lock_guard guard(keys_lock);
  if (key >= 0 && static_cast<std::size_t>(key) < keys.size())
    keys[static_cast<std::size_t>(key)].used = false;
}

void erl_drv_tsd_set(ErlDrvTSDKey key, void* data) {
  const unsigned generation = generation_of(key);
  if (generation == 0) return;
  const auto i = static_cast<std::size_t>(key);
  if (values.size() <= i) values.resize(i + 1);
  values[i] = {data, generation};
}

void* erl_drv_tsd_get(ErlDrvTSDKey key) {
  const auto i = static_cast<std::size_t>(key);
  if (key < 0 || i >= values.size() || !values[i].data) return nullptr;
  return values[i].generation == generation_of(key) ? values[i].data : nullptr;
}

// ---- Threads ------------------------------------------------------------------------------------

ErlDrvThreadOpts* erl_drv_thread_opts_create(char* name) { return new (std::nothrow) ErlDrvThreadOpts{-1}; }
void erl_drv_thread_opts_destroy(ErlDrvThreadOpts* opts) { delete opts; }

int erl_drv_thread_create(char* name, ErlDrvTid* tid, void* (*func)(void*), void* args,
                          ErlDrvThreadOpts* opts) {
  if (!tid || !func) return EINVAL;
  auto* thread = new (std::nothrow) ErlDrvTid_;
  if (!thread) return ENOMEM;
  thread->name = name_or_nothing(name);
  thread->function = func;
  thread->argument = args;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = 0;
  if (opts && opts->suggested_stack_size >= 0) {
    constexpr std::size_t kLeastKilowords = 16;
    const auto kilowords = static_cast<std::size_t>(opts->suggested_stack_size);
    error = pthread_attr_setstacksize(
        &attributes, (kilowords < kLeastKilowords ? kLeastKilowords : kilowords) * 1024 * sizeof(void*));
  }
  // Written before the new thread can read it; pthread_create stores the number again.
  *tid = thread;
  if (error == 0) error = pthread_create(&thread->thread, &attributes, start_thread, thread);
  pthread_attr_destroy(&attributes);
  if (error) {
    *tid = nullptr;
    delete thread;
  }
  return error;
}

char* erl_drv_thread_name(ErlDrvTid tid) { return tid ? text(tid->name) : nullptr; }

ErlDrvTid erl_drv_thread_self(void) {
  if (!own_thread) {
    foreign_thread.thread = pthread_self();
    own_thread = &foreign_thread;
  }
  return own_thread;
}

int erl_drv_equal_tids(ErlDrvTid tid1, ErlDrvTid tid2) { return tid1 == tid2; }

void erl_drv_thread_exit(void* resp) {
  // Only a thread that a driver has started may end like this; a scheduler must not.
  if (own_thread && own_thread->function) pthread_exit(resp);
}

int erl_drv_thread_join(ErlDrvTid tid, void** respp) {
  if (!tid || !tid->function) return EINVAL;
  const int error = pthread_join(tid->thread, respp);
  if (error == 0) delete tid;
  return error;
}

}  // extern "C"
