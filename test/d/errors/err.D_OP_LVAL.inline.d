/* An inline is not assigned. */

inline int two = 2;
BEGIN { two = 3; }
