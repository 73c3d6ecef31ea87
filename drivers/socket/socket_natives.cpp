// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/socket_natives.hpp"

#include "drivers/socket/socket.hpp"
#include "vm/base/release.hpp"
#include "vm/nif/library.hpp"

namespace vmrun::sockets {
namespace {

int load(ErlNifEnv* env, void**, ERL_NIF_TERM info) {
  settings.names_levels = takes_native(*env, "nif_getopt", 5);
  settings.times_out = takes_native(*env, "nif_sendv", 3);
  settings.names_backend = settings.times_out.load();  // both came with OTP 27
  settings.keeps_parts = default_keeps_partial_reads(release_number);
  return load_sockets(env, info) ? 0 : 1;
}
int upgrade(ErlNifEnv* env, void** data, void**, ERL_NIF_TERM info) { return load(env, data, info); }

#define VMRUN_NATIVE_ROW(name, arity, flags) {"nif_" #name, arity, native::name##_##arity, flags},
ErlNifFunc functions[] = {VMRUN_SOCKET_NATIVES(VMRUN_NATIVE_ROW)};
#undef VMRUN_NATIVE_ROW

ErlNifEntry* entry() {
  static ErlNifEntry made = linked_in_entry("prim_socket", functions, load, upgrade);
  return &made;
}

}  // namespace

void register_natives() { register_linked_in_nifs("prim_socket", entry); }

}  // namespace vmrun::sockets
