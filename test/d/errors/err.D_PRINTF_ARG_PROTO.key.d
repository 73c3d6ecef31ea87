/* A conversion for a key that there is not. */

BEGIN { @a[1] = count(); printa("%d %d %@d", @a); }
