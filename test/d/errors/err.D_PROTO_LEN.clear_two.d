/* clear() of two. */

BEGIN { @a = count(); clear(@a, @a); }
