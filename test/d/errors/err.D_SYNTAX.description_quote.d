/* A name without its closing quote ends with its line. */
/* expect-err: :4:9: error: [D_SYNTAX] a name in a probe description has no closing quote: 'my mod:f:entry { } */

erlang*:'my mod:f:entry { }
