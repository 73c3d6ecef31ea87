/* BEGIN is a probe of dtrace. */
/* expect-err: that probe is of the provider dtrace */

profile:::BEGIN { }
