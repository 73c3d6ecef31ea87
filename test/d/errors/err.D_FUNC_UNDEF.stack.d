/* There is no kernel. */
/* expect-err: stack( ) is not available */

BEGIN { stack(); }
