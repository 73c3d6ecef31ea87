// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <string>

#include "vm/base/clock.hpp"
#include "vm/code/native_env.hpp"
#include "vm/include/erl_driver.h"
#include "vm/process/bif.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/print.hpp"

// The native interface: threads and their locks, time, environment, formatted text. Most functions
// are those for drivers under another name.

using namespace vmrun;

// ---- Threads ------------------------------------------------------------------------------------

ErlNifMutex* enif_mutex_create(char* name) { return erl_drv_mutex_create(name); }
void enif_mutex_destroy(ErlNifMutex* m) { erl_drv_mutex_destroy(m); }
int enif_mutex_trylock(ErlNifMutex* m) { return erl_drv_mutex_trylock(m); }
void enif_mutex_lock(ErlNifMutex* m) { erl_drv_mutex_lock(m); }
void enif_mutex_unlock(ErlNifMutex* m) { erl_drv_mutex_unlock(m); }
char* enif_mutex_name(ErlNifMutex* m) { return erl_drv_mutex_name(m); }

ErlNifCond* enif_cond_create(char* name) { return erl_drv_cond_create(name); }
void enif_cond_destroy(ErlNifCond* c) { erl_drv_cond_destroy(c); }
void enif_cond_signal(ErlNifCond* c) { erl_drv_cond_signal(c); }
void enif_cond_broadcast(ErlNifCond* c) { erl_drv_cond_broadcast(c); }
void enif_cond_wait(ErlNifCond* c, ErlNifMutex* m) { erl_drv_cond_wait(c, m); }
char* enif_cond_name(ErlNifCond* c) { return erl_drv_cond_name(c); }

ErlNifRWLock* enif_rwlock_create(char* name) { return erl_drv_rwlock_create(name); }
void enif_rwlock_destroy(ErlNifRWLock* l) { erl_drv_rwlock_destroy(l); }
int enif_rwlock_tryrlock(ErlNifRWLock* l) { return erl_drv_rwlock_tryrlock(l); }
void enif_rwlock_rlock(ErlNifRWLock* l) { erl_drv_rwlock_rlock(l); }
void enif_rwlock_runlock(ErlNifRWLock* l) { erl_drv_rwlock_runlock(l); }
int enif_rwlock_tryrwlock(ErlNifRWLock* l) { return erl_drv_rwlock_tryrwlock(l); }
void enif_rwlock_rwlock(ErlNifRWLock* l) { erl_drv_rwlock_rwlock(l); }
void enif_rwlock_rwunlock(ErlNifRWLock* l) { erl_drv_rwlock_rwunlock(l); }
char* enif_rwlock_name(ErlNifRWLock* l) { return erl_drv_rwlock_name(l); }

int enif_tsd_key_create(char* name, ErlNifTSDKey* key) { return erl_drv_tsd_key_create(name, key); }
void enif_tsd_key_destroy(ErlNifTSDKey key) { erl_drv_tsd_key_destroy(key); }
void enif_tsd_set(ErlNifTSDKey key, void* data) { erl_drv_tsd_set(key, data); }
void* enif_tsd_get(ErlNifTSDKey key) { return erl_drv_tsd_get(key); }

ErlNifThreadOpts* enif_thread_opts_create(char* name) { return erl_drv_thread_opts_create(name); }
void enif_thread_opts_destroy(ErlNifThreadOpts* options) { erl_drv_thread_opts_destroy(options); }
int enif_thread_create(char* name, ErlNifTid* tid, void* (*function)(void*), void* argument,
                       ErlNifThreadOpts* options) {
  return erl_drv_thread_create(name, tid, function, argument, options);
}
ErlNifTid enif_thread_self(void) { return erl_drv_thread_self(); }
int enif_equal_tids(ErlNifTid a, ErlNifTid b) { return erl_drv_equal_tids(a, b); }
void enif_thread_exit(void* result) { erl_drv_thread_exit(result); }
int enif_thread_join(ErlNifTid tid, void** result) { return erl_drv_thread_join(tid, result); }
char* enif_thread_name(ErlNifTid tid) { return erl_drv_thread_name(tid); }

// ---- System, time -------------------------------------------------------------------------------

void enif_system_info(ErlNifSysInfo* info, size_t size) { driver_system_info(info, size); }
int enif_getenv(const char* key, char* value, size_t* size) { return erl_drv_getenv(key, value, size); }

namespace {

/// {MegaSeconds, Seconds, MicroSeconds}
ERL_NIF_TERM timestamp(ErlNifEnv* env, Word us) {
  Term* hp = env->heap->alloc(4);
  return from_term(make_tuple(hp, Term::small(static_cast<SWord>(us / 1'000'000'000'000)),
                              Term::small(static_cast<SWord>(us / 1'000'000 % 1'000'000)),
                              Term::small(static_cast<SWord>(us % 1'000'000))));
}

}  // namespace

