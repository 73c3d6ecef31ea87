/* Nothing is copied into a text. */

BEGIN { s = (string)alloca(10); bcopy("abc", s, 3); }
