// SPDX-License-Identifier: Apache-2.0
#include "vm/code/loading.hpp"

#include <array>

/// Loops in a function's code. A process gives up its core where reductions are counted: at calls,
/// at sends, and between the messages of a receive. Compilers make no loop without one of these. A
/// process in such a loop could be neither preempted nor killed, so the loader refuses it.
namespace vmrun {
namespace {

/// At these instructions reductions are counted, or the process waits, so a path from here is not
/// part of a loop without a count. wait_timeout is missing, since a timeout of 0 goes on at once.
constexpr std::uint8_t kCounted[] = {
    generic::k_call,          generic::k_call_last,     generic::k_call_only, generic::k_call_ext,
    generic::k_call_ext_last, generic::k_call_ext_only, generic::k_call_fun,  generic::k_call_fun2,
    generic::k_apply,         generic::k_apply_last,    generic::k_send,      generic::k_loop_rec_end,
    generic::k_wait,
};
/// After these instructions the next one is not reached.
constexpr std::uint8_t kEnds[] = {
    generic::k_func_info,    generic::k_int_code_end,       generic::k_return,   generic::k_jump,
    generic::k_select_val,   generic::k_select_tuple_arity, generic::k_badmatch, generic::k_case_end,
    generic::k_try_case_end, generic::k_badrecord,          generic::k_if_end,   generic::k_raise,
};

template <std::size_t n>
constexpr std::array<bool, 256> set_of(const std::uint8_t (&opcodes)[n]) {
  std::array<bool, 256> set{};
  for (const std::uint8_t opcode : opcodes) set[opcode] = true;
  return set;
}
constexpr auto kIsCounted = set_of(kCounted), kIsEnd = set_of(kEnds);

/// The labels of a module, and for each label the labels that are reached from it without a count:
/// by jumps, by exceptions (from `catch` and `try`), and by falling through.
class UncountedWays {
 public:
  explicit UncountedWays(const BeamFile& f) : f_(f), nodes_(f.label_count) {
    Word here = 0;  // the last label; 0: no label leads to this code without a count
    for (const GenericInstruction& i : f.code) {
      const Arg* a = f.args(i);
      if (i.opcode == generic::k_label) {
        if (here) add(here, a->value);
        here = a->value;
        const auto first = static_cast<std::uint32_t>(targets_.size());
        nodes_[here] = {first, first, kPlaced};
      } else if (here) {
        if (!kIsCounted[i.opcode]) add_targets(here, i.opcode, a, i.arity);
        if (kIsCounted[i.opcode] || kIsEnd[i.opcode]) here = 0;
      }
    }
  }

  /// Returns a label of a loop without a count, or 0.
  Word find_loop() {
    if (!leads_back_) return 0;  // the usual case
    for (Word label = 1; label < nodes_.size(); label++)
      if (nodes_[label].state == kPlaced)
        if (const Word found = find_loop_from(label)) return found;
    return 0;
  }

 private:
  enum State : std::uint8_t { kNotPlaced, kPlaced, kOnPath, kDone };
  struct Node {
    std::uint32_t first = 0, end = 0;  // targets_
    State state = kNotPlaced;
  };

  void add(Word from, Word label) {
    if (label == 0) return;
    if (nodes_[label].state != kNotPlaced) leads_back_ = true;
    targets_.push_back(static_cast<std::uint32_t>(label));
    nodes_[from].end = static_cast<std::uint32_t>(targets_.size());
  }
  void add_targets(Word from, std::uint8_t opcode, const Arg* a, unsigned count) {
    if (opcode == generic::k_wait_timeout) return;
    for (unsigned n = 0; n < count; n++) {
      if (a[n].kind == Arg::Kind::kLabel) add(from, a[n].value);
      if (a[n].kind == Arg::Kind::kList) add_targets(from, opcode, f_.extra.data() + a[n].value, a[n].count);
    }
  }

  /// Depth-first search with an explicit stack.
  Word find_loop_from(Word start) {
    std::vector<Word> path{start};
    nodes_[start].state = kOnPath;
    while (!path.empty()) {
      Node& n = nodes_[path.back()];
      if (n.first == n.end) {
        n.state = kDone;
        path.pop_back();
        continue;
      }
      const Word next = targets_[n.first++];
      if (nodes_[next].state == kOnPath) return next;
      if (nodes_[next].state != kPlaced) continue;
      nodes_[next].state = kOnPath;
      path.push_back(next);
    }
    return 0;
  }

  const BeamFile& f_;
  std::vector<Node> nodes_;  // by label
  std::vector<std::uint32_t> targets_;
  bool leads_back_ = false;
};

}  // namespace

bool Loader::loops_are_counted() {
  const Word label = UncountedWays(f_).find_loop();
  if (!label) return true;
  const Arg* info = nullptr;
  for (at_ = 0; at_ < f_.code.size(); at_++) {
    const GenericInstruction& i = f_.code[at_];
    if (i.opcode == generic::k_func_info) info = f_.args(i);
    if (i.opcode == generic::k_label && f_.args(i)->value == label) break;
  }
  const std::string function = info ? std::string(atom_text(info[0].term())) + ":" +
                                          std::string(atom_text(info[1].term())) + "/" +
                                          std::to_string(info[2].value)
                                    : "no function";
  return fail("a loop of " + function + " through label " + std::to_string(label) +
              " has no call in it: nothing could end it");
}

}  // namespace vmrun
