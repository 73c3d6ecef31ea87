/* What is refused, by name. */
/* expect-err: raise( ) is not available: the target is not signalled */

BEGIN { raise(9); }
