/* trunc by a text. */

BEGIN { @a = count(); trunc(@a, "x"); }
