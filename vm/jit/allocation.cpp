// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/allocation.hpp"

#include <algorithm>
#include <array>

namespace vmrun::jit {
namespace {

/// Blocks whose end goes on elsewhere, by what may follow: the likely one last.
template <class See>
void for_successors(const Block& b, See see) {
  if (b.otherwise != kNone) see(b.otherwise);
  for (std::size_t n = b.cases.size(); n-- > 0;) see(b.cases[n].to);
  if (b.to != kNone) see(b.to);
}

/// Reverse postorder from all entries, without recursion.
std::vector<BlockId> order_of_blocks(const Graph& g) {
  struct Visit {
    BlockId block;
    std::vector<BlockId> next;
    std::size_t at = 0;
  };
  std::vector<bool> seen(g.blocks.size());
  std::vector<BlockId> post;
  std::vector<Visit> stack;
  const auto enter = [&](BlockId id) {
    if (seen[id]) return;
    seen[id] = true;
    Visit v{id, {}};
    for_successors(g.blocks[id], [&](BlockId to) { v.next.push_back(to); });
    stack.push_back(std::move(v));
  };
  for (std::size_t id = g.blocks.size(); id-- > 0;) {
    if (!g.blocks[id].entry) continue;
    enter(static_cast<BlockId>(id));
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.at == top.next.size()) {
        post.push_back(top.block);
        stack.pop_back();
      } else {
        enter(top.next[top.at++]);
      }
    }
  }
  std::ranges::reverse(post);
  return post;
}

/// Where values are does not depend on where code is, so rare code may be anywhere.
std::vector<BlockId> layout_of(const Graph& g, const std::vector<BlockId>& order) {
  std::vector<bool> usual(g.blocks.size());
  for (const BlockId id : order) {
    const Block& b = g.blocks[id];
    if (b.entry) usual[id] = true;
    if (usual[id])
      for_successors(b, [&](BlockId to) {
        if (!g.blocks[to].rare) usual[to] = true;
      });
  }
  std::vector<BlockId> layout = order;
  std::ranges::stable_partition(layout, [&](BlockId id) { return usual[id]; });
  return layout;
}

struct Interval {
  ValueId value;
  std::uint32_t begin, end;
};

class LinearScan {
 public:
  LinearScan(const Graph& g, Allocation* out) : g_(g), out_(*out) {}

  bool run() {
    out_.order = order_of_blocks(g_);
    out_.layout = layout_of(g_, out_.order);
    out_.locations.assign(g_.ops.size(), {});
    begin_.assign(g_.ops.size(), kNone);
    end_.assign(g_.ops.size(), 0);
    hint_.assign(g_.ops.size(), kNoHint);
    comes_from_.assign(g_.ops.size(), kNone);
    number();
    std::vector<Interval> all;
    for (ValueId v = 0; v < g_.ops.size(); ++v)
      if (begin_[v] != kNone && end_[v] > begin_[v]) all.push_back({v, begin_[v], end_[v]});
    std::ranges::sort(all, {}, &Interval::begin);
    for (const Interval& i : all) {
      note_calls_before(i.begin);
      if (!place(i)) return false;
    }
    note_calls_before(kNone);
    return true;
  }

 private:
  static constexpr std::uint8_t kNoHint = 255;
  using Kind = Location::Kind;

  void use(ValueId v, std::uint32_t at) {
    if (v == kNone || g_.is_const(v)) return;
    end_[v] = std::max(end_[v], at);
  }
  void use_exit(ExitId e, std::uint32_t at) {
    if (e == kNone) return;
    for (const Exit::Register& r : g_.exits[e].registers) use(r.value, at);
    for (const Exit::Register& r : g_.exits[e].floats) use(r.value, at);
  }
  void number() {
    std::uint32_t at = 0;
    for (const BlockId id : out_.order) {
      const Block& b = g_.blocks[id];
      at += 2;
      for (const ValueId p : b.params) begin_[p] = at;
      for (const Inst& i : b.code) {
        at += 2;
        for (const ValueId v : g_.args_of(i)) use(v, at);
        use_exit(i.exit, at + 1);  // also behind the result: it is as it was before
        if (i.dst != kNone) begin_[i.dst] = at;
        // Some processors have its operands and results in certain registers.
        if (i.op == Op::kDivide || i.op == Op::kRemainder) divisions_.push_back(at);
        if (i.op == Op::kCall || i.op == Op::kMapGet) calls_.push_back({at, &i});
      }
      at += 2;
      for (std::size_t n = 0; n < b.args.size(); ++n) {
        use(b.args[n], at);
        const bool is_call = b.end == BlockEnd::kCall || b.end == BlockEnd::kCallAt;
        if ((is_call && n < kRegisterArguments) || b.end == BlockEnd::kReturn)
          hint_[b.args[n]] = static_cast<std::uint8_t>(n);
      }
      if (b.end == BlockEnd::kJump)
        for (std::size_t n = 0; n < b.args.size(); ++n)
          if (!g_.is_const(b.args[n])) comes_from_[g_.blocks[b.to].params[n]] = b.args[n];
      use_exit(b.exit, at);
      if (b.entry)
        for (std::size_t n = 0; n < b.params.size(); ++n) hint_[b.params[n]] = static_cast<std::uint8_t>(n);
    }
  }

