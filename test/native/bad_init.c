/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library, but none of native functions. */
int something(void);
int something(void) { return 1; }
