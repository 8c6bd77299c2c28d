%% The lab's loops in Erlang.
%%
%%   lab_peer:main(["CASE", "WORKERS", "SIZE"]); how many schedulers work is a matter of `erl +S`
%%
%% One run for each line on standard input; each prints `CHECK VALUE...`, times in nanoseconds.
-module(lab_peer).
-export([main/1]).

main([Name, _Workers, Size]) ->
    serve(Name, list_to_integer(Size)).

serve(Name, N) ->
    case io:get_line("") of
        eof ->
            halt(0);
        _ ->
            %% A process for each run, so that the garbage of one is not the next one's.
            Main = self(),
            spawn_link(fun() -> Main ! {values, run(Name, N)} end),
            receive
                {values, {Check, Values}} ->
                    Words = [io_lib:format(" ~w", [V]) || V <- Values],
                    io:format("~w~s~n", [Check, Words])
            end,
            serve(Name, N)
    end.

run("skynet-detach", N) ->
    timed(fun() ->
        Me = self(),
        spawn(fun() -> skynet(0, N, Me) end),
        receive {sum, Sum} -> Sum end
    end);
run("yield", N) ->
    timed(fun() -> pair(fun(_) -> yields(N div 2) end), N end);
run("pingpong-event", N) ->
    timed(fun() -> pingpong(N div 2), N end);
run("million", N) ->
    million(N);
run("sleepers", N) ->
    sleepers(N).

timed(F) ->
    Began = erlang:monotonic_time(nanosecond),
    Check = F(),
    {Check, [erlang:monotonic_time(nanosecond) - Began]}.

skynet(First, 1, Parent) ->
    Parent ! {sum, First};
skynet(First, Leaves, Parent) ->
    Tenth = Leaves div 10,
    Me = self(),
    [spawn(fun() -> skynet(First + I * Tenth, Tenth, Me) end) || I <- lists:seq(0, 9)],
    Parent ! {sum, collect(10, 0)}.

collect(0, Sum) -> Sum;
collect(Left, Sum) -> receive {sum, S} -> collect(Left - 1, Sum + S) end.

%% Two processes run Each with the numbers 0 and 1.
pair(Each) ->
    Me = self(),
    [spawn(fun() -> Each(I), Me ! done end) || I <- [0, 1]],
    wait(done, 2).

wait(_, 0) -> ok;
wait(Word, Left) -> receive Word -> wait(Word, Left - 1) end.

yields(0) -> ok;
yields(N) -> erlang:yield(), yields(N - 1).

pingpong(Rounds) ->
    Me = self(),
    Other = spawn(fun() -> pong(Rounds, Me) end),
    ping(Rounds, Other).

ping(0, _) -> ok;
ping(N, Other) -> Other ! ball, receive ball -> ping(N - 1, Other) end.

pong(0, _) -> ok;
pong(N, Other) -> receive ball -> Other ! ball, pong(N - 1, Other) end.

%% All wait for one message each, which then comes: the time of all that, and bytes for each.
million(N) ->
    Before = memory(),
    Began = erlang:monotonic_time(nanosecond),
    Me = self(),
    All = [spawn(fun() -> Me ! started, receive go -> Me ! done end end) || _ <- lists:seq(1, N)],
    wait(started, N),
    Paused = erlang:monotonic_time(nanosecond),
    Bytes = (memory() - Before) div N,
    Pause = erlang:monotonic_time(nanosecond) - Paused,
    [P ! go || P <- All],
    wait(done, N),
    {N, [erlang:monotonic_time(nanosecond) - Began - Pause, Bytes]}.

%% Resident memory and page tables, in bytes.
memory() ->
    case file:read_file("/proc/self/status") of
        {ok, Text} ->
            Lines = string:split(Text, "\n", all),
            lists:sum([kilobytes(L) * 1024 || L <- Lines, wanted(L)]);
        _ ->
            0
    end.

wanted(<<"VmRSS:", _/binary>>) -> true;
wanted(<<"VmPTE:", _/binary>>) -> true;
wanted(_) -> false.

kilobytes(Line) ->
    [_, Number | _] = string:lexemes(Line, " \t"),
    binary_to_integer(iolist_to_binary(Number)).

%% Random sleeps of up to a second: median and 99.9th percentile of how late they end.
sleepers(N) ->
    Me = self(),
    [spawn(fun() -> sleeper(Me) end) || _ <- lists:seq(1, N)],
    Late = lists:sort(gather(N, [])),
    {N, [lists:nth(1 + N div 2, Late), lists:nth(1 + N * 999 div 1000, Late)]}.

sleeper(Main) ->
    Span = rand:uniform(1000),
    Began = erlang:monotonic_time(nanosecond),
    receive after Span -> ok end,
    Main ! {late, erlang:monotonic_time(nanosecond) - Began - Span * 1000000}.

gather(0, Late) -> Late;
gather(Left, Late) -> receive {late, L} -> gather(Left - 1, [L | Late]) end.
