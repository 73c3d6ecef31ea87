// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "vm/base/word.hpp"
#include "vm/term/term.hpp"

/// Why functions that are hot have no machine code.
namespace vmrun {

enum class NoCode : std::uint8_t {
  kArguments,  // it has too many arguments
  kRegisters,  // it uses too many x registers
  kPlaces,     // its values need too many places
  kTooLong,    // it has more code than jumps in it reach
  kWatched,    // it is traced, or has a breakpoint
  kNative,     // a native function, or a debugger, has its place
  kChanged,    // it was changed while it was compiled, or its module went
  kNoRoom,     // there is as much machine code as there may be
  kNoMemory,   // the system gives no memory to be executed
  kTooMany,    // too many functions wait to be compiled
  kNoThread,   // the system gives no thread to compile in
  kCount
};

/// The last ones, newest first, and how many there have been for each reason. Under the caller's
/// lock.
class Refusals {
 public:
  static constexpr std::size_t kMost = 64;
  struct Refusal {
    Term module, function;
    unsigned arity;
    NoCode why;
    bool operator==(const Refusal&) const = default;
  };

  void add(const Refusal& r) {
    ++counts_[static_cast<std::size_t>(r.why)];
    if (const auto known = std::ranges::find(last_, r); known != last_.end()) last_.erase(known);
    else if (last_.size() == kMost) last_.pop_back();
    last_.push_front(r);
  }
  const std::deque<Refusal>& last() const { return last_; }
  using Counts = std::array<Word, static_cast<std::size_t>(NoCode::kCount)>;
  const Counts& counts() const { return counts_; }

 private:
  std::deque<Refusal> last_;
  Counts counts_{};
};

}  // namespace vmrun
