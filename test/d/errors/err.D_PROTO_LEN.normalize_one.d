/* normalize() by nothing. */

BEGIN { @a = count(); normalize(@a); }
