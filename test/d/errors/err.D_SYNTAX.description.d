/* A description alone is no clause. */

BEGIN
