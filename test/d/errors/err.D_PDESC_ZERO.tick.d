/* A timer too fast to be one. */
/* expect-err: :4:1: error: [D_PDESC_ZERO] probe description tick-1000000hz does not match any probes: 1000000hz is out of range: the interval is 200000 ns to 4611686018427387904 ns, the rate 1 hz to 5000 hz */

tick-1000000hz { }
