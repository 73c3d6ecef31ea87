// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/print/record_fields.hpp"
#include "probes/print/value.hpp"

/// Turns encodings into texts. A firing put a process, the atoms of a function or the addresses of
/// a stack to a record or a key as numbers; here they become what Erlang prints for them. Names are
/// asked of the target once and kept. Each target has one object; only the consumer's thread uses
/// it.
namespace vmrun::d {

/// Host describes these names. The name of a function, by its number, is the module, NUL, and the
/// name.
enum class NameKind : std::uint8_t { kAtom, kAddress, kFunction };
inline constexpr std::size_t kNameKinds = 3;
/// Returns names that a target (target.hpp) knows, one for each number; empty where there is no
/// name. The result is shorter when the target cannot be asked any more.
using Names = std::function<std::vector<std::string>(NameKind, const std::vector<std::uint64_t>&)>;

enum class StackFormat : std::uint8_t {
  kLines,   // one frame a line, innermost first
  kFolded,  // all on one line, outermost first, with ; between them
};

class Texts {
 public:
  explicit Texts(Names names) : names_(std::move(names)) {}

  /// Returns the value of a field. Its bytes lie in the words, or are kept here until forget_made.
  Value value(const RecordField& field);
  void forget_made() { used_ = 0; }

  StackFormat stack_format = StackFormat::kLines;
  std::size_t stack_indent = 14;
  std::string machine;  // stands before processes and ports, where there are several

  const std::string& atom(std::uint64_t number) { return name(NameKind::kAtom, number); }
  void learn_atom(std::uint64_t number, std::string name) {
    kept_[static_cast<std::size_t>(NameKind::kAtom)].names[number] = std::move(name);
  }
  /// The text is empty when the address is unknown.
  const std::string& address(std::uint64_t address) { return name(NameKind::kAddress, address); }
  /// Returns module and name of a function by its number.
  std::pair<std::string, std::string> function(std::uint32_t number);

  /// Notes the names that a field needs. The next ask asks for all of them together.
  void want(const RecordField& field);
  void want_function(std::uint32_t number) { (void)is_new(NameKind::kFunction, number); }
  void ask();

 private:
  struct Kept {
    std::unordered_map<std::uint64_t, std::string> names;
    std::vector<std::uint64_t> wanted;  // the names not asked for yet
  };

  bool is_new(NameKind kind, std::uint64_t number);
  const std::string& name(NameKind kind, std::uint64_t number);
  std::string& make();
  void put_shape(std::string& out, Encoding shape, const std::uint64_t* words, std::size_t count);
  void put_stack(std::string& out, const std::uint64_t* frames, std::size_t count);

  Names names_;
  Kept kept_[kNameKinds];
  std::deque<std::string> made_;  // used again, so that a record allocates nothing
  std::size_t used_ = 0;
};

/// Appends the lines of a stack, each indented by `indent` blanks. A stack is kept without
/// indentation, one frame a line.
void put_indented(std::string& out, std::string_view lines, std::size_t indent);

}  // namespace vmrun::d
