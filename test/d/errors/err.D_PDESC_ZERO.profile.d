/* A rate beyond the fastest. */
/* expect-err: :4:1: error: [D_PDESC_ZERO] probe description profile-5001 does not match any probes: 5001 is out of range */

profile-5001 { }