ErlNifTime enif_monotonic_time(ErlNifTimeUnit unit) {
  return erl_drv_monotonic_time(static_cast<ErlDrvTimeUnit>(unit));
}
ErlNifTime enif_time_offset(ErlNifTimeUnit unit) {
  return erl_drv_time_offset(static_cast<ErlDrvTimeUnit>(unit));
}
ErlNifTime enif_convert_time_unit(ErlNifTime value, ErlNifTimeUnit from, ErlNifTimeUnit to) {
  return erl_drv_convert_time_unit(value, static_cast<ErlDrvTimeUnit>(from), static_cast<ErlDrvTimeUnit>(to));
}

ERL_NIF_TERM enif_now_time(ErlNifEnv* env) { return timestamp(env, unique_now_us()); }
ERL_NIF_TERM enif_cpu_time(ErlNifEnv* env) {
  return timestamp(env, read_clock(CLOCK_PROCESS_CPUTIME_ID) / 1000);
}

// ---- Formatted text: like printf, with %T for a term --------------------------------------------

namespace {

/// One conversion specification in parts: flags, width, precision and length in the form of the C
/// library's printf, with `*` filled in.
struct Conversion {
  std::string text = "%";
  int longs = 0;   // l, ll
  char other = 0;  // h, z, j, t, L
  char type = 0;
};

template <class T>
void append_formatted(std::string& out, const std::string& format, T value) {
  char small[128];
  const int n = std::snprintf(small, sizeof small, format.c_str(), value);
  if (n < 0) return;
  if (static_cast<std::size_t>(n) < sizeof small) {
    out.append(small, static_cast<std::size_t>(n));
    return;
  }
  const std::size_t at = out.size();
  out.resize(at + static_cast<std::size_t>(n) + 1);
  std::snprintf(out.data() + at, static_cast<std::size_t>(n) + 1, format.c_str(), value);
  out.pop_back();
}

/// Arguments are passed by reference everywhere, since a va_list advances as it is read.
struct Arguments {
  va_list list;
};

void append_integer(std::string& out, Conversion& c, Arguments& a) {
  if (c.longs || c.other == 'z' || c.other == 'j' || c.other == 't') {
    const long v = va_arg(a.list, long);
    append_formatted(out, c.text + "l" + c.type, v);
  } else {
    const int v = va_arg(a.list, int);
    append_formatted(out, c.text + (c.other == 'h' ? "h" : "") + c.type, v);
  }
}

void append_conversion(std::string& out, Conversion& c, Arguments& a) {
  switch (c.type) {
    case 'T':
      append_formatted(out, c.text + "s", term_text(to_term(va_arg(a.list, ERL_NIF_TERM))).c_str());
      return;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': return append_integer(out, c, a);
    case 'c': return append_formatted(out, c.text + "c", va_arg(a.list, int));
    case 's': {
      const char* s = va_arg(a.list, const char*);
      return append_formatted(out, c.text + "s", s ? s : "(null)");
    }
    case 'p': return append_formatted(out, c.text + "p", va_arg(a.list, void*));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      if (c.other == 'L') return append_formatted(out, c.text + "L" + c.type, va_arg(a.list, long double));
      return append_formatted(out, c.text + c.type, va_arg(a.list, double));
    case '%': out += '%'; return;
    default:  // unknown: copied as it is
      out += c.text + c.type;
  }
}

std::string formatted(const char* format, Arguments& a) {
  std::string out;
  while (*format) {
    if (*format != '%') {
      out += *format++;
      continue;
    }
    ++format;
    Conversion c;
    for (; *format && std::string_view("-+ #0123456789.*").find(*format) != std::string_view::npos;
         ++format) {
      if (*format == '*') c.text += std::to_string(va_arg(a.list, int));
      else c.text += *format;
    }
    for (; *format && std::string_view("hlzjtLbB").find(*format) != std::string_view::npos; ++format) {
      if (*format == 'l') ++c.longs;
      else c.other = *format;
    }
    if (!*format) break;
    c.type = *format++;
    append_conversion(out, c, a);
  }
  return out;
}

}  // namespace

int enif_vsnprintf(char* buffer, size_t size, const char* format, va_list list) {
  Arguments a;
  va_copy(a.list, list);
  const std::string text = formatted(format, a);
  va_end(a.list);
  if (size) {
    const std::size_t n = text.size() < size ? text.size() : size - 1;
    text.copy(buffer, n);
    buffer[n] = 0;
  }
  return static_cast<int>(text.size());
}

int enif_snprintf(char* buffer, size_t size, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int n = enif_vsnprintf(buffer, size, format, list);
  va_end(list);
  return n;
}

int enif_vfprintf(FILE* file, const char* format, va_list list) {
  Arguments a;
  va_copy(a.list, list);
  const std::string text = formatted(format, a);
  va_end(a.list);
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() ? static_cast<int>(text.size()) : -1;
}

int enif_fprintf(FILE* file, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int n = enif_vfprintf(file, format, list);
  va_end(list);
  return n;
}
