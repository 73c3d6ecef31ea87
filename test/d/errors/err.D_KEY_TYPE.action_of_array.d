/* An action in a key. */

BEGIN { a[exit(0)] = 1; }
