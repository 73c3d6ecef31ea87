/* An aggregation lives from firing to firing. */
#pragma D option quiet

int n;
tick-1ms { @[n % 2] = count(); n++; }
tick-1ms /n == 6/ { printa("%d:%@d ", @); exit(0); }

/* expect: 0:3 1:3 */
