// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/code_emitter.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::jit {

void Emitter::map_get(const Inst& i) {
  constexpr SWord kTag = Term::kBoxedTag;
  constexpr Word kFlat = MapObject::make_header(MapKind::kFlat, 0, 0).raw();
  const auto args = g_.args_of(i);
  const ValueId map = args[0], key = args[1];
  const bool is_const = g_.is_const(key);
  const Word word = is_const ? g_.imms[key] : 0;
  const bool in_place = at(map).kind == Location::Kind::kRegister &&
                        (is_const ? Term::from_raw(word).is_immed() && word <= 0x7FFFFFFF
                                  : at(key).kind == Location::Kind::kRegister);
  if (!in_place) return call_function(i);
  const Label elsewhere = a_.label(), next = a_.label(), none = a_.label(), end = a_.label();
  const Register m = reg(at(map));
  if (!is_const) {
    a_.test_difference(reg(at(key)), Term::kImmedTag, 3);
    a_.jump_if(Comparison::kNotEqual, elsewhere);
  }
  a_.load(kScratch, m, -kTag);
  a_.test_difference(kScratch, kFlat, 0xFF);
  a_.jump_if(Comparison::kNotEqual, elsewhere);
  a_.load(kScratch2, m, words(1) - kTag);  // how many keys are left
  a_.load(kScratch, m, words(2) - kTag);
  a_.bind(next);
  a_.subtract_one(kScratch2);
  a_.jump_if(Comparison::kBelow, none);
  if (is_const) a_.compare_memory_64(kScratch, kScratch2, words(1) - kTag, static_cast<std::int32_t>(word));
  else a_.compare_memory_64(kScratch, kScratch2, words(1) - kTag, reg(at(key)));
  a_.jump_if(Comparison::kNotEqual, next);
  const Register r = out(i.dst, kScratch);
  a_.load_indexed(r, m, kScratch2, words(3) - kTag);
  done(i.dst, r);
  a_.bind(end);
  static_assert(sizeof(FlatMap) == 3 * sizeof(Word));
  later_.push_back([this, &i, none, elsewhere, end, return_to = return_to_] {
    note_place(i.at, return_to);
    a_.bind(none);
    const Register r = out(i.dst, kScratch);
    a_.move(r, Word{0});
    done(i.dst, r);
    a_.jump(end);
    a_.bind(elsewhere);
    call_function(i);
    a_.jump(end);
  });
}

}  // namespace vmrun::jit
