/* Parts of a term as the key of an aggregation. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit /is_tuple(targs[1])/ { @[element(1, targs[1]), term2int(element(2, targs[1]))] = sum(term2int(element(3, targs[1]))); }

/* expect: */
/* expect:   order                                                             8               50 */
/* expect:   order                                                             7              250 */
