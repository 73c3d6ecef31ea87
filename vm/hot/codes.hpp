// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vm/base/epoch.hpp"
#include "vm/base/retired.hpp"
#include "vm/code/made_code.hpp"
#include "vm/hot/area.hpp"
#include "vm/hot/place_in_code.hpp"
#include "vm/hot/refusals.hpp"
#include "vm/term/fun.hpp"

/// The machine code that functions have, and which of them lose it when there is as much as there
/// may be.
///
/// Nothing is counted when code is entered. When the room runs short the oldest codes doze: they
/// stay where they are, but nothing leads to them, so their functions are interpreted and seen at
/// work like others that have no code. One that has been seen often enough wakes, for which nothing
/// has to be compiled, and counts as the youngest. One that has dozed for a second is given back.
/// At most a sixteenth of the room dozes at a time: so no more than that is compiled again in a
/// second, whatever is at work.
namespace vmrun {

class Codes {
 public:
  Codes();
  ~Codes();
  bool ok() const { return area_.ok(); }
  const Area& area() const { return area_; }
  void tell_debuggers() const;  // vm/base/debugger_facts.hpp

  // Everything under the lock of patches.cpp, but place_at.

  /// At most so many bytes of pages are used. Before there is any code.
  void set_limit(std::size_t bytes);
  std::size_t limit() const { return limit_; }
  /// Code for no function; nullptr: there is no memory.
  const std::uint8_t* add_stubs(const HotFunction& made);

  bool contains(const FunctionHeader* f) const { return codes_.contains(f); }
  /// Whether more can be made. Else older ones begin to doze.
  bool has_room();
  /// The function, which nobody has changed, has this code from now on, and loses the one it had.
  /// fun: whose code the function is, or nullptr.
  /// kCount: done, it lies at `place`.
  NoCode add(const FunctionHeader& f, FunEntry* fun, HotFunction& made, const std::uint8_t** place);
  /// The function has been seen at work; if its code dozes, it wakes. False: it has none.
  bool wake(const FunctionHeader* f);
  /// The function has no code any more, nor have those that have it inlined.
  void remove(const FunctionHeader* f);
  /// The functions in whose code this one is inlined.
  std::vector<const FunctionHeader*> inlined_in(const FunctionHeader* f) const;
  /// Likewise; its instructions, which nobody executes any more, are about to go.
  void forget(const FunctionHeader* f);
  /// Frees code that nobody is in any more.
  void reclaim();

  struct Use {
    Word functions, page_bytes, code_bytes, made, given_back, woken;
  };
  Use use() const;

  /// Also in a signal's handler, of a thread that has been interrupted there.
  PlaceInHotCode place_at(const void* pc) const;

 private:
  struct Code;
  using CodeList = std::list<Code*>;

  /// Which code each piece of the area belongs to. A thread that is interrupted there is in the
  /// middle of the code, so it is not freed. Pages that are not used take no memory.
  class Owners {
   public:
    Owners();
    void set(std::size_t offset, std::size_t bytes, const Code* to);
    /// offset: below kAreaBytes.
    const Code* at(std::size_t offset) const;
    const void* pieces() const { return pieces_; }

    static constexpr std::size_t kPiece = 64;  // no two codes share one (area.hpp)

   private:
    std::atomic<const Code*>* pieces_ = nullptr;
  };

  static void lead_to_code(const Code& c);
  static void lead_to_interpreter(const Code& c);
  static void let_go_of_fun(const Code& c);
  CodeList& list_of(const Code& c);
  void lay_to_doze();
  void give_back_dozing();
  void remove(Code* c);
  void remove_those_with(const FunctionHeader* inlined);
  void retire(Code* c);

  Area area_;
  Owners owners_;
  std::size_t limit_, dozing_bytes_ = 0;
  std::unordered_map<const FunctionHeader*, Code*> codes_;
  std::unordered_multimap<const FunctionHeader*, Code*> inlined_in_;  // a function is part of that code
  CodeList awake_, dozing_;                                           // oldest first
  Word full_until_ = 0;  // ns; something that has just been made found no room
  Word made_ = 0, given_back_ = 0, woken_ = 0;
  struct RetiredCodes;
  std::unique_ptr<RetiredCodes> retired_;
};

}  // namespace vmrun
