/* A function that there is not for an aggregation. */

BEGIN { @ = mean(3); }
