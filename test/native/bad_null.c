/* SPDX-License-Identifier: Apache-2.0 */
/* Its init function has nothing to give. */
#include <erl_nif.h>
ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void);
ERL_NIF_INIT_EXPORT ErlNifEntry* nif_init(void) { return NULL; }
