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

/// Encodings to texts: what a firing put to a record or a key as numbers (a process, the atoms of a
/// function, addresses of a stack) becomes what Erlang prints for it. Names are asked of the target
/// once and kept. One for each target; the reader's thread.
namespace vmrun::d {

/// See Host for what they are. That of a function, by its number: module, NUL, name.
enum class NameKind : std::uint8_t { kAtom, kAddress, kFunction };
inline constexpr std::size_t kNameKinds = 3;
/// What knows the names: a target (target.hpp), the machine. One for each number, empty where there
/// is none; fewer, when it cannot be asked any more.
using Names = std::function<std::vector<std::string>(NameKind, const std::vector<std::uint64_t>&)>;

enum class StackFormat : std::uint8_t {
  kLines,   // a frame a line, innermost first
  kFolded,  // all in one, outermost first, with ; between them
};

class Texts {
 public:
  explicit Texts(Names names) : names_(std::move(names)) {}

  /// Its bytes are those of the words, or kept here until forget_made.
  Value value(const RecordField& field);
  void forget_made() { used_ = 0; }

  StackFormat stack_format = StackFormat::kLines;
  std::size_t stack_indent = 14;
  std::string machine;  // stands before processes and ports, where there are several

  const std::string& atom(std::uint64_t number) { return name(NameKind::kAtom, number); }
  void learn_atom(std::uint64_t number, std::string name) {
    kept_[static_cast<std::size_t>(NameKind::kAtom)].names[number] = std::move(name);
  }
  /// Empty: nobody knows.
  const std::string& address(std::uint64_t address) { return name(NameKind::kAddress, address); }
  /// Module and name of a function that fires by name.
  std::pair<std::string, std::string> function(std::uint32_t number);

  /// What these will need is asked for by the next ask, all together.
  void want(const RecordField& field);
  void want_function(std::uint32_t number) { (void)is_new(NameKind::kFunction, number); }
  void ask();

 private:
  struct Kept {
    std::unordered_map<std::uint64_t, std::string> names;
    std::vector<std::uint64_t> wanted;  // of them, those that have not been asked for
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

/// Bytes that frames of stacks take when they are printed with an indentation that is not the
/// option's: a stack is kept without any, a frame a line.
void put_indented(std::string& out, std::string_view lines, std::size_t indent);

}  // namespace vmrun::d
