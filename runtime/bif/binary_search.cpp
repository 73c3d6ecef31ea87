// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/term/bits.hpp"

/// binary:match/2,3, matches/2,3, split/2,3, the core of replace/3,4, and compile_pattern/1. Among
/// several patterns the earliest match wins, and of those that start at the same place the longest.
/// One pattern is searched with memmem; several with an automaton (Aho and Corasick 1975) over the
/// bytes.
namespace vmrun {
namespace {

struct Match {
  Word at, length;
};

/// A row of 256 next states per node would be too expensive for patterns that are used once. So
/// nodes keep their few edges in a small sorted vector, and only the root has a full table.
class Automaton {
 public:
  explicit Automaton(const std::vector<std::string_view>& patterns) : nodes_(1) {
    for (const auto& pattern : patterns) {
      std::uint32_t state = 0;
      for (const char c : pattern) {
        std::uint32_t next = child(state, static_cast<std::uint8_t>(c));
        if (next == kNone) {
          next = static_cast<std::uint32_t>(nodes_.size());
          nodes_[state].edges.push_back({static_cast<std::uint8_t>(c), next});
          nodes_.emplace_back();
          nodes_[next].depth = nodes_[state].depth + 1;
        }
        state = next;
      }
      nodes_[state].ends = true;
    }
    link_failures();
  }

  /// Returns the leftmost match in text[from, to), and of several there the longest.
  std::optional<Match> find(const std::uint8_t* text, Word from, Word to) const {
    std::optional<Match> best;
    std::uint32_t state = 0;
    for (Word i = from; i < to; ++i) {
      state = step(state, text[i]);
      // A match that is still in progress started at i + 1 - depth. When this is behind the best
      // match, no better one can follow.
      if (best && i + 1 - nodes_[state].depth > best->at) break;
      for (std::uint32_t s = nodes_[state].ends ? state : nodes_[state].shorter; s != 0;
           s = nodes_[s].shorter) {
        const Match m{i + 1 - nodes_[s].depth, nodes_[s].depth};
        if (!best || m.at < best->at || (m.at == best->at && m.length > best->length)) best = m;
      }
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Edge {
    std::uint8_t byte;
    std::uint32_t to;
  };
  struct Node {
    std::vector<Edge> edges;
    std::uint32_t fail = 0;
    std::uint32_t shorter = 0;  // next node on the failure chain where a pattern ends
    Word depth = 0;
    bool ends = false;
  };

  std::uint32_t child(std::uint32_t state, std::uint8_t byte) const {
    for (const Edge& e : nodes_[state].edges) {
      if (e.byte == byte) return e.to;
    }
    return kNone;
  }
  std::uint32_t step(std::uint32_t state, std::uint8_t byte) const {
    for (;;) {
      if (const std::uint32_t next = child(state, byte); next != kNone) return next;
      if (state == 0) return 0;
      state = nodes_[state].fail;
    }
  }
  void link_failures() {
    std::vector<std::uint32_t> queue{0};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const std::uint32_t state = queue[i];
      for (const Edge& e : nodes_[state].edges) {
        Node& n = nodes_[e.to];
        n.fail = state == 0 ? 0 : step(nodes_[state].fail, e.byte);
        n.shorter = nodes_[n.fail].ends ? n.fail : nodes_[n.fail].shorter;
        queue.push_back(e.to);
      }
    }
  }

  std::vector<Node> nodes_;
};

/// Patterns prepared for searching.
class Searcher {
 public:
  /// Returns false when the pattern is not a non-empty binary, a list of them, or a compiled
  /// pattern, or when the steps are used up.
  bool prepare(Term pattern, ReductionBudget& steps) {
    static const Term of_one = intern_atom("bm"), of_several = intern_atom("ac");
    Term compiled_for = kNonValue;
    if (pattern.is_tuple() && pattern.tuple_arity() == 2 &&
        (pattern.element(0) == of_one || pattern.element(0) == of_several)) {
      compiled_for = pattern.element(0);
      pattern = pattern.element(1);
    }
    if (pattern.is_bitstring()) {
      if (!add(pattern, steps)) return false;
    } else {
      if (!pattern.is_list()) return false;
      for (; pattern.is_list(); pattern = pattern.tail()) {
        if (!add(pattern.head(), steps)) return false;
      }
      if (!pattern.is_nil()) return false;
    }
    if (compiled_for && (compiled_for == of_one) != single()) return false;
    if (patterns_.size() > 1) automaton_.emplace(patterns_);
    return true;
  }
  /// Bytes of the longest pattern.
  Word longest() const {
    Word n = 0;
    for (const auto& pattern : patterns_) n = std::max(n, pattern.size());
    return n;
  }
  bool single() const { return patterns_.size() == 1; }

