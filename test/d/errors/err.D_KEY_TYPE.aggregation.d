/* A key that is an aggregation. */

BEGIN { @a = count(); @[@a] = count(); }
