/* An empty key. */

BEGIN { @a[] = count(); }
