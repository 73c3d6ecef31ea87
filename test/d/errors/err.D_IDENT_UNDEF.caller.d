/* The kernel's caller. */

BEGIN { trace(caller); }
