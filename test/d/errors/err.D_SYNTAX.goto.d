/* Nor jumps. */

BEGIN { goto end; }
