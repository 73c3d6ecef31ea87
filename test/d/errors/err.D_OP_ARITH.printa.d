/* An action in an expression. */

BEGIN { @a = count(); x = printa(@a) + 1; }
