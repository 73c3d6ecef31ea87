// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <ranges>
#include <span>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/here_or_was.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_mode.hpp"
#include "vm/code/after_schedulers.hpp"
#include "vm/code/change_permission.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/message/request.hpp"
#include "vm/nif/library.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/report.hpp"
#include "vm/term/bits.hpp"

// Modules: which are loaded and what they export, loading, deleting, purging. The library's `code`
// module is built on these functions.
namespace vmrun {
namespace {

Term name_arity(Heap& heap, const FunctionHeader& f) {
  return new_tuple(heap, f.function, Term::small(f.arity));
}

bool exports(const Module& m, Term function, unsigned arity) {
  return std::ranges::any_of(
      m.exports, [&](const auto& x) { return x.entry->function == function && x.entry->arity == arity; });
}

/// Whether the function exists only so that a call of another one can continue or wait in it. In
/// OTP its module does not export such functions.
bool is_trap(const BifRow& row) {
  return row.fn == bif_erlang_bif_return_trap_2 || row.fn == bif_erlang_ptab_list_continue_2;
}

/// The module's exports, with the built-in functions of its name.
Term exports_of(Heap& heap, const Module& m) {
  ListBuilder list(heap);
  for (const BifRow& row : std::span(kBifRows, kBifRowCount)) {
    if (atom_text(m.name) != row.module || is_trap(row) || !row.exists()) continue;
    const Term function = intern_atom(row.name);
    if (!exports(m, function, row.arity)) list.add(new_tuple(heap, function, Term::small(row.arity)));
  }
  for (const auto& x : m.exports | std::views::reverse)  // the last one of the file comes first, as in OTP
    list.add(new_tuple(heap, x.entry->function, Term::small(x.entry->arity)));
  return list.finish();
}

Term functions_of(Heap& heap, const Module& m) {
  ListBuilder list(heap);
  for (std::uint32_t word : m.functions)
    list.add(name_arity(heap, *reinterpret_cast<const FunctionHeader*>(m.begin() + word)));
  return list.finish();
}

Term natives_of(Heap& heap, const Module& m) {
  ListBuilder list(heap);
  for (const auto& [function, arity] : native_functions(m))
    list.add(new_tuple(heap, function, Term::small(arity)));
  return list.finish();
}

/// Returns one item of module_info, or the non-value when there is no such item.
Term module_item(Heap& heap, const Module& m, std::string_view item) {
  if (item == "module") return m.name;
  if (item == "exports") return exports_of(heap, m);
  if (item == "functions") return functions_of(heap, m);
  if (item == "attributes") return m.attributes;
  if (item == "compile") return m.compile_info;
  if (item == "md5") return make_binary(heap, m.md5, sizeof m.md5);
  if (item == "nifs") return natives_of(heap, m);
  if (item == "native_addresses") return Term::nil();
  if (item == "native") return atoms::false_;
  return kNonValue;
}

Module* module_argument(Term name) { return name.is_atom() ? current_module(name) : nullptr; }

Term error_tuple(Heap& heap, Term reason) { return new_tuple(heap, atoms::error, reason); }

}  // namespace

Term bif_erlang_get_module_info_1(Process& p, const Term* a) {
  const Module* m = module_argument(a[0]);
  if (!m) return raise_badarg(p);
  ListBuilder list(p.heap);
  for (const char* item : {"module", "exports", "attributes", "compile", "md5"})
    list.add(new_tuple(p.heap, intern_atom(item), module_item(p.heap, *m, item)));
  return list.finish();
}

Term bif_erlang_get_module_info_2(Process& p, const Term* a) {
  const Module* m = module_argument(a[0]);
  if (!m || !a[1].is_atom()) return raise_badarg(p);
  const Term value = module_item(p.heap, *m, atom_text(a[1]));
  return value.is_value() ? value : raise_badarg(p);
}

Term bif_erlang_function_exported_3(Process& p, const Term* a) {
  SWord arity;
  if (!a[0].is_atom() || !a[1].is_atom() || !a[2].is_small()) return raise_badarg(p);
  if (!small_in_range(a[2], 0, 255, &arity)) return atoms::false_;
  const Export* e = find_export(a[0], a[1], static_cast<unsigned>(arity));
  return bool_term(e && is_defined(*e));
}

Term bif_erlang_module_loaded_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  return bool_term(current_module(a[0]) != nullptr);
}

