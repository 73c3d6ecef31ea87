// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vm/base/did_you_mean.hpp"

/// How the passes of the compiler report a wrong text. What is wrong throws a Failure. The parser
/// catches it where it can go on, behind a statement or a declaration, and the checker does so
/// after each statement. A Failures collects them for the whole compilation. No other code sees
/// one.
namespace vmrun::d::lang {

struct Place {
  std::uint32_t file = 0, line = 0;  // index in Script::files; line 0: no line
  std::uint32_t source = 0;          // number of the text that is compiled
  std::uint32_t offset = 0;          // bytes from its beginning to the token
};

struct Failure {
  const char* tag;  // the one that dtrace publishes
  Place place;
  std::string text;  // empty: another failure has led to this one, which is not reported
};

[[noreturn]] inline void fail(Place place, const char* tag, std::string text) {
  throw Failure{tag, place, std::move(text)};
}

/// The failures of one compilation.
class Failures {
 public:
  static constexpr std::size_t kMost = 1000;  // a hostile text must not fill memory with messages

  /// Does something, and keeps its failure. Returns whether there was none.
  template <class Work>
  bool guard(Work&& work) {
    try {
      work();
      return true;
    } catch (Failure& failure) {
      add(std::move(failure));
      return false;
    }
  }

  void add(Failure failure) {
    has_any_ = true;
    if (failure.text.empty() || all_.size() >= kMost || (in_doubt_ && needs_types(failure.tag))) return;
    all_.push_back(std::move(failure));
  }

  bool has_any() const { return has_any_; }
  /// Returns the failures in the order of the text, each once.
  const std::vector<Failure>& sorted() {
    const auto at = [](const Failure& f) {
      return std::pair(f.place.line != 0, std::pair(f.place.source, f.place.offset));
    };
    std::ranges::stable_sort(all_, {}, at);
    const auto repeated = std::ranges::unique(
        all_, [&](const Failure& a, const Failure& b) { return at(a) == at(b) && a.text == b.text; });
    all_.erase(repeated.begin(), repeated.end());
    return all_;
  }

  /// Notes a name that a wrong text may have made. That it is unknown is not reported again.
  void excuse(const std::string& name) { excused_.insert(name); }
  bool is_excused(const std::string& name) const { return excused_.contains(name); }

  /// Whether the probes of the current clause are unknown. What depends on the types of their
  /// arguments is not reported then.
  void set_in_doubt(bool is) { in_doubt_ = is; }

 private:
  static bool needs_types(std::string_view tag) {
    constexpr std::string_view kOfNames[] = {"D_IDENT_UNDEF", "D_VAR_UNDEF",  "D_FUNC_UNDEF",
                                             "D_SYNTAX",      "D_PDESC_ZERO", "D_PDESC_INVAL",
                                             "D_MACRO_UNDEF", "D_CG_EXPR",    "D_AGG_FUNC"};
    return std::ranges::find(kOfNames, tag) == std::ranges::end(kOfNames);
  }

  std::vector<Failure> all_;
  std::set<std::string> excused_;
  bool has_any_ = false, in_doubt_ = false;
};

}  // namespace vmrun::d::lang
