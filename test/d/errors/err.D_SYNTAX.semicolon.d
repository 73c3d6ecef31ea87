/* Two statements without a semicolon. */

BEGIN { trace(1) trace(2) }
