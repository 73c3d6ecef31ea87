// SPDX-License-Identifier: Apache-2.0
#include "probes/erltrace/records.hpp"

#include "probes/attach/machine_host.hpp"
#include "probes/print/aggregation_print.hpp"
#include "probes/print/describe.hpp"
#include "probes/print/print_value.hpp"

namespace vmrun::erltrace {
namespace {

// Names by Drop.
constexpr const char* kDrops[] = {"principal",   "aggregation",      "dynamic",
                                  "speculation", "speculation_busy", "speculation_unavailable",
                                  "stack",       "function"};
static_assert(std::size(kDrops) == static_cast<std::size_t>(d::Drop::kCount));

}  // namespace

ERL_NIF_TERM Records::probe_of(std::uint32_t number) {
  const auto [found, fresh] = probes_.try_emplace(number);
  if (fresh)
    found->second = terms_.probe(
        d::probe_info(attach::machine_host().probes(), handle_.script().program, number, handle_.texts()));
  return found->second;
}

void Records::take(const d::Record& record, std::span<const std::uint64_t> words) {
  probe_ = probe_of(record.probe);
  if ((record.flags & d::kRecordFault) != 0) {
    const d::Fault fault = d::fault_of(words);
    return add("error", terms_.text(d::describe_fault(fault)));
  }
  fresh_ = false;
  // The clause only says that it has fired.
  if (words.empty()) return add("probe", terms_.atom("undefined"));
  d::for_each_action(handle_.script(), words, fields_,
                     [&](std::size_t number, const auto& fields) { act(number, fields); });
  handle_.texts().forget_made();
}

void Records::take_drops(d::Drop kind, std::uint64_t n) {
  all_.push_back(terms_.tuple(terms_.atom("drops"), terms_.atom(kDrops[static_cast<std::size_t>(kind)]),
                              terms_.integer(static_cast<std::int64_t>(n))));
}

const std::vector<d::Value>& Records::values_of(const std::vector<d::RecordField>& fields) {
  values_.clear();
  for (const d::RecordField& field : fields) values_.push_back(handle_.texts().value(field));
  return values_;
}

void Records::act(std::size_t number, const std::vector<d::RecordField>& fields) {
  const d::ActionInfo& action = handle_.script().actions[number];
  switch (action.kind) {
    case d::ActionKind::kPrintf: {
      std::string text;
      d::format_values(text, handle_.format(number), values_of(fields));
      return add("printf", terms_.text(text));
    }
    case d::ActionKind::kPrint: {
      std::string text;
      d::print_typed(text, handle_.script().types, values_of(fields).at(0));
      return add("print", terms_.text(text));
    }
    case d::ActionKind::kPrinta: return add("printa", terms_.text(printed_aggregations(action, number)));
    case d::ActionKind::kTrace:
    case d::ActionKind::kSymbol: return add("probe", terms_.value(fields.at(0)));
    case d::ActionKind::kTracemem: {
      std::string_view bytes = fields.at(0).text();
      if (fields.size() > 1 && fields[1].number >= 0)
        bytes = bytes.substr(0, static_cast<std::size_t>(fields[1].number));
      return add("tracemem", terms_.binary(bytes));
    }
    case d::ActionKind::kStack:
    case d::ActionKind::kUstack:
    case d::ActionKind::kJstack: return add("ustack", terms_.value(fields.at(0)));
    case d::ActionKind::kClear:
    case d::ActionKind::kTrunc:
    case d::ActionKind::kNormalize:
    case d::ActionKind::kDenormalize: return change_aggregation(action, fields);
    case d::ActionKind::kSetopt: return set_option(fields);
    case d::ActionKind::kExit: return add("exit", terms_.integer(fields.at(0).number));
    case d::ActionKind::kSystem:
    case d::ActionKind::kFreopen:
    case d::ActionKind::kFtruncate: return;  // no script of a handle has them: see Handle::compile
  }
}

void Records::refresh() {
  if (!fresh_) handle_.refresh();
  fresh_ = true;
}

std::string Records::printed_aggregations(const d::ActionInfo& action, std::size_t number) {
  refresh();
  std::string text;
  const d::TableOptions& how = handle_.options().tables;
  const auto& format = handle_.format(number);
  if (format.empty()) d::print_table(text, handle_.aggregates(), action.aggregations, how);
  else d::print_formatted(text, handle_.aggregates(), action.aggregations, format, how);
  return text;
}

void Records::change_aggregation(const d::ActionInfo& action, const std::vector<d::RecordField>& fields) {
  refresh();
  std::optional<std::int64_t> number;
  if (!fields.empty()) number = fields[0].number;
  handle_.aggregates().change(action, number);
}

void Records::set_option(const std::vector<d::RecordField>& fields) {
  if (fields.empty()) return;
  const std::string_view value = fields.size() > 1 ? d::until_nul(fields[1].text()) : "";
  const std::string wrong = handle_.options().set_by_script(d::until_nul(fields[0].text()), value);
  if (!wrong.empty()) add("error", terms_.text(wrong));
}

}  // namespace vmrun::erltrace
