/* A text without an end. */

BEGIN { trace("abc
