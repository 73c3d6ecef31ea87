/* Of several targets a description must match one at least. */
/* flags: -xerrtags -c "{vmrun} test/d/target/messages.act" -c "{vmrun} test/d/target/reverse.act" */
/* status: 1 */
#pragma D option quiet

erlang*:::process-spawn { n++; }
erlang*:::no-such-probe { n++; }

/* expect-err: :7:1: error: [D_PDESC_ZERO] probe description erlang*:::no-such-probe does not match any probes */
