// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/record_output.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "probes/print/describe.hpp"
#include "probes/print/print_value.hpp"

namespace vmrun::d {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;

struct DropText {
  const char *tag, *text, *more;  // text gets an s for several; then comes more
  bool on_cpu;
};
// Texts by Drop, in dtrace's words where it has them.
constexpr DropText kDrops[] = {
    {"PRINCIPAL", "drop", "", true},
    {"AGGREGATION", "aggregation drop", "", true},
    {"DYNAMIC", "dynamic variable drop", "", false},
    {"SPEC", "speculative drop", "", false},
    {"SPECBUSY", "failed speculation", " (available buffer(s) still busy)", false},
    {"SPECUNAVAIL", "failed speculation", " (no speculative buffer available)", false},
    {"STKSTROVERFLOW", "jstack()/ustack() string table overflow", "", false},
    {"FUNCTION", "function", " not watched (as many are as can be at once)", false},
};
static_assert(std::size(kDrops) == static_cast<std::size_t>(Drop::kCount));

bool ends_in(std::string_view name, std::string_view word) {
  return name.ends_with(word) && (name.size() == word.size() || name[name.size() - word.size() - 1] == '-');
}

}  // namespace

Output::Output(const Script& script, ConsumerOptions options, std::FILE* file, Aggregates& aggregates,
               std::function<void()> refresh, std::function<bool(int)> wait_to_write, Presentation* shows)
    : script_(script),
      options_(options),
      file_(file),
      original_(file),
      aggregates_(aggregates),
      refresh_(std::move(refresh)),
      wait_to_write_(std::move(wait_to_write)),
      shows_(shows),
      printed_(script.program.aggregations.size()) {
  for (const ActionInfo& action : script.actions) formats_.push_back(parse_format(action.format));
  std::fflush(file);  // later output does not go through it
}

Output::~Output() {
  flush();
  if (file_ != original_) std::fclose(file_);
}

/// Writes no more at once than a pipe takes without waiting when poll calls it writable. Returns
/// false, with errno, when it fails.
bool Output::write_all(int file, std::string_view text) {
  while (!text.empty()) {
    if (!wait_to_write_(file)) return false;
    const ssize_t n = write(file, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (n >= 0) text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR && errno != EAGAIN) return false;
  }
  return true;
}

void Output::flush() {
  const bool whole = failed_ || write_all(fileno(file_), text_);
  text_.clear();
  if (whole) return;
  failed_ = true;  // ends the consumer
  std::fputs(fmt::format("vmtrace: failed to write: {}\n", std::strerror(errno)).c_str(), stderr);
}

void Output::message(const std::string& text) {
  flush();
  (void)write_all(STDERR_FILENO, "vmtrace: " + text + "\n");
}

/// Whether values of a type are structures. They are shown as bytes; arrays of characters are shown
/// as a text if they are one.
bool Output::is_structure(std::uint32_t type) const {
  const std::vector<CType>& types = script_.types;
  while (type < types.size() && types[type].kind == CType::Kind::kTypedef) type = types[type].element;
  return type < types.size() &&
         (types[type].kind == CType::Kind::kStruct || types[type].kind == CType::Kind::kUnion);
}

ProbeInfo Output::probe_of(const Origin& origin, const Record& record) {
  return probe_info(*origin.probes, origin.script->program, record.probe, *origin.texts);
}

void Output::line_head(const Origin& origin, const Record& record) {
  if (options_.quiet && !options_.flow_indent) return;
  if (!heading_)
    text_ += options_.flow_indent ? "CPU FUNCTION                                 \n"
                                  : "CPU     ID                    FUNCTION:NAME\n";
  heading_ = true;
  const ProbeInfo probe = probe_of(origin, record);
  std::string name = probe.function + ":" + probe.name;
  if (!options_.flow_indent) {
    fmt::format_to(std::back_inserter(text_), "{:3} {:6} {:>32} ", record.cpu, probe_id(record.probe), name);
    return;
  }
  const bool again = record.probe == last_probe_ && record.clause != last_clause_;
  const bool entry = ends_in(probe.name, "entry") && !again;
  const bool leave =
      (ends_in(probe.name, "return") || (probe.of_function && probe.name == "exception")) && !again;
  if (leave && indent_ >= 2) indent_ -= 2;
  std::string line(indent_, ' ');
  line += entry ? " -> " + probe.function : leave ? " <- " + probe.function : "| " + name;
  if (entry) indent_ += 2;
  last_probe_ = record.probe;
  last_clause_ = record.clause;
  fmt::format_to(std::back_inserter(text_), "{:3} {:<41} ", record.cpu, line);
}

void Output::record(const Origin& origin, const Record& record, std::span<const std::uint64_t> words) {
  if ((record.flags & kRecordFault) != 0) return fault(origin, record, fault_of(words));
  fresh_ = false;
  line_head(origin, record);
  for_each_action(script_, words, fields_, [&](std::size_t number, const auto& fields) {
    values_.clear();
    for (const RecordField& field : fields) values_.push_back(origin.texts->value(field));
    const ActionInfo& action = script_.actions[number];
    if (!shown(origin, record, action)) act(action, number);
    origin.texts->forget_made();
  });
  if (!options_.quiet) text_ += '\n';
  if (text_.size() >= kFlushBytes) flush();
}

bool Output::shown(const Origin& origin, const Record& record, const ActionInfo& action) {
  if (shows_ == nullptr) return false;
  if (action.kind == ActionKind::kPrinta && !fresh_) refresh_();
  fresh_ |= action.kind == ActionKind::kPrinta;
  return shows_->act({record, origin.pid}, action, values_, aggregates_, text_);
}