  /// What is begun by a call's result has been placed before.
  void note_calls_before(std::uint32_t position) {
    for (; noted_calls_ < calls_.size() && calls_[noted_calls_].at < position; ++noted_calls_) {
      const auto& [at, inst] = calls_[noted_calls_];
      const auto registers = [&](const std::vector<Interval>& active) {
        std::uint32_t live = 0;
        for (const Interval& a : active)
          if (a.begin < at && a.end > at) live |= 1u << out_.locations[a.value].number;
        return live;
      };
      out_.live_over[inst] = {registers(active_), registers(active_floats_)};
    }
  }

  bool place(const Interval& i) {
    const bool is_float = g_.is_float(i.value);
    std::vector<Interval>& active = is_float ? active_floats_ : active_;
    std::erase_if(active, [&](const Interval& a) {
      if (a.end > i.begin) return false;
      taken(is_float)[out_.locations[a.value].number] = false;
      return true;
    });
    const int r = is_float ? free_float() : free_general(i);
    if (r >= 0) {
      take(i, is_float, static_cast<std::uint8_t>(r));
      active.push_back(i);
      return true;
    }
    // Whichever is needed last goes to memory.
    const auto last = std::ranges::max_element(active, {}, &Interval::end);
    if (last == active.end() || last->end <= i.end || forbidden(i) >> out_.locations[last->value].number & 1)
      return spill(i);
    const Location freed = out_.locations[last->value];
    if (!spill(*last)) return false;
    out_.locations[i.value] = freed;
    *last = i;
    return true;
  }
  void take(const Interval& i, bool is_float, std::uint8_t r) {
    taken(is_float)[r] = true;
    out_.locations[i.value] = {is_float ? Kind::kFloat : Kind::kRegister, r};
  }
  /// The whole interval is in the slot, also what has been gone through of it. So no slot has two
  /// values.
  bool spill(const Interval& i) {
    if (slot_count_ == kSlots) return false;
    out_.locations[i.value] = {Kind::kSlot, slot_count_++};
    return true;
  }

  std::span<bool> taken(bool is_float) {
    return is_float ? std::span<bool>(float_taken_) : std::span<bool>(taken_);
  }

  unsigned forbidden(const Interval& i) const {
    for (const std::uint32_t at : divisions_)
      if (i.begin < at && at < i.end) return kDivisionChanges;
    return 0;
  }
  int free_general(const Interval& i) const {
    const unsigned not_these = forbidden(i);
    const auto is_free = [&](unsigned r) { return !taken_[r] && !(not_these >> r & 1); };
    if (const std::uint8_t h = hint_[i.value]; h != kNoHint && is_free(h)) return h;
    if (const ValueId from = comes_from_[i.value]; from != kNone) {
      const Location l = out_.locations[from];
      if (l.kind == Kind::kRegister && is_free(l.number)) return l.number;
    }
    for (unsigned r = kGeneral; r-- > 0;)
      if (is_free(r)) return static_cast<int>(r);
    return -1;
  }
  int free_float() const {
    const auto it = std::ranges::find(float_taken_, false);
    return it == float_taken_.end() ? -1 : static_cast<int>(it - float_taken_.begin());
  }

  const Graph& g_;
  Allocation& out_;
  std::vector<std::uint32_t> begin_, end_;  // by value
  std::vector<std::uint8_t> hint_;          // by value: the general register that it is wanted in next
  std::vector<ValueId> comes_from_;         // by value: what a parameter is in one of the cases
  std::vector<std::uint32_t> divisions_;
  struct Call {
    std::uint32_t at;
    const Inst* inst;
  };
  std::vector<Call> calls_;
  std::size_t noted_calls_ = 0;
  std::vector<Interval> active_, active_floats_;
  std::array<bool, kGeneral> taken_{};
  std::array<bool, kFloats> float_taken_{};
  std::uint8_t slot_count_ = 0;
};

}  // namespace

std::vector<BlockId> block_order(const Graph& graph) { return order_of_blocks(graph); }

bool allocate_registers(const Graph& graph, Allocation* out) { return LinearScan(graph, out).run(); }

}  // namespace vmrun::jit