namespace {
/// Whether a module is a part of the machine that OTP does not have. Such modules are not listed:
/// tools load, trace and compare what is.
bool is_own(Term module) { return atom_text(module).starts_with("vmrun_"); }
}  // namespace

Term bif_erlang_loaded_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  for (const Module* m : loaded_modules())
    if (!is_own(m->name)) list.add(m->name);
  return list.finish();
}

namespace {
std::vector<Term> preloaded;
}
void note_preloaded(Term module) { preloaded.push_back(module); }

Term bif_erlang_pre_loaded_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  for (const Term module : preloaded)
    if (!is_own(module)) list.add(module);
  return list.finish();
}

/// Returns {module, Name} or {error, badfile | not_purged | on_load}. on_load: the version waits
/// until its on_load function has run, which a call of an undefined function of the module causes.
Term bif_erlang_load_module_2(Process& p, const Term* a) {
  if (!a[0].is_atom() || !is_binary(a[1])) return raise_badarg(p);
  if (too_long(bit_size_of(a[1]) / 8))
    return came_back(p) || may_change_code(p) ? run_on_dirty(p, bif_erlang_load_module_2, a, 2) : kNonValue;
  if (!after_schedulers(p, {a, 1})) return kNonValue;
  const BytesOf bytes(a[1]);
  const std::string file(atom_text(a[0]));
  const LoadResult r = load_module(a[0], bytes.data(), bytes.size(), file);
  bump_reductions(p, static_cast<SWord>(bytes.size() / 32));
  if (!r.module) {
    // As in prepared_code.cpp. Old code that has not been purged is no fault of the module.
    static const Term badfile = intern_atom("badfile");
    if (r.reason == badfile) report_error("Error loading module " + r.message);
    return error_tuple(p.heap, r.reason);
  }
  if (r.module->on_load) return error_tuple(p.heap, intern_atom("on_load"));
  static const Term module = intern_atom("module");
  return new_tuple(p.heap, module, a[0]);
}

/// Loads the code that is found for the name, as a call of one of its functions would. Returns
/// {module, Name} or {error, nofile | badfile}.
Term bif_erts_internal_ensure_loaded_1(Process& p, const Term* a) {
  static const Term module = intern_atom("module"), nofile = intern_atom("nofile"),
                    badfile = intern_atom("badfile");
  if (!a[0].is_atom()) return raise_badarg(p);
  if (came_back(p) ||
      (dirty_thread_kind() == DirtyKind::kNone && !current_module(a[0]) && !autoload_is_quick(a[0])))
    return run_on_dirty(p, bif_erts_internal_ensure_loaded_1, a, 1, DirtyKind::kIo);
  std::string message;
  if (!autoload_module(a[0], &message)) return error_tuple(p.heap, message.empty() ? nofile : badfile);
  return new_tuple(p.heap, module, a[0]);
}

/// Returns what the caller must do before it calls the module: done, start, circular, or the pid of
/// a process whose end it waits for. See runtime/lib/vmrun_on_load.erl.
Term bif_erts_internal_await_on_load_1(Process& p, const Term* a) {
  static const Term done = intern_atom("done"), start = intern_atom("start"),
                    circular = intern_atom("circular");
  if (!a[0].is_atom()) return raise_badarg(p);
  Term runner;
  switch (await_on_load(a[0], p.id, &runner)) {
    case OnLoadWait::kNot: return done;
    case OnLoadWait::kStart: return start;
    case OnLoadWait::kCircular: return circular;
    case OnLoadWait::kRunner: break;
  }
  return runner;
}

/// Whether the caller may run the function now.
Term bif_erts_internal_claim_on_load_1(Process& p, const Term* a) {
  return a[0].is_atom() ? bool_term(claim_on_load(a[0], p.id)) : raise_badarg(p);
}

/// Only the process that has claimed the on_load function may call it.
Term bif_erlang_call_on_load_function_1(Process& p, const Term* a) {
  Export* f = a[0].is_atom() ? on_load_function(a[0], p.id) : nullptr;
  return f ? trap_to(p, f, {}) : raise_badarg(p);
}

/// (Module, the process that claimed it, result of the function)
Term bif_erts_internal_finish_on_load_3(Process& p, const Term* a) {
  if (!a[0].is_atom() || !a[1].is_local_pid()) return raise_badarg(p);
  if (Module* failed = finish_on_load(a[0], a[1], a[2])) retire_with_library(failed);
  return atoms::true_;
}

