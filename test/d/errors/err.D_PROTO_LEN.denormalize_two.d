/* denormalize() takes one. */

BEGIN { @a = count(); denormalize(@a, 1); }
