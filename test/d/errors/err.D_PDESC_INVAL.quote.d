/* A backslash before what means no character. */
/* expect-err: :4:1: error: [D_PDESC_INVAL] the escape sequence \x{110000} means no character */

erlang*:'my \x{110000}':f:entry { }
