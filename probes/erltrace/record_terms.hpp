// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "probes/d/script/script.hpp"
#include "probes/print/record_fields.hpp"
#include "vm/include/erl_nif.h"

/// Turns what scripts record into terms. Processes, ports, functions and atoms become themselves,
/// texts become strings (code points; bytes where they are not UTF-8), stacks become lists of {M,
/// F, A, [{file, F}, {line, L}]}. Each call of a native function has one object, in its thread.
namespace vmrun::erltrace {

class Terms {
 public:
  explicit Terms(ErlNifEnv* env) : env_(env) {}

  ERL_NIF_TERM atom(std::string_view name);
  ERL_NIF_TERM integer(std::int64_t n) { return enif_make_int64(env_, n); }
  ERL_NIF_TERM text(std::string_view bytes);
  ERL_NIF_TERM binary(std::string_view bytes);
  ERL_NIF_TERM list(const std::vector<ERL_NIF_TERM>& elements) {
    return enif_make_list_from_array(env_, elements.data(), static_cast<unsigned>(elements.size()));
  }
  template <class... Terms>
  ERL_NIF_TERM tuple(Terms... elements) {
    return enif_make_tuple(env_, sizeof...(elements), elements...);
  }

  /// {Provider, Module, Function, Name}
  ERL_NIF_TERM probe(const d::ProbeInfo& probe);
  ERL_NIF_TERM value(const d::RecordField& field);
  ERL_NIF_TERM stack(std::span<const std::uint64_t> addresses);
  /// Returns the value of an aggregation's element: a number, or [{{Least, Most}, Count}] for the
  /// buckets that are not empty.
  ERL_NIF_TERM aggregated(const d::Aggregation& how, const std::uint64_t* values, std::uint64_t normal);

 private:
  ERL_NIF_TERM encoded(const d::RecordField& field);
  ERL_NIF_TERM buckets(const d::Aggregation& how, const std::uint64_t* values, std::int64_t normal);

  ErlNifEnv* env_;
};

}  // namespace vmrun::erltrace
