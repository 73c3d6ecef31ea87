/* normalize by a text. */

BEGIN { @a = count(); normalize(@a, "x"); }
