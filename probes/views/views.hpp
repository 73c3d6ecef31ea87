// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The ready-made views of vmtrace, as views.tab has them. Constant data.
namespace vmrun::d {

enum class OptionKind : std::uint8_t { kDuration, kCount, kWord, kFlag, kChoice };

struct ViewOption {
  char letter;
  const char* name;  // ${name} in the script
  OptionKind kind;
  const char* value;  // as on the command line; empty: none
  const char* meaning;
  const char* choices = "";  // one|another
};

/// The unit of a column, as views.tab says it.
enum class Unit : std::uint8_t {
  kProcess,
  kText,
  kFunction,
  kCaller,
  kCount,
  kRate,
  kTime,
  kShare,
  kPart,
  kWords,
  kBytes,
  kMedian,
  kNinety
};

struct ViewColumn {
  const char* heading;
  unsigned key;             // from 1; 0: a value, or a time
  const char* aggregation;  // without @; empty: none
  Unit unit;
};

struct ViewTable {
  const char* name;  // of the first aggregation that printa is given
  const char* title;
  std::span<const ViewColumn> columns;
};

/// Another script of a view, for when an option is given.
struct ViewScript {
  const char* option;
  const char* name;
  std::string_view text;
};

struct ViewInfo {
  const char* name;
  const char* script_name;
  const char* shown;
  const char* purpose;
  std::string_view script;  // it contains ${name}
  std::span<const ViewOption> options;
  std::span<const ViewTable> tables;
  std::span<const ViewScript> instead = {};
};

extern const std::span<const ViewInfo> kViews;

/// Whether the word, in letters of any case, is the column's heading.
bool has_heading(const ViewColumn& column, std::string_view word);
/// Whether the column is aligned left.
bool is_text(const ViewColumn& column);

/// Returns null when no view has that name.
const ViewInfo* find_view(std::string_view name);

/// Returns the view that a word most likely stands for, or an empty text when it resembles none.
std::string_view view_like(std::string_view word);

/// Returns the lines of --help: names and purposes.
std::string list_of_views();

}  // namespace vmrun::d
