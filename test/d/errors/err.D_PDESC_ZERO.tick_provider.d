/* Timers are probes of profile. */
/* expect-err: timers are of the provider profile */

dtrace:::tick-1s { }
