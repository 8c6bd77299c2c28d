-- The lab's loops in Haskell, on GHC's green threads.
--
--   Peer CASE WORKERS SIZE; how many workers there are is a matter of `+RTS -N`
--
-- One run for each line on standard input; each prints `CHECK NANOSECONDS`.
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.Word
import GHC.Clock (getMonotonicTimeNSec)
import System.Environment
import System.Exit
import System.IO

skynet :: Word64 -> Word64 -> MVar Word64 -> IO ()
skynet first 1 result = putMVar result first
skynet first leaves result = do
  let tenth = leaves `div` 10
  results <- newEmptyMVar
  forM_ [0 .. 9] $ \i -> forkIO (skynet (first + i * tenth) tenth results)
  let collect :: Int -> Word64 -> IO Word64
      collect 0 total = return total
      collect left total = do
        one <- takeMVar results
        let total' = total + one
        total' `seq` collect (left - 1) total'
  total <- collect 10 0
  putMVar result total

-- Two threads, each to its end.
pair :: IO () -> IO () -> IO ()
pair a b = do
  ends <- forM [a, b] $ \act -> do
    end <- newEmptyMVar
    _ <- forkIO (act >> putMVar end ())
    return end
  mapM_ takeMVar ends

times :: Word64 -> IO () -> IO ()
times 0 _ = return ()
times n act = act >> times (n - 1) act

run :: String -> Word64 -> IO Word64
run "skynet-detach" n = do
  result <- newEmptyMVar
  _ <- forkIO (skynet 0 n result)
  takeMVar result
run "yield" n = pair (times (n `div` 2) yield) (times (n `div` 2) yield) >> return n
run "pingpong-event" n = do
  there <- newEmptyMVar
  back <- newEmptyMVar
  pair
    (times (n `div` 2) (putMVar there () >> takeMVar back))
    (times (n `div` 2) (takeMVar there >> putMVar back ()))
  return n
run name _ = hPutStrLn stderr ("no case " ++ name) >> exitWith (ExitFailure 2)

main :: IO ()
main = do
  [name, _workers, size] <- getArgs
  let serve = do
        end <- isEOF
        unless end $ do
          _ <- getLine
          began <- getMonotonicTimeNSec
          check <- run name (read size)
          ended <- getMonotonicTimeNSec
          putStrLn (show check ++ " " ++ show (ended - began))
          hFlush stdout
          serve
  serve
