%% Suites take only its assertions.
-include_lib("stdlib/include/assert.hrl").
