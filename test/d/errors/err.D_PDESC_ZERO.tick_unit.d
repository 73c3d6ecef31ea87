/* The units there are, when one is none. */
/* expect-err: :4:1: error: [D_PDESC_ZERO] probe description tick-2parsec does not match any probes: "parsec" is no unit; there are ns, nsec, us, usec, ms, msec, s, sec, m, min, h, hour, d, day, hz */

tick-2parsec { }
