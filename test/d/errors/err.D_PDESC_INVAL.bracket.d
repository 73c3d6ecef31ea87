/* A set of characters without an end would take the colons in. */
/* expect-err: a [ has no ] in probe description: erlang*:a[b:f:entry */

erlang*:a[b:f:entry { }
