%% A directory of a test's own, removed when the test is over
-module(scratch).
-export([dir/1]).

dir(Test) ->
    Dir = "/tmp/vmrun_test_" ++ os:getpid() ++ "_" ++ integer_to_list(erlang:unique_integer([positive])),
    case file:make_dir(Dir) of
        {error, eexist} -> dir(Test);  % a test's that was killed
        ok -> try Test(Dir) after file:del_dir_r(Dir) end
    end.
