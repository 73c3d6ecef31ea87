/* SPDX-License-Identifier: Apache-2.0 */
/* What the jump from one instruction to the next costs on this machine, by how many places the
 * program has: what the processor can keep of them it predicts. A loop of 16 instructions, as the
 * interpreter's, goes through random programs.
 *
 *   cc -O2 -fno-gcse -fno-crossjumping -o /tmp/dispatch bench/dispatch.c && /tmp/dispatch
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kInstructions = 16, kEnd = kInstructions };
static const long kJumps = 50 * 1000 * 1000;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Goes through the program so many times. */
static uint64_t run(const uint16_t* program, long rounds) {
  static const void* const dispatch[] = {&&i0, &&i1,  &&i2,  &&i3,  &&i4,  &&i5,  &&i6,  &&i7, &&i8,
                                         &&i9, &&i10, &&i11, &&i12, &&i13, &&i14, &&i15, &&end};
  const uint16_t* at = program;
  uint64_t value = 0;
  goto* dispatch[*at];
#define INSTRUCTION(n)            \
  i##n : value = value * 3 + (n); \
  ++at;                           \
  goto* dispatch[*at]
  INSTRUCTION(0);
  INSTRUCTION(1);
  INSTRUCTION(2);
  INSTRUCTION(3);
  INSTRUCTION(4);
  INSTRUCTION(5);
  INSTRUCTION(6);
  INSTRUCTION(7);
  INSTRUCTION(8);
  INSTRUCTION(9);
  INSTRUCTION(10);
  INSTRUCTION(11);
  INSTRUCTION(12);
  INSTRUCTION(13);
  INSTRUCTION(14);
  INSTRUCTION(15);
end:
  if (--rounds == 0) return value;
  at = program;
  goto* dispatch[*at];
}

int main(void) {
  for (long places = 100; places <= 100 * 1000; places *= 10) {
    uint16_t* program = malloc((size_t)(places + 1) * sizeof *program);
    for (long i = 0; i < places; ++i) program[i] = (uint16_t)(rand() % kInstructions);
    program[places] = kEnd;
    const long rounds = kJumps / places;
    const double begin = seconds();
    const uint64_t value = run(program, rounds);
    printf("%6ld places: %.2f ns a jump (%016lx)\n", places,
           (seconds() - begin) / (double)(rounds * places) * 1e9, (unsigned long)value);
    free(program);
  }
}
