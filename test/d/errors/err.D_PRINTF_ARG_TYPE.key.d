/* %s of a key that is a number. */

BEGIN { @a[1] = count(); printa("%s %@d", @a); }
