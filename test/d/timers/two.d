/* Timers run side by side. */
#pragma D option quiet

tick-2ms { @a = count(); }
tick-20ms /n++ == 3/ { exit(0); }
END { clear(@a); printa("%@d\n", @a); }

/* expect: 0 */
