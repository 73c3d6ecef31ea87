/* A number that 64 bits do not hold. */
/* expect-err: 99999999999999999999s is out of range: the interval is 200000 ns to 4611686018427387904 ns */

wall-99999999999999999999s { }
