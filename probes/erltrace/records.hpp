// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "probes/erltrace/record_terms.hpp"
#include "probes/erltrace/script_handle.hpp"
#include "probes/print/format.hpp"

/// Turns records of a handle's script into the list that erltrace:consume/1 returns. Actions of the
/// consumer (clear, trunc, normalize, setopt) are done on the way. Each call of the native function
/// has one object, in its thread.
namespace vmrun::erltrace {

class Records {
 public:
  Records(ErlNifEnv* env, Handle& handle) : terms_(env), handle_(handle) {}

  void take(const d::Record& record, std::span<const std::uint64_t> words);
  void take_drops(d::Drop kind, std::uint64_t n);

  /// {printf, Probe, Text}, {probe, Probe, Value} ...
  const std::vector<ERL_NIF_TERM>& all() const { return all_; }
  ERL_NIF_TERM list() { return terms_.list(all_); }

 private:
  void act(std::size_t number, const std::vector<d::RecordField>& fields);
  void add(const char* what, ERL_NIF_TERM value) {
    all_.push_back(terms_.tuple(terms_.atom(what), probe_, value));
  }
  ERL_NIF_TERM probe_of(std::uint32_t number);
  const std::vector<d::Value>& values_of(const std::vector<d::RecordField>& fields);
  std::string printed_aggregations(const d::ActionInfo& action, std::size_t number);
  void change_aggregation(const d::ActionInfo& action, const std::vector<d::RecordField>& fields);
  void set_option(const std::vector<d::RecordField>& fields);
  void refresh();

  Terms terms_;
  Handle& handle_;
  std::vector<ERL_NIF_TERM> all_;
  std::unordered_map<std::uint32_t, ERL_NIF_TERM> probes_;  // made already, by number
  ERL_NIF_TERM probe_ = 0;                                  // of the current record
  bool fresh_ = false;  // the aggregations were refreshed since this record began
  std::vector<d::RecordField> fields_;
  std::vector<d::Value> values_;
};

}  // namespace vmrun::erltrace