void Output::act(const ActionInfo& action, std::size_t number) {
  switch (action.kind) {
    case ActionKind::kPrintf: return format_values(text_, formats_[number], values_);
    case ActionKind::kPrinta: return print_aggregations(action, number);
    case ActionKind::kTrace:
      if (values_.empty()) return;
      if (values_[0].kind == Field::Kind::kStack) return stack(values_[0]);
      return format_trace(text_, values_[0], options_.quiet,
                          options_.tables.raw_bytes || is_structure(values_[0].type));
    case ActionKind::kSymbol:
      if (!values_.empty()) format_symbol(text_, values_[0]);
      return;
    case ActionKind::kPrint:
      if (!values_.empty()) print_typed(text_, script_.types, values_[0]);
      return;
    case ActionKind::kTracemem: return dump(action);
    case ActionKind::kStack:
    case ActionKind::kUstack:
    case ActionKind::kJstack:
      if (!values_.empty()) stack(values_[0]);
      return;
    case ActionKind::kSystem:
    case ActionKind::kFreopen: {
      std::string made;
      format_values(made, formats_[number], values_);
      return action.kind == ActionKind::kSystem ? run_command(made) : reopen(made);
    }
    case ActionKind::kFtruncate:
      flush();
      if (ftruncate(fileno(file_), 0) == 0) (void)lseek(fileno(file_), 0, SEEK_SET);
      return;
    case ActionKind::kClear:
    case ActionKind::kTrunc:
    case ActionKind::kNormalize:
    case ActionKind::kDenormalize: return change_aggregation(action);
    case ActionKind::kSetopt: return set_option(action);
    case ActionKind::kExit:
      if (!exit_status_ && !values_.empty()) exit_status_ = static_cast<int>(values_[0].number);
      return;
  }
}

void Output::stack(const Value& value) {
  text_ += '\n';
  if (options_.tables.folded) {
    (text_ += value.bytes) += '\n';
    return;
  }
  put_indented(text_, value.bytes, options_.tables.stack_indent);
}

void Output::dump(const ActionInfo& action) {
  if (values_.empty()) return;
  std::string_view bytes = values_[0].bytes;
  if (values_.size() > 1 && values_[1].number >= 0) bytes = bytes.substr(0, values_[1].number);
  format_dump(text_, bytes);
}

void Output::print_aggregations(const ActionInfo& action, std::size_t number) {
  if (!fresh_) refresh_();
  fresh_ = true;
  for (const std::uint32_t a : action.aggregations) printed_[a] = true;
  if (!formats_[number].empty())
    return print_formatted(text_, aggregates_, action.aggregations, formats_[number], options_.tables);
  text_ += '\n';
  print_table(text_, aggregates_, action.aggregations, options_.tables);
}

void Output::change_aggregation(const ActionInfo& action) {
  if (!fresh_) refresh_();
  fresh_ = true;
  std::optional<std::int64_t> number;
  if (!values_.empty()) number = values_[0].number;
  aggregates_.change(action, number);
}

void Output::run_command(const std::string& command) {
  if (!options_.destructive) return message("system() needs -w");
  flush();
  if (std::system(command.c_str()) == -1) message(fmt::format("failed to execute: {}", std::strerror(errno)));
}

void Output::reopen(const std::string& name) {
  if (!options_.destructive) return message("freopen() needs -w");
  flush();
  std::FILE* file = original_;
  if (!name.empty() && (file = std::fopen(name.c_str(), "we")) == nullptr)
    return message(fmt::format("failed to freopen() \"{}\": {}", name, std::strerror(errno)));
  if (file_ != original_) std::fclose(file_);
  file_ = file;
}

void Output::set_option(const ActionInfo& action) {
  if (values_.empty()) return;
  const std::string_view value = values_.size() > 1 ? until_nul(values_[1].bytes) : "";
  const std::string wrong = options_.set_by_script(until_nul(values_[0].bytes), value);
  if (!wrong.empty()) message(wrong);
}

void Output::fault(const Origin& origin, const Record& record, const Fault& fault) {
  const ProbeInfo probe = probe_of(origin, record);
  message(fmt::format("error on enabled probe ID {} (ID {}: {}:{}:{}:{}): {}", epid(fault.clause),
                      probe_id(record.probe), probe.provider, probe.module, probe.function, probe.name,
                      describe_fault(fault)));
}

void Output::drops(Drop kind, std::uint64_t n, std::uint32_t cpu) {
  if (shows_ != nullptr) shows_->dropped(n);
  if (shows_ != nullptr && shows_->shows_drops()) return;
  const DropText& text = kDrops[static_cast<std::size_t>(kind)];
  message(fmt::format("{}{} {}{}{}{}", options_.drop_tags ? fmt::format("[DTRACEDROP_{}] ", text.tag) : "", n,
                      text.text, n == 1 ? "" : "s", text.more,
                      text.on_cpu ? fmt::format(" on CPU {}", cpu) : ""));
}

void Output::target_gone(std::int64_t pid, bool is_command) {
  if (!options_.quiet || (shows_ != nullptr && !is_command)) message(fmt::format("pid {} has exited", pid));
}

bool Output::has_reason_to_end(std::uint64_t now, std::uint64_t firings) {
  const std::string why = shows_ == nullptr ? "" : shows_->reason_to_end(now, firings);
  if (!why.empty()) message(why);
  return !why.empty();
}

void Output::unprinted_aggregations() {
  refresh_();
  if (shows_ != nullptr) return shows_->end(aggregates_, text_);
  for (std::uint32_t i = 0; i < printed_.size(); ++i) {
    const std::size_t at = options_.tables.sort.reversed ? printed_.size() - 1 - i : i;
    if (!printed_[at]) print_table(text_, aggregates_, {static_cast<std::uint32_t>(at)}, options_.tables);
  }
}

}  // namespace vmrun::d
