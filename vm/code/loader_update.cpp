// SPDX-License-Identifier: Apache-2.0
#include "vm/code/loading.hpp"

/// Tuples copied with some elements changed. Compilers write R#r{a = 1} as a fetch of each element
/// that stays, a test for room, and a new tuple of the fetched elements. One instruction copies
/// those elements without the detour through registers, so their fetches are left out, unless the
/// registers are used later, or by a collection in between.
namespace vmrun {
namespace {

/// How many instructions are examined for uses of a register.
constexpr unsigned kFarthest = 16;

bool is_x(const Arg& a, Word x) { return a.is_x() && a.value == x; }

bool any_is_x(const Arg* from, const Arg* end, Word x) {
  while (from != end && !is_x(*from, x)) ++from;
  return from != end;
}

}  // namespace

/// The fetches from one tuple by neighbouring instructions.
struct Loader::Fetches {
  struct Fetch {
    Word index, x;
    bool left_out;
  };
  std::vector<Fetch> all;

  /// Returns the fetch that wrote the register last; nullptr: none of these did.
  Fetch* writer_of(const Arg& a) {
    for (std::size_t i = a.is_x() ? all.size() : 0; i-- > 0;)
      if (all[i].x == a.value) return &all[i];
    return nullptr;
  }
};

/// Whether an instruction from `from` on may use the register's present value. In doubt, true.
bool Loader::needed(Word x, std::size_t from) const {
  for (std::size_t k = from; k < f_.code.size() && k < from + kFarthest; ++k) {
    const Arg* a = f_.args(f_.code[k]);
    switch (f_.code[k].opcode) {
      case generic::k_label:
      case generic::k_line:
      case generic::k_deallocate:
      case generic::k_trim: break;
      case generic::k_move:
      case generic::k_get_hd:
      case generic::k_get_tl:
        if (is_x(a[0], x)) return true;
        if (is_x(a[1], x)) return false;
        break;
      case generic::k_get_tuple_element:
        if (is_x(a[0], x)) return true;
        if (is_x(a[2], x)) return false;
        break;
      case generic::k_put_list:
        if (any_is_x(a, a + 2, x)) return true;
        if (is_x(a[2], x)) return false;
        break;
      case generic::k_put_tuple2:
        if (any_is_x(members(a[1]), members(a[1]) + a[1].count, x)) return true;
        if (is_x(a[0], x)) return false;
        break;
      // A collection looks at all registers that are said to be live.
      case generic::k_test_heap:
      case generic::k_allocate:
        if (x < a[1].value) return true;
        return false;
      case generic::k_call:
      case generic::k_call_only:
      case generic::k_call_last:
      case generic::k_call_ext:
      case generic::k_call_ext_only:
      case generic::k_call_ext_last: return x < a[0].value;
      case generic::k_return: return x == 0;
      default: return true;
    }
  }
  return true;
}

/// Translates, from a fetch on: fetches of elements of one tuple, a test for room, and a new tuple
/// with at least two of them at their former places. Returns false and emits nothing if the code is
/// not that.
bool Loader::copied_tuple(const Arg* a) {
  const auto opcode = [&](std::size_t k) { return k < f_.code.size() ? f_.code[k].opcode : 0; };
  const Arg& src = a[0];
  Fetches fetches;
  std::size_t k = at_;
  bool tuple_lost = false;
  for (; opcode(k) == generic::k_get_tuple_element && !tuple_lost; ++k) {
    const Arg* b = f_.args(f_.code[k]);
    if (!(b[0] == src) || !b[2].is_x()) return false;
    fetches.all.push_back({b[1].value, b[2].value, false});
    tuple_lost = b[2] == src;
  }
  const Arg* const room = opcode(k) == generic::k_test_heap ? f_.args(f_.code[k++]) : nullptr;
  if (fetches.all.size() < 2 || opcode(k) != generic::k_put_tuple2 || !is_register(src)) return false;
  const Arg* const tuple = f_.args(f_.code[k]);
  const Arg* const elements = members(tuple[1]);

  // Finds the elements that stay, and which of them are not used in their registers.
  Word same = 0;
  std::vector<ListWord> pairs;
  for (Word i = 0; i < tuple[1].count; ++i) {
    if (!is_source(elements[i])) return false;
    Fetches::Fetch* const fetch = fetches.writer_of(elements[i]);
    if (fetch && fetch->index == i) {
      same = i + 1;
      fetch->left_out = is_x(tuple[0], fetch->x) || !needed(fetch->x, k + 1);
    } else {
      pairs.push_back({i + 1});
      pairs.push_back({any(elements[i])});
    }
  }
  for (Word i = 0; i < tuple[1].count; ++i)
    if (Fetches::Fetch* const fetch = fetches.writer_of(elements[i]))
      if (fetch->index != i) fetch->left_out = false;

  // A fetch that is left out leaves an old value in its register, which a collection must not see.
  Word live = 0;
  if (room) {
    if (src.is_x() && src.value >= room[1].value) return false;
    for (Word x = 0; x < room[1].value; ++x) {
      const Fetches::Fetch* const fetch = fetches.writer_of({Arg::Kind::kX, x});
      if (!fetch || !fetch->left_out || is_x(src, x)) live = x + 1;
    }
    for (Fetches::Fetch& fetch : fetches.all)
      if (fetch.x < live && !is_x(src, fetch.x)) fetch.left_out = false;
  }
  Word left_out = 0;
  for (const Fetches::Fetch& fetch : fetches.all) {
    left_out += fetch.left_out;
    if (!fetch.left_out && is_x(src, fetch.x)) return false;
  }
  if (left_out < 2) return false;

  for (const Fetches::Fetch& fetch : fetches.all)
    if (!fetch.left_out)
      e_.emit(Family::get_tuple_element, {operand(src), number(fetch.index + 1), Operand::x(fetch.x)});
  if (room) e_.emit(Family::test_heap, {number(live), need(heap_words(room[0]))});
  e_.emit(Family::update_tuple,
          {operand(tuple[0]), operand(src), number(tuple_header(tuple[1].count)), number(same)}, pairs);
  at_ = k;
  return true;
}

}  // namespace vmrun
