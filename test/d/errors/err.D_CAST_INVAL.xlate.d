/* What xlate makes has members only. */

struct s { int n; };
translator struct s <int i> { n = i; };
BEGIN { trace((int)xlate<struct s>(1)); }
