// SPDX-License-Identifier: Apache-2.0
#include "probes/erltrace/erltrace_natives.hpp"

#include <iterator>
#include <new>

#include "probes/erltrace/record_terms.hpp"
#include "probes/erltrace/records.hpp"
#include "probes/erltrace/script_handle.hpp"
#include "vm/nif/library.hpp"

// This file uses only the public interface of native functions. All functions but open wait for the
// tracing thread, so they run on dirty schedulers. The destructor and the end of the owner only ask
// the tracing thread to end the handle.
namespace vmrun::erltrace {
namespace {

ErlNifResourceType* handle_type = nullptr;

Handle& handle_in(void* resource) { return *static_cast<Handle*>(resource); }

void destroy(ErlNifEnv*, void* resource) { handle_in(resource).~Handle(); }
void owner_down(ErlNifEnv*, void* resource, ErlNifPid*, ErlNifMonitor*) { handle_in(resource).close(); }

int load(ErlNifEnv* env, void**, ERL_NIF_TERM) {
  const ErlNifResourceTypeInit callbacks{destroy, nullptr, owner_down, 3, nullptr};
  const auto flags = static_cast<ErlNifResourceFlags>(ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER);
  handle_type = enif_open_resource_type_x(env, "handle", &callbacks, flags, nullptr);
  return handle_type ? 0 : 1;
}

int upgrade(ErlNifEnv* env, void** data, void**, ERL_NIF_TERM info) { return load(env, data, info); }

Handle* handle_of(ErlNifEnv* env, ERL_NIF_TERM term) {
  void* resource = nullptr;
  return enif_get_resource(env, term, handle_type, &resource) ? &handle_in(resource) : nullptr;
}

bool text_of(ErlNifEnv* env, ERL_NIF_TERM term, std::string& text) {
  ErlNifBinary bytes;
  if (!enif_inspect_binary(env, term, &bytes)) return false;
  text.assign(reinterpret_cast<const char*>(bytes.data), bytes.size);
  return true;
}

/// Returns {error, Reason}, or {error, {dtrace, Text}}, which is the form of libdtrace's errors.
ERL_NIF_TERM refused(ErlNifEnv* env, const Refusal& refusal) {
  Terms terms(env);
  const ERL_NIF_TERM reason = refusal.reason ? terms.atom(refusal.reason)
                                             : terms.tuple(terms.atom("dtrace"), terms.text(refusal.text));
  return terms.tuple(terms.atom("error"), reason);
}

ERL_NIF_TERM answer(ErlNifEnv* env, const Refusal& refusal) {
  return refusal ? refused(env, refusal) : Terms(env).atom("ok");
}

/// Returns ok when there is nothing to hand over.
ERL_NIF_TERM answer(ErlNifEnv* env, const Refusal& refusal, const std::vector<ERL_NIF_TERM>& all) {
  Terms terms(env);
  if (refusal || all.empty()) return answer(env, refusal);
  return terms.tuple(terms.atom("ok"), terms.list(all));
}

ERL_NIF_TERM open_0(ErlNifEnv* env, int, const ERL_NIF_TERM*) {
  void* resource = enif_alloc_resource(handle_type, sizeof(Handle));
  if (!resource) return enif_raise_exception(env, enif_make_atom(env, "system_limit"));
  new (resource) Handle;
  const ERL_NIF_TERM handle = enif_make_resource(env, resource);
  ErlNifPid owner;
  const bool watched = enif_self(env, &owner) && enif_monitor_process(env, resource, &owner, nullptr) == 0;
  enif_release_resource(resource);
  if (!watched) return enif_make_badarg(env);
  Terms terms(env);
  return terms.tuple(terms.atom("ok"), handle);
}

ERL_NIF_TERM setopt_3(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Handle* handle = handle_of(env, a[0]);
  std::string name, value;
  if (!handle || !text_of(env, a[1], name) || !text_of(env, a[2], value)) return enif_make_badarg(env);
  return answer(env, handle->set_option(name, value));
}

ERL_NIF_TERM compile_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Handle* handle = handle_of(env, a[0]);
  std::string script;
  if (!handle || !text_of(env, a[1], script)) return enif_make_badarg(env);
  return answer(env, handle->compile(script));
}

ERL_NIF_TERM go_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Handle* handle = handle_of(env, a[0]);
  return handle ? answer(env, handle->go()) : enif_make_badarg(env);
}

ERL_NIF_TERM stop_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Handle* handle = handle_of(env, a[0]);
  return handle ? answer(env, handle->stop()) : enif_make_badarg(env);
}

ERL_NIF_TERM consume_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Handle* handle = handle_of(env, a[0]);
  if (!handle) return enif_make_badarg(env);
  Records records(env, *handle);
  const Refusal refusal =
      handle->consume([&](const d::Record& record, auto words) { records.take(record, words); },
                      [&](d::Drop kind, std::uint64_t n) { records.take_drops(kind, n); });
  return answer(env, refusal, records.all());
}

// Names by Aggregating.
constexpr const char* kFunctions[] = {"count",  "sum",      "avg",       "min",       "max",
                                      "stddev", "quantize", "lquantize", "llquantize"};
static_assert(std::size(kFunctions) == static_cast<std::size_t>(d::Aggregating::kLlquantize) + 1);

/// {Function, Keys, Value}
ERL_NIF_TERM element(Terms& terms, Handle& handle, const d::Aggregates::Row& row) {
  const d::Aggregation& how = handle.aggregates().description(row.aggregation);
  std::vector<d::RecordField> fields;
  const std::uint64_t* at = row.words.data();
  std::vector<ERL_NIF_TERM> keys;
  if (d::read_fields(handle.script().aggregations[row.aggregation].keys, at, at + row.words.size(), fields))
    for (const d::RecordField& field : fields) keys.push_back(terms.value(field));
  return terms.tuple(terms.atom(kFunctions[static_cast<std::size_t>(how.how)]), terms.list(keys),
                     terms.aggregated(how, row.values.data(), row.normal));
}

ERL_NIF_TERM walk_2(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Handle* handle = handle_of(env, a[0]);
  std::string name;
  const bool is_named = !enif_is_atom(env, a[1]);  // the atom `all` is not a name
  if (!handle || (is_named && !text_of(env, a[1], name))) return enif_make_badarg(env);
  Terms terms(env);
  std::vector<ERL_NIF_TERM> all;
  const Refusal refusal =
      handle->walk(is_named ? std::optional(name) : std::nullopt,
                   [&](const d::Aggregates::Row& row) { all.push_back(element(terms, *handle, row)); });
  return answer(env, refusal, all);
}

ErlNifFunc functions[] = {
    {"open", 0, open_0, 0},
    {"setopt_of", 3, setopt_3, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"compile_text", 2, compile_2, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"go", 1, go_1, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"stop", 1, stop_1, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"consume", 1, consume_1, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"walk_named", 2, walk_2, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ErlNifEntry* entry() {
  static ErlNifEntry made = linked_in_entry("erltrace", functions, load, upgrade);
  return &made;
}

}  // namespace

void register_natives() { register_linked_in_nifs("erltrace", entry); }

}  // namespace vmrun::erltrace
