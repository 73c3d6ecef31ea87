#pragma once
// The stack frames of a function: each has an allocate instruction, and frames that meet at a join
// are one. How large they are, and which of their slots must be initialised, is known only when all
// code is there: until then instructions name a frame by its number. One function; one thread.

#include <vector>

#include "runtime/compile/emit/asm.hpp"
#include "runtime/compile/ssa/ssa.hpp"

namespace vmrun::compile {

inline void grow(std::vector<bool>& v, std::size_t n) {
  if (v.size() < n) v.resize(n);
}

class Frames {
 public:
  /// The frame at the present point, kNone without one.
  std::uint32_t current() const { return current_; }
  void set_current(std::uint32_t frame) { current_ = frame; }
  bool open_now() const { return current_ != ssa::kNone; }
  /// A new one, which becomes the present one.
  std::uint32_t open();
  /// The present one, if there is one, has this slot.
  void use_slot(std::uint32_t slot);
  /// The stack may be looked at here; `written`: the slots of the present frame that hold
  /// something.
  void walked(const std::vector<bool>& written);
  /// The present one and `other` meet.
  void join(std::uint32_t other);
  /// Puts in the final sizes and initialises what must be.
  void finish(std::vector<AsmInstr>& code);

  /// The lowest y registers are for tags of try and catch, the innermost lowest: that is how the
  /// machine finds it.
  std::uint32_t tag_slots = 0;

 private:
  struct Frame {
    std::uint32_t same_as;  // union-find
    std::uint32_t slots = 0;
    bool seen_collection = false;
    std::vector<bool> written;  // at every collection so far
  };
  std::uint32_t root(std::uint32_t f);

  std::vector<Frame> frames_;
  std::uint32_t current_ = ssa::kNone;
};

}  // namespace vmrun::compile
