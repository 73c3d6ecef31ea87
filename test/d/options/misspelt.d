/* All errors of a clause are told at once, each with its place and what was meant. */
/* flags: -n 'BEGIN { trace(tiemstamp); pritnf("x"); }' -n 'BEGN { }' */
/* status: 1 */

/* expect-err: -n:1:15: error: failed to resolve tiemstamp: unknown variable name, did you mean timestamp? */
/* expect-err:    1 | BEGIN { trace(tiemstamp); pritnf("x"); } */
/* expect-err:      |               ^^^^^^^^^ */
/* expect-err: -n:1:27: error: undefined function name: pritnf, did you mean printf? */
/* expect-err:    1 | BEGIN { trace(tiemstamp); pritnf("x"); } */
/* expect-err:      |                           ^^^^^^ */
/* expect-err: -n#2:1:1: error: probe description BEGN does not match any probes, did you mean BEGIN? */
/* expect-err:    1 | BEGN { } */
/* expect-err:      | ^^^^ */