  std::optional<Match> find(const std::uint8_t* text, Word from, Word to) const {
    if (automaton_) return automaton_->find(text, from, to);
    const std::string_view needle = patterns_[0];
    const void* at = memmem(text + from, to - from, needle.data(), needle.size());
    if (!at) return std::nullopt;
    return Match{static_cast<Word>(static_cast<const std::uint8_t*>(at) - text), needle.size()};
  }

 private:
  /// A byte of several patterns takes some ten steps in the automaton.
  bool add(Term t, ReductionBudget& steps) {
    if (!is_binary(t) || bit_size_of(t) == 0 || !steps.spend(bit_size_of(t) / 8)) return false;
    bytes_.push_back(std::make_unique<BytesOf>(t));
    patterns_.emplace_back(reinterpret_cast<const char*>(bytes_.back()->data()), bytes_.back()->size());
    return true;
  }

  std::vector<std::unique_ptr<BytesOf>> bytes_;
  std::vector<std::string_view> patterns_;
  std::optional<Automaton> automaton_;
};

struct SplitOptions {
  bool global = false, trim = false, trim_all = false;
};

struct Range {
  Word from, to;
};

bool scope_option(Term option, Word size, Range* scope) {
  if (!option.is_tuple() || option.tuple_arity() != 2 || option.element(0) != intern_atom("scope"))
    return false;
  const Term part = option.element(1);
  SWord at, n;
  const auto limit = static_cast<SWord>(size);
  if (!part.is_tuple() || part.tuple_arity() != 2 || !small_in_range(part.element(0), 0, limit, &at) ||
      !small_in_range(part.element(1), -limit, limit, &n)) {
    return false;
  }
  if (n < 0) {
    at += n;
    n = -n;
  }
  if (at < 0 || at + n > limit) return false;
  *scope = {static_cast<Word>(at), static_cast<Word>(at + n)};
  return true;
}

bool parse_options(Term list, Word size, Range* scope, SplitOptions* split) {
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    if (split && o == intern_atom("global")) split->global = true;
    else if (split && o == intern_atom("trim")) split->trim = true;
    else if (split && o == intern_atom("trim_all")) split->trim_all = true;
    else if (!scope_option(o, size, scope)) return false;
  }
  return list.is_nil();
}

Term match_term(Process& p, Match m) {
  return new_tuple(p.heap, Term::small(static_cast<SWord>(m.at)), Term::small(static_cast<SWord>(m.length)));
}

/// Calls f(match) for the first, or each, non-overlapping match.
template <class F>
void for_matches(const Searcher& searcher, const std::uint8_t* text, Range scope, bool all, F f) {
  for (Word at = scope.from; at < scope.to;) {
    const auto m = searcher.find(text, at, scope.to);
    if (!m) return;
    f(*m);
    if (!all) return;
    at = m->at + m->length;
  }
}

// again() continues the call on a dirty scheduler.

/// How many bytes the calling thread may search.
constexpr Word kBytesAtOnce = kStepsOnScheduler * kBytesPerStep;

/// Finds the first match. In a long text a scheduler only searches the beginning, because the match
/// is often near. Returns false when that did not decide.
bool found_soon(const Searcher& searcher, const std::uint8_t* text, Range scope,
                std::optional<Match>* found) {
  const Word to = std::min(scope.to, scope.from + kBytesAtOnce);
  *found = searcher.find(text, scope.from, to);
  // A match that begins earlier and is longer would have reached beyond `to`.
  return to == scope.to || (*found && (*found)->at + searcher.longest() <= to);
}

/// Older releases do not check the pattern where there is nothing to search.
bool pattern_counts(const Range& scope) { return release_has(Trait::kWholeBinaries) || scope.to != 0; }

template <class Again>
Term find_matches(Process& p, Term subject, Term pattern, Term options, bool all, Again again) {
  Searcher searcher;
  if (!is_binary(subject)) return raise_badarg(p);
  const BytesOf text(subject);
  Range scope{0, text.size()};
  if (!parse_options(options, text.size(), &scope, nullptr)) return raise_badarg(p);
  ReductionBudget steps(binary_loop_limit);
  if (!searcher.prepare(pattern, steps) && pattern_counts(scope))
    return steps.used_up() ? again() : raise_badarg(p);
  ListBuilder list(p.heap);
  Term first = intern_atom("nomatch");
  if (too_long((scope.to - scope.from) / kBytesPerStep)) {
    std::optional<Match> found;
    if (all || !found_soon(searcher, text.data(), scope, &found)) return again();
    charge(p, static_cast<SWord>((found ? found->at - scope.from : kBytesAtOnce) / 8));
    return found ? match_term(p, *found) : first;
  }
  charge(p, static_cast<SWord>((scope.to - scope.from) / 8));
  for_matches(searcher, text.data(), scope, all, [&](Match m) {
    first = match_term(p, m);
    if (all) list.add(first);
  });
  return all ? list.finish() : first;
}

template <class Again>
Term split(Process& p, Term subject, Term pattern, Term options, Again again) {
  Searcher searcher;
  if (!is_binary(subject)) return raise_badarg(p);
  const BytesOf text(subject);
  Range scope{0, text.size()};
  SplitOptions how;
  if (!parse_options(options, text.size(), &scope, &how)) return raise_badarg(p);
  ReductionBudget steps(binary_loop_limit);
  if (!searcher.prepare(pattern, steps) && pattern_counts(scope))
    return steps.used_up() ? again() : raise_badarg(p);
  std::vector<Range> parts;
  Word at = 0;
  if (too_long((scope.to - scope.from) / kBytesPerStep)) {
    std::optional<Match> found;
    if (how.global || !found_soon(searcher, text.data(), scope, &found)) return again();
    scope.to = found ? found->at + found->length : scope.from;
  }
  charge(p, static_cast<SWord>((scope.to - scope.from) / 8));
  for_matches(searcher, text.data(), scope, how.global, [&](Match m) {
    parts.push_back({at, m.at});
    at = m.at + m.length;
  });
  parts.push_back({at, text.size()});
  const auto empty = [](Range r) { return r.from == r.to; };
  if (how.trim_all) std::erase_if(parts, empty);
  if (how.trim) {
    while (!parts.empty() && empty(parts.back())) parts.pop_back();
  }
  ListBuilder list(p.heap);
  for (const Range r : parts) list.add(make_part(p.heap, subject, r.from * 8, (r.to - r.from) * 8));
  return list.finish();
}

}  // namespace

Term bif_binary_match_2(Process& p, const Term* a) {
  return find_matches(p, a[0], a[1], Term::nil(), false,
                      [&] { return run_on_dirty(p, bif_binary_match_2, a, 2); });
}
Term bif_binary_match_3(Process& p, const Term* a) {
  return find_matches(p, a[0], a[1], a[2], false, [&] { return run_on_dirty(p, bif_binary_match_3, a, 3); });
}
Term bif_binary_matches_2(Process& p, const Term* a) {
  return find_matches(p, a[0], a[1], Term::nil(), true,
                      [&] { return run_on_dirty(p, bif_binary_matches_2, a, 2); });
}
Term bif_binary_matches_3(Process& p, const Term* a) {
  return find_matches(p, a[0], a[1], a[2], true, [&] { return run_on_dirty(p, bif_binary_matches_3, a, 3); });
}
Term bif_binary_split_2(Process& p, const Term* a) {
  return split(p, a[0], a[1], Term::nil(), [&] { return run_on_dirty(p, bif_binary_split_2, a, 2); });
}
Term bif_binary_split_3(Process& p, const Term* a) {
  return split(p, a[0], a[1], a[2], [&] { return run_on_dirty(p, bif_binary_split_3, a, 3); });
}

/// Returns the patterns themselves, marked as checked: building the automaton costs about as much
/// as copying it would.
Term bif_binary_compile_pattern_1(Process& p, const Term* a) {
  Searcher searcher;
  ReductionBudget steps(binary_loop_limit);
  if (a[0].is_tuple()) return raise_badarg(p);
  if (!searcher.prepare(a[0], steps))
    return steps.used_up() ? run_on_dirty(p, bif_binary_compile_pattern_1, a, 1) : raise_badarg(p);
  return new_tuple(p.heap, intern_atom(searcher.single() ? "bm" : "ac"), a[0]);
}

}  // namespace vmrun
