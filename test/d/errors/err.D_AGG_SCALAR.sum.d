/* sum of a text. */

BEGIN { @a = sum("text"); }
