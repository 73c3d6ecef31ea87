/* A timer has a number, not a pattern. */
/* expect-err: probe description tick-* does not match any probes: tick- needs a number */

tick-* { }
