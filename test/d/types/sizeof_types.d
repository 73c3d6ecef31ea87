/* Sizes of the types of C (LP64) and of D. */
#pragma D option quiet

BEGIN { printf("%d %d %d %d %d %d %d %d %d\n", sizeof (char), sizeof (short), sizeof (int), sizeof (long), sizeof (long long), sizeof (void *), sizeof (int8_t), sizeof (uint16_t), sizeof (int64_t)); exit(0); }

/* expect: 1 2 4 8 8 8 1 2 8 */