/// (Name in messages, text of a module), both binaries. Returns {ok, Beam} or {error, Messages}.
Term bif_erts_internal_compile_text_2(Process& p, const Term* a) {
  if (!is_binary(a[0]) || !is_binary(a[1]) || !code_source()) return raise_badarg(p);
  if (dirty_thread_kind() == DirtyKind::kNone) return run_on_dirty(p, bif_erts_internal_compile_text_2, a, 2);
  const BytesOf name(a[0]), text(a[1]);
  std::vector<std::uint8_t> beam;
  std::string messages;
  const bool ok =
      code_source()->compile({reinterpret_cast<const char*>(name.data()), name.size()},
                             {reinterpret_cast<const char*>(text.data()), text.size()}, &beam, &messages);
  bump_reductions(p, static_cast<SWord>(text.size()));
  const std::string_view answer =
      ok ? std::string_view(reinterpret_cast<const char*>(beam.data()), beam.size()) : messages;
  std::uint8_t* bytes;
  const Term binary = new_binary(p.heap, answer.size(), &bytes);
  std::memcpy(bytes, answer.data(), answer.size());
  return new_tuple(p.heap, ok ? atoms::ok : atoms::error, binary);
}

/// Returns the file that a module was loaded from as a string; `undefined` if it is not loaded.
Term bif_erts_internal_module_path_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  const std::string* path = module_path(a[0]);
  return path ? code_point_list(p.heap, *path) : atoms::undefined;
}

Term bif_erts_internal_set_module_path_2(Process& p, const Term* a) {
  std::string path;
  if (!a[0].is_atom() || !list_to_utf8(a[1], &path)) return raise_badarg(p);
  set_module_path(a[0], std::move(path));
  return atoms::true_;
}

/// Whether a module of an installed OTP needs processes that OTP's kernel starts.
Term bif_erts_internal_needs_kernel_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  return error_handler_is_used_for(a[0]) ? atoms::true_ : atoms::false_;
}

/// The code path as strings. "embedded:" stands for the embedded library.
Term bif_erts_internal_code_path_0(Process& p, const Term*) {
  ListBuilder list(p.heap);
  if (code_source())
    for (const std::string& directory : code_source()->path()) list.add(code_point_list(p.heap, directory));
  return list.finish();
}

Term bif_erts_internal_set_code_path_1(Process& p, const Term* a) {
  std::vector<std::string> path;
  Term rest = a[0];
  for (; rest.is_list(); rest = rest.tail())
    if (!list_to_utf8(rest.head(), &path.emplace_back())) return raise_badarg(p);
  if (!rest.is_nil() || !code_source()) return raise_badarg(p);
  code_source()->set_path(std::move(path));
  return atoms::true_;
}

/// Returns the file that the module's code would be loaded from as a string; [] if there is none.
Term bif_erts_internal_locate_module_1(Process& p, const Term* a) {
  if (!a[0].is_atom() || !code_source()) return raise_badarg(p);
  return code_point_list(p.heap, code_source()->locate(atom_text(a[0])));
}

/// Returns the module's code as it would be loaded, {Beam, Path}; error when there is no code or it
/// is broken.
Term bif_erts_internal_find_module_1(Process& p, const Term* a) {
  if (!a[0].is_atom() || !code_source()) return raise_badarg(p);
  if (came_back(p) || (dirty_thread_kind() == DirtyKind::kNone && !code_source()->in_memory(atom_text(a[0]))))
    return run_on_dirty(p, bif_erts_internal_find_module_1, a, 1, DirtyKind::kIo);
  std::vector<std::uint8_t> beam;
  std::string path;
  if (!code_source()->find(atom_text(a[0]), &beam, &path)) return atoms::error;
  const Term binary = text_binary(p.heap, {reinterpret_cast<const char*>(beam.data()), beam.size()});
  return new_tuple(p.heap, binary, code_point_list(p.heap, path));
}

Term bif_erlang_check_old_code_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  return bool_term(old_module(a[0]) != nullptr);
}

