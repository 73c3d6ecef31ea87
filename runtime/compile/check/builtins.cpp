#include "runtime/compile/check/builtins.hpp"

#include <string>
#include <unordered_map>

namespace vmrun::compile {

// Auto-imported functions of module erlang, by whether guards may call them and whether they are
// older than R14.
// clang-format off
#define VMRUN_GUARD_CLASSIC(X) \
  X(abs, 1) X(bit_size, 1) X(byte_size, 1) X(element, 2) X(float, 1) X(hd, 1) X(is_atom, 1) \
  X(is_binary, 1) X(is_bitstring, 1) X(is_boolean, 1) X(is_float, 1) X(is_function, 1) \
  X(is_function, 2) X(is_integer, 1) X(is_list, 1) X(is_number, 1) X(is_pid, 1) X(is_port, 1) \
  X(is_record, 2) X(is_record, 3) X(is_reference, 1) X(is_tuple, 1) X(length, 1) X(node, 0) X(node, 1) \
  X(round, 1) X(self, 0) X(size, 1) X(tl, 1) X(trunc, 1) X(tuple_size, 1)

#define VMRUN_GUARD_NEW(X) \
  X(binary_part, 2) X(binary_part, 3) X(ceil, 1) X(floor, 1) X(is_map, 1) X(is_map_key, 2) \
  X(map_get, 2) X(map_size, 1) X(max, 2) X(min, 2)

#define VMRUN_CLASSIC(X) \
  X(apply, 2) X(apply, 3) X(atom_to_binary, 2) X(atom_to_list, 1) X(binary_to_atom, 2) \
  X(binary_to_existing_atom, 2) X(binary_to_list, 1) X(binary_to_list, 3) X(binary_to_term, 1) \
  X(bitstring_to_list, 1) X(check_process_code, 2) X(date, 0) X(delete_module, 1) \
  X(disconnect_node, 1) X(erase, 0) X(erase, 1) X(exit, 1) X(exit, 2) X(float_to_list, 1) \
  X(garbage_collect, 0) X(garbage_collect, 1) X(get, 0) X(get, 1) X(get_keys, 1) X(group_leader, 0) \
  X(group_leader, 2) X(halt, 0) X(halt, 1) X(integer_to_list, 1) X(iolist_size, 1) \
  X(iolist_to_binary, 1) X(is_alive, 0) X(is_process_alive, 1) X(link, 1) X(list_to_atom, 1) \
  X(list_to_binary, 1) X(list_to_bitstring, 1) X(list_to_existing_atom, 1) X(list_to_float, 1) \
  X(list_to_integer, 1) X(list_to_pid, 1) X(list_to_tuple, 1) X(load_module, 2) X(make_ref, 0) \
  X(module_loaded, 1) X(monitor_node, 2) X(nodes, 0) X(nodes, 1) X(now, 0) X(open_port, 2) \
  X(pid_to_list, 1) X(port_close, 1) X(port_command, 2) X(port_connect, 2) X(port_control, 3) \
  X(pre_loaded, 0) X(process_flag, 2) X(process_flag, 3) X(process_info, 1) X(process_info, 2) \
  X(processes, 0) X(purge_module, 1) X(put, 2) X(register, 2) X(registered, 0) X(setelement, 3) \
  X(spawn, 1) X(spawn, 2) X(spawn, 3) X(spawn, 4) X(spawn_link, 1) X(spawn_link, 2) X(spawn_link, 3) \
  X(spawn_link, 4) X(spawn_monitor, 1) X(spawn_monitor, 3) X(spawn_opt, 2) X(spawn_opt, 3) \
  X(spawn_opt, 4) X(spawn_opt, 5) X(split_binary, 2) X(statistics, 1) X(term_to_binary, 1) \
  X(term_to_binary, 2) X(throw, 1) X(time, 0) X(tuple_to_list, 1) X(unlink, 1) X(unregister, 1) \
  X(whereis, 1)

#define VMRUN_NEW(X) \
  X(alias, 0) X(alias, 1) X(atom_to_binary, 1) X(binary_to_atom, 1) X(binary_to_existing_atom, 1) \
  X(binary_to_float, 1) X(binary_to_integer, 1) X(binary_to_integer, 2) X(binary_to_term, 2) \
  X(check_old_code, 1) X(check_process_code, 3) X(demonitor, 1) X(demonitor, 2) X(error, 1) \
  X(error, 2) X(error, 3) X(float_to_binary, 1) X(float_to_binary, 2) X(float_to_list, 2) \
  X(garbage_collect, 2) X(get_keys, 0) X(halt, 2) X(integer_to_binary, 1) X(integer_to_binary, 2) \
  X(integer_to_list, 2) X(list_to_integer, 2) X(list_to_port, 1) X(list_to_ref, 1) X(monitor, 2) \
  X(monitor, 3) X(nodes, 2) X(port_command, 3) X(port_to_list, 1) X(ref_to_list, 1) \
  X(spawn_monitor, 2) X(spawn_monitor, 4) X(spawn_request, 1) X(spawn_request, 2) X(spawn_request, 3) \
  X(spawn_request, 4) X(spawn_request, 5) X(spawn_request_abandon, 1) X(term_to_iovec, 1) \
  X(term_to_iovec, 2) X(unalias, 1)
// clang-format on

namespace {

struct Hash {
  size_t operator()(const FunctionName& f) const { return FunctionNameHash()(f); }
};
using Table = std::unordered_map<FunctionName, Builtin, Hash>;

const Table& builtins() {
  static const Table table = [] {
    Table t;
#define X(name, arity) t[{#name, arity}] = {true, true, true};
    VMRUN_GUARD_CLASSIC(X)
#undef X
#define X(name, arity) t[{#name, arity}] = {true, true, false};
    VMRUN_GUARD_NEW(X)
#undef X
#define X(name, arity) t[{#name, arity}] = {true, false, true};
    VMRUN_CLASSIC(X)
#undef X
#define X(name, arity) t[{#name, arity}] = {true, false, false};
    VMRUN_NEW(X)
#undef X
    return t;
  }();
  return table;
}

}  // namespace

const Builtin* find_builtin(std::string_view name, uint32_t arity) {
  auto it = builtins().find({name, arity});
  return it == builtins().end() ? nullptr : &it->second;
}

bool is_guard_operator(std::string_view name, uint32_t arity) {
  static constexpr std::string_view kBinary[] = {"+",    "-",   "*",   "/",   "div", "rem", "band", "bor",
                                                 "bxor", "bsl", "bsr", "==",  "/=",  "=:=", "=/=",  "<",
                                                 "=<",   ">",   ">=",  "and", "or",  "xor"};
  static constexpr std::string_view kUnary[] = {"+", "-", "not", "bnot"};
  if (arity == 2)
    for (std::string_view op : kBinary)
      if (op == name) return true;
  if (arity == 1)
    for (std::string_view op : kUnary)
      if (op == name) return true;
  return false;
}

std::string_view modern_type_test(std::string_view name, uint32_t arity) {
  static constexpr std::string_view kTests[] = {"is_atom",    "is_binary", "is_float",     "is_function",
                                                "is_integer", "is_list",   "is_number",    "is_pid",
                                                "is_port",    "is_record", "is_reference", "is_tuple"};
  for (std::string_view test : kTests)
    if (test.substr(3) == name) return arity == (name == "record" ? 2 : 1) ? test : std::string_view();
  return {};
}

bool is_builtin_type(std::string_view name, uint32_t arity) {
  static constexpr std::string_view kPlain[] = {"any",
                                                "arity",
                                                "atom",
                                                "binary",
                                                "bitstring",
                                                "bool",
                                                "boolean",
                                                "byte",
                                                "char",
                                                "dynamic",
                                                "float",
                                                "function",
                                                "identifier",
                                                "integer",
                                                "iodata",
                                                "iolist",
                                                "list",
                                                "map",
                                                "maybe_improper_list",
                                                "mfa",
                                                "module",
                                                "neg_integer",
                                                "nil",
                                                "no_return",
                                                "node",
                                                "non_neg_integer",
                                                "none",
                                                "nonempty_binary",
                                                "nonempty_bitstring",
                                                "nonempty_list",
                                                "nonempty_maybe_improper_list",
                                                "nonempty_string",
                                                "number",
                                                "pid",
                                                "port",
                                                "pos_integer",
                                                "reference",
                                                "string",
                                                "term",
                                                "timeout",
                                                "tuple"};
  if (arity == 1) return name == "list" || name == "nonempty_list";
  if (arity == 2)
    return name == "maybe_improper_list" || name == "nonempty_improper_list" ||
           name == "nonempty_maybe_improper_list";
  if (arity == 0)
    for (std::string_view t : kPlain)
      if (t == name) return true;
  return false;
}

std::span<const FunctionName> required_callbacks(std::string_view behaviour) {
  static constexpr FunctionName kGenServer[] = {{"handle_call", 3}, {"handle_cast", 2}, {"init", 1}};
  static constexpr FunctionName kGenEvent[] = {{"handle_call", 2}, {"handle_event", 2}, {"init", 1}};
  static constexpr FunctionName kGenStatem[] = {{"callback_mode", 0}, {"init", 1}};
  static constexpr FunctionName kSupervisor[] = {{"init", 1}};
  static constexpr FunctionName kBridge[] = {{"init", 1}, {"terminate", 2}};
  static constexpr FunctionName kApplication[] = {{"start", 2}, {"stop", 1}};
  if (behaviour == "gen_server") return kGenServer;
  if (behaviour == "gen_event") return kGenEvent;
  if (behaviour == "gen_statem") return kGenStatem;
  if (behaviour == "supervisor") return kSupervisor;
  if (behaviour == "supervisor_bridge") return kBridge;
  if (behaviour == "application") return kApplication;
  return {};
}

}  // namespace vmrun::compile
