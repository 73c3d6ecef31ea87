/* An argument that begins like a number and is none. */
/* args: 12+3 */

BEGIN { trace($1); }