/// Returns true, also when the module has been deleted before; undefined when it has never been
/// loaded. Raises badarg when there is old code that has not been purged. Waits for the schedulers
/// before it deletes.
Term bif_erlang_delete_module_1(Process& p, const Term* a) {
  if (!a[0].is_atom()) return raise_badarg(p);
  if (!after_schedulers(p, {a, 1})) return kNonValue;
  if (!current_module(a[0]) && !old_module(a[0]))
    return was_published(a[0]) ? atoms::true_ : atoms::undefined;
  return delete_module(a[0]) ? atoms::true_ : raise_badarg(p);
}

namespace {

/// Resumes the processes that have called a fun of the old code meanwhile.
void let_callers_go_on(Process& p, Term name) {
  for (const Term caller : end_purge(name))
    ask_async(p, caller, RequestKind::kResume, Term::nil(), Term::nil(), Term::nil(), Term::nil());
}

/// The memory is freed when no process is in the middle of the code; such processes go on.
Term purge(Process& p, Term name) {
  if (wait_for_reclaim(p)) return kNonValue;
  Module* old = take_old_module(name);
  let_callers_go_on(p, name);
  if (!old) return raise_badarg(p);
  retire_with_library(old);
  return atoms::true_;
}

}  // namespace

/// Removes the old version and kills the processes that are in the middle of it.
Term bif_erlang_purge_module_1(Process& p, const Term* a) {
  static Export* const killing = export_entry(intern_atom("killing_purge"), intern_atom("purge_module"), 1);
  return a[0].is_atom() ? trap_to(p, killing, {a[0]}) : raise_badarg(p);
}

/// (Name, prepare): from now on no process enters old code through a fun. A process that calls one
/// waits for the end of the purge in erts_code_purger:pending_purge_lambda/3, if there is such a
/// function. (Name, abort): processes may enter it again. (Name, complete): as purge_module/1.
/// (Name, prepare_on_load): like prepare, for code whose on_load function has failed and which
/// finish_after_on_load/2 has kept. Returns false when there is no such code, or it stays.
Term bif_erts_internal_purge_module_2(Process& p, const Term* a) {
  static const Term prepare = intern_atom("prepare"), abort = intern_atom("abort"),
                    complete = intern_atom("complete"), prepare_on_load = intern_atom("prepare_on_load");
  if (!a[0].is_atom()) return raise_badarg(p);
  if (!may_change_code(p)) return kNonValue;
  if (a[1] == complete) return purge(p, a[0]);
  if (a[1] == prepare_on_load) return bool_term(begin_purge_of_failed(a[0]));
  if (a[1] != prepare && a[1] != abort) return raise_badarg(p);
  if (a[1] == prepare) return bool_term(begin_purge(a[0]));
  set_old_funs(a[0], true);
  let_callers_go_on(p, a[0]);
  return atoms::false_;
}

namespace {

bool read_check_options(Term options, Term* async_id) {
  static const Term allow_gc = intern_atom("allow_gc");
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    if (!o.is_tuple() || o.tuple_arity() != 2) return false;
    if (o.element(0) == atoms::async) *async_id = o.element(1);
    else if (o.element(0) != allow_gc || (o.element(1) != atoms::true_ && o.element(1) != atoms::false_))
      return false;
  }
  return options.is_nil();
}

}  // namespace

Term check_process_code_cause(Process&, unsigned, const Term* a) {
  static const Term bad_option = intern_atom("bad_option");
  Term async_id;
  return read_check_options(a[2], &async_id) ? kNonValue : bad_option;
}

/// Whether the process is in the middle of old code. Options: {async, Id} asks for the answer as a
/// message {check_process_code, Id, Result}; {allow_gc, Bool} is accepted, but no collection is
/// ever needed.
Term bif_erlang_check_process_code_3(Process& p, const Term* a) {
  static const Term tag = intern_atom("check_process_code");
  Term async_id = kNonValue;
  if (!read_check_options(a[2], &async_id) || !is_here_or_was(a[0]) || !a[1].is_atom())
    return raise_badarg(p);
  if (!async_id) return ask(p, a[0], RequestKind::kRunsOldCode, a[1], atoms::false_);
  ask_async(p, a[0], RequestKind::kRunsOldCode, a[1], tag, async_id, atoms::false_);
  return atoms::async;
}
Term bif_erlang_check_process_code_2(Process& p, const Term* a) {
  const Term with_options[] = {a[0], a[1], Term::nil()};
  return bif_erlang_check_process_code_3(p, with_options);
}

}  // namespace vmrun
