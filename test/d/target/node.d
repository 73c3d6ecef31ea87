/* The node's name is there whoever fires, in BEGIN too, as a key and as a text. */
/* target: own_probes.act */
#pragma D option quiet

BEGIN { begun = node; }
erlang*:::user_trace-i4s4 { @[node, node == "nonode@nohost", node == begun] = count(); }
END { printa("%s %d %d\n", @); }

/* expect: nonode@nohost 1 1 */
