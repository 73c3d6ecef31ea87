/* SPDX-License-Identifier: Apache-2.0 */
/* Made for an interface of the future. */
#include <erl_nif.h>
ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void);
ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void) {
  static ErlNifEntry entry = {3,
                              0,
                              "bad_libraries",
                              0,
                              NULL,
                              NULL,
                              NULL,
                              NULL,
                              NULL,
                              ERL_NIF_VM_VARIANT,
                              1,
                              sizeof(ErlNifResourceTypeInit),
                              "erts-99.0"};
  return &entry;
}
