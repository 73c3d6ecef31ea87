/* SPDX-License-Identifier: Apache-2.0 */
/* Made for another machine. */
#include <erl_nif.h>
ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void);
ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void) {
  static ErlNifEntry entry = {2,
                              16,
                              "bad_libraries",
                              0,
                              NULL,
                              NULL,
                              NULL,
                              NULL,
                              NULL,
                              "beam.other",
                              1,
                              sizeof(ErlNifResourceTypeInit),
                              "erts-12.0"};
  return &entry;
}
