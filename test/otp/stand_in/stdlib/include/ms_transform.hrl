%% Parse transforms are not supported: cases that call ets:fun2ms fail.
