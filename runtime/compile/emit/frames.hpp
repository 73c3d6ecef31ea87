// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/compile/emit/asm.hpp"
#include "vm/ir/ssa.hpp"

/// The stack frames of a function: each has an allocate instruction, and frames that meet at a
/// merge point are one. Their sizes, and the slots that must be initialised, are known only when
/// all code is there. Until then instructions name a frame by its number. One function; one thread.
namespace vmrun::compile {

inline void grow(std::vector<bool>& v, std::size_t n) {
  if (v.size() < n) v.resize(n);
}

class Frames {
 public:
  /// The frame at the current point; kNone without one.
  std::uint32_t current() const { return current_; }
  void set_current(std::uint32_t frame) { current_ = frame; }
  bool open_now() const { return current_ != ir::kNone; }
  /// Opens a new frame, which becomes the current one.
  std::uint32_t open();
  /// Records that the current frame, if any, has this slot.
  void use_slot(std::uint32_t slot);
  /// Records that the stack may be walked here. `written`: the slots of the current frame that have
  /// been written.
  void walked(const std::vector<bool>& written);
  /// Records that the current frame and `other` meet.
  void join(std::uint32_t other);
  /// Fills in the final sizes and adds the necessary initialisation.
  void finish(std::vector<AsmInstr>& code);

  /// The lowest y registers are for tags of try and catch, the innermost lowest, because the
  /// machine searches in that order.
  std::uint32_t tag_slots = 0;

 private:
  struct Frame {
    std::uint32_t same_as;  // union-find
    std::uint32_t slots = 0;
    bool seen_collection = false;
    std::vector<bool> written;  // at all collections so far
  };
  std::uint32_t root(std::uint32_t f);

  std::vector<Frame> frames_;
  std::uint32_t current_ = ir::kNone;
};

}  // namespace vmrun::compile
