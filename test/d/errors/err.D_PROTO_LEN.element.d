/* Keys of an array are always as many. */

BEGIN { a[1] = 2; trace(a[1, 2]); }
