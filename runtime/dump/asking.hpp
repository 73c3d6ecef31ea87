#pragma once

#include <mutex>
#include <set>

#include "vm/process/process.hpp"

namespace vmrun::dump {

/// Those who wait for their turn are on a dirty scheduler, but do nothing to their heaps meanwhile.
class Asking {
 public:
  explicit Asking(const Process& p) : p_(&p) {
    const std::lock_guard guard(mutex());
    all().insert(p_);
  }
  ~Asking() {
    const std::lock_guard guard(mutex());
    all().erase(p_);
  }
  Asking(const Asking&) = delete;
  static bool asks(const Process& p) {
    const std::lock_guard guard(mutex());
    return all().contains(&p);
  }

 private:
  // Never destroyed: dirty schedulers outlive main.
  static std::mutex& mutex() {
    static std::mutex& m = *new std::mutex;
    return m;
  }
  static std::set<const Process*>& all() {
    static auto& s = *new std::set<const Process*>;
    return s;
  }

  const Process* const p_;
};

}  // namespace vmrun::dump
