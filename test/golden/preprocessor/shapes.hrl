-define(UNIT, cm).
-record(circle, {r = 1, unit = ?UNIT}).

area(#circle{r = R}) -> R * R * 3.
