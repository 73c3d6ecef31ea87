// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "vm/base/word.hpp"

namespace vmrun {

struct FunctionHeader;
struct Module;

/// Functions that wait to be compiled, and the one that is being compiled. One thread compiles. It
/// takes a function's instructions apart under the lock of patches.cpp, compiles without it, and
/// takes it again to put the code in place. What happens to the function meanwhile:
///
/// * An instruction of it, or of a function that is inlined, is changed (a breakpoint, a native
///   function): `changed`. Its code is thrown away.
/// * Its module goes: `forget`. The module stays until the compiler has finished, which deletes it
///   then; so neither its instructions nor its literals go away under the compiler, and who deletes
///   modules does not wait for it. So do other modules, of functions that are inlined.
///
/// Everything under that lock.
class Requests {
 public:
  struct Request {
    const FunctionHeader* function = nullptr;
    const Module* module = nullptr;
  };
  static constexpr std::size_t kMost = 256;

  bool is_full() const { return waiting_.size() >= kMost; }
  /// It waits, or is being compiled.
  bool holds(const FunctionHeader* f) const {
    return f == now_.function || std::ranges::find(waiting_, f, &Request::function) != waiting_.end();
  }
  void add(const Request& r) { waiting_.push_back(r); }
  bool empty() const { return waiting_.empty(); }
  /// Nothing waits, and nothing is being compiled.
  bool idle() const { return waiting_.empty() && !now_.function; }
  std::size_t waiting() const { return waiting_.size(); }

  /// The compiler begins with the oldest one; there is one.
  Request begin() {
    now_ = waiting_.front();
    waiting_.pop_front();
    read_.clear();
    others_.clear();
    left_.clear();
    is_changed_ = false;
    return now_;
  }
  /// It has read that function's instructions, which end there.
  void has_read(const FunctionHeader* f, const Word* end) {
    if (now_.function) read_.emplace_back(reinterpret_cast<const Word*>(f), end);
  }
  /// It reads functions of that module too.
  void reads(const Module* m) {
    if (now_.function) others_.push_back(m);
  }
  struct Outcome {
    bool is_changed;
    std::vector<Module*> left;  // to be deleted by the caller, without the lock
  };
  Outcome end() {
    now_ = {};
    return {is_changed_, std::exchange(left_, {})};
  }

  void changed(const Word* at) {
    if (!now_.function) return;
    for (const auto& [begin, end] : read_) is_changed_ |= at >= begin && at < end;
  }
  /// False: the compiler reads it, and `end` hands it over.
  [[nodiscard]] bool forget(Module& m) {
    std::erase_if(waiting_, [&](const Request& r) { return r.module == &m; });
    if (!now_.function || (now_.module != &m && std::ranges::find(others_, &m) == others_.end())) return true;
    is_changed_ = true;
    left_.push_back(&m);
    return false;
  }

 private:
  std::deque<Request> waiting_;
  Request now_;
  std::vector<std::pair<const Word*, const Word*>> read_;
  std::vector<const Module*> others_;
  std::vector<Module*> left_;
  bool is_changed_ = false;
};

}  // namespace vmrun
