// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/codes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include <sys/mman.h>

#include "vm/base/clock.hpp"
#include "vm/base/debugger_facts.hpp"
#include "vm/code/hot_code.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/machine_code.hpp"
#include "vm/code/patches.hpp"
#include "vm/hot/heating.hpp"
#include "vm/jit/compile_function.hpp"
#include "vm/jit/processor.hpp"

namespace vmrun {
namespace {

using jit::kAreaBytes;
constexpr Word kDozeNs = 1'000'000'000;

Word& word_before(const Word* at) { return const_cast<Word*>(at)[-1]; }

}  // namespace

struct Codes::Code {
  const std::uint8_t* code;
  std::size_t bytes;
  // Which instruction is whose, in the order of offsets: each counts from the one before on.
  struct Place {
    std::uint32_t offset;
    std::int32_t words;  // from the function's header on; another function's if a call of it is inlined
  };
  const FunctionHeader* function;
  FunEntry* fun;          // whose code it is, or nullptr
  const void* fun_entry;  // nullptr: calls of it do not come here
  std::vector<HotFunction::Place> entries;
  std::vector<Place> places;
  std::vector<Place> inlined_calls;  // from there on, in a call that returns there; 0: in none
  std::vector<const FunctionHeader*> inlined;
  CodeList::iterator place_in_list;
  Word dozes_since = 0;  // ns; 0: it is awake
  Code* next_retired = nullptr;
};

struct Codes::RetiredCodes : Retired<Code, &Code::next_retired, epoch_passed_by_code> {};

// ---- Which code is where ------------------------------------------------------------------------

Codes::Owners::Owners() {
  void* const m = mmap(nullptr, kAreaBytes / kPiece * sizeof(Code*), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m != MAP_FAILED) pieces_ = static_cast<std::atomic<const Code*>*>(m);
}

void Codes::Owners::set(std::size_t offset, std::size_t bytes, const Code* to) {
  for (std::size_t i = offset / kPiece; pieces_ && i * kPiece < offset + bytes; ++i)
    pieces_[i].store(to, std::memory_order_release);
}

const Codes::Code* Codes::Owners::at(std::size_t offset) const {
  return pieces_ ? pieces_[offset / kPiece].load(std::memory_order_acquire) : nullptr;
}

PlaceInHotCode Codes::place_at(const void* pc) const {
  const std::size_t offset = area_.offset(pc);
  const Code* const code = offset < kAreaBytes ? owners_.at(offset) : nullptr;
  if (!code) return {};
  const auto in_code = static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(pc) - code->code);
  const auto words_in = [&](const std::vector<Code::Place>& places) {
    const auto next =
        std::ranges::upper_bound(places, in_code, {}, [](const Code::Place& p) { return p.offset; });
    return next == places.begin() ? 0 : std::prev(next)->words;
  };
  const auto* const header = reinterpret_cast<const Word*>(code->function);
  const std::int32_t at = words_in(code->places), returns_to = words_in(code->inlined_calls);
  return {at ? header + at : code->function->entry(), returns_to ? header + returns_to : nullptr};
}

void Codes::tell_debuggers() const {
  add_debugger_fact("machine_code.begin", area_.begin());
  add_debugger_fact("machine_code.bytes", kAreaBytes);
  add_debugger_fact("machine_code.owners", owners_.pieces());  // of each piece: the address of a Code, or 0
  add_debugger_fact("machine_code.piece", Owners::kPiece);
  add_debugger_fact("machine_code.stack_register", jit::kStackNumber);
  add_debugger_fact("Code.code", offsetof(Code, code));
  add_debugger_fact("Code.function", offsetof(Code, function));
  add_debugger_fact("Code.places", offsetof(Code, places));  // a vector of offset, words
  add_debugger_fact("Code.inlined_calls", offsetof(Code, inlined_calls));
  static_assert(sizeof(Code::Place) == 8 && offsetof(Code::Place, words) == 4);
}

// ---- Made and removed ---------------------------------------------------------------------------

Codes::Codes()
    : area_(reinterpret_cast<const void*>(&look_for_heat), kAreaBytes),
      limit_(kAreaBytes),
      retired_(new RetiredCodes) {}

Codes::~Codes() = default;

void Codes::set_limit(std::size_t bytes) { limit_ = std::min(bytes, kAreaBytes); }

const std::uint8_t* Codes::add_stubs(const HotFunction& made) {
  const std::uint8_t* const at = area_.allocate(made.code.size());
  return at && area_.install(at, made.code.data(), made.code.size()) ? at : nullptr;
}

void Codes::lead_to_code(const Code& c) {
  for (const HotFunction::Place& e : c.entries)
    __atomic_store_n(&word_before(e.at), reinterpret_cast<Word>(c.code + e.offset), __ATOMIC_RELEASE);
  if (c.fun && c.fun_entry) c.fun->lead_to_machine_code(c.function->entry(), c.fun_entry);
  for (const HotFunction::Place& e : c.entries)
    operation_word(e.at).store(op::machine_code, std::memory_order_release);
}

/// Under the lock, where alone it comes to lead somewhere.
void Codes::let_go_of_fun(const Code& c) {
  if (const void* expected = c.fun_entry; c.fun && expected)
    c.fun->hot.compare_exchange_strong(expected, nullptr, std::memory_order_seq_cst);
}

void Codes::lead_to_interpreter(const Code& c) {
  let_go_of_fun(c);
  for (const HotFunction::Place& e : c.entries) {
    operation_word(e.at).store(operation_as_it_was(c.code + e.offset), std::memory_order_release);
    const void* const to = e.at == c.function->entry() ? stubs.at_entry : stubs.at_return;
    __atomic_store_n(&word_before(e.at), reinterpret_cast<Word>(to), __ATOMIC_RELEASE);
  }
}

NoCode Codes::add(const FunctionHeader& f, FunEntry* fun, HotFunction& made, const std::uint8_t** place) {
  reclaim();
  const std::uint8_t* const at = area_.allocate(made.code.size());
  if (!at || area_.used() > limit_) {
    if (at) area_.free(at, made.code.size());
    full_until_ = monotonic_ns() + kDozeNs;
    return NoCode::kNoRoom;
  }
  if (const auto former = codes_.find(&f); former != codes_.end()) remove(former->second);
  jit::lead_outward(&made, at);
  for (const HotFunction::Place& e : made.entries) {
    CodePrefix prefix;
    prefix.operation = operation_word(e.at).load(std::memory_order_relaxed);
    std::memcpy(made.code.data() + e.offset - sizeof prefix + offsetof(CodePrefix, operation),
                &prefix.operation, sizeof prefix.operation);
  }
  if (!area_.install(at, made.code.data(), made.code.size())) return NoCode::kNoMemory;
  auto* const code = new Code{at,
                              made.code.size(),
                              &f,
                              fun,
                              made.fun_entry ? at + made.fun_entry : nullptr,
                              std::move(made.entries),
                              {},
                              {},
                              std::move(made.inlined),
                              {}};
  const auto place_of = [&](const HotFunction::Place& p) {
    return Code::Place{p.offset,
                       p.at ? static_cast<std::int32_t>(p.at - reinterpret_cast<const Word*>(&f)) : 0};
  };
  std::ranges::transform(made.places, std::back_inserter(code->places), place_of);
  std::ranges::transform(made.inlined_calls, std::back_inserter(code->inlined_calls), place_of);
  for (const FunctionHeader* const g : code->inlined) inlined_in_.emplace(g, code);
  owners_.set(area_.offset(at), code->bytes, code);
  code->place_in_list = awake_.insert(awake_.end(), code);
  codes_.emplace(&f, code);
  lead_to_code(*code);
  ++made_;
  *place = at;
  return NoCode::kCount;
}

Codes::CodeList& Codes::list_of(const Code& c) { return c.dozes_since ? dozing_ : awake_; }

void Codes::forget(const FunctionHeader* f) {
  if (const auto it = codes_.find(f); it != codes_.end()) retire(it->second);
  remove_those_with(f);
}

void Codes::remove(Code* c) {
  if (!c->dozes_since) lead_to_interpreter(*c);
  retire(c);
}

void Codes::remove(const FunctionHeader* f) {
  if (const auto it = codes_.find(f); it != codes_.end()) remove(it->second);
  remove_those_with(f);
  reclaim();
}

void Codes::remove_those_with(const FunctionHeader* inlined) {
  for (auto it = inlined_in_.find(inlined); it != inlined_in_.end(); it = inlined_in_.find(inlined))
    remove(it->second);
}

std::vector<const FunctionHeader*> Codes::inlined_in(const FunctionHeader* f) const {
  std::vector<const FunctionHeader*> all;
  for (auto [it, end] = inlined_in_.equal_range(f); it != end; ++it) all.push_back(it->second->function);
  return all;
}

void Codes::retire(Code* c) {
  let_go_of_fun(*c);
  codes_.erase(c->function);
  for (const FunctionHeader* const g : c->inlined)
    for (auto [it, end] = inlined_in_.equal_range(g); it != end; ++it)
      if (it->second == c) {
        inlined_in_.erase(it);
        break;
      }
  if (c->dozes_since) dozing_bytes_ -= c->bytes;
  list_of(*c).erase(c->place_in_list);
  retired_->retire(*c);
}

void Codes::reclaim() {
  retired_->stamp();
  retired_->reclaim([this](Code& c) {
    owners_.set(area_.offset(c.code), c.bytes, nullptr);
    area_.free(c.code, c.bytes);
    delete &c;
  });
}

// ---- When the room runs short -------------------------------------------------------------------

bool Codes::has_room() {
  reclaim();
  if (area_.used() > limit_ - limit_ / 8) lay_to_doze();
  if (area_.used() > limit_ - limit_ / 16) give_back_dozing();
  return area_.taken() + limit_ / 32 <= limit_ && (!full_until_ || monotonic_ns() >= full_until_);
}

void Codes::lay_to_doze() {
  const Word now = monotonic_ns();
  while (!awake_.empty() && dozing_bytes_ < limit_ / 16) {
    Code* const c = awake_.front();
    lead_to_interpreter(*c);
    c->dozes_since = now;
    dozing_.splice(dozing_.end(), awake_, c->place_in_list);
    dozing_bytes_ += c->bytes;
  }
}

void Codes::give_back_dozing() {
  const Word now = monotonic_ns();
  while (!dozing_.empty() && now - dozing_.front()->dozes_since >= kDozeNs) {
    Code* const c = dozing_.front();
    retire(c);
    ++given_back_;
    full_until_ = 0;
  }
  reclaim();
}

bool Codes::wake(const FunctionHeader* f) {
  const auto it = codes_.find(f);
  if (it == codes_.end()) return false;
  Code* const c = it->second;
  if (!c->dozes_since) return true;
  awake_.splice(awake_.end(), dozing_, c->place_in_list);
  dozing_bytes_ -= c->bytes;
  c->dozes_since = 0;
  lead_to_code(*c);
  ++woken_;
  return true;
}

Codes::Use Codes::use() const {
  return {codes_.size(), area_.used(), area_.taken(), made_, given_back_, woken_};
}

}  // namespace vmrun
