// The lab's loops in Go.
//
//	peer CASE WORKERS SIZE
//
// One run for each line on standard input; each prints `CHECK VALUE...`, times in nanoseconds.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

func skynet(first, leaves uint64, result chan<- uint64) {
	if leaves == 1 {
		result <- first
		return
	}
	tenth := leaves / 10
	results := make(chan uint64)
	for i := uint64(0); i < 10; i++ {
		go skynet(first+i*tenth, tenth, results)
	}
	sum := uint64(0)
	for i := 0; i < 10; i++ {
		sum += <-results
	}
	result <- sum
}

// Two goroutines run each with the numbers 0 and 1.
func pair(each func(me uint64)) {
	var done sync.WaitGroup
	for me := uint64(0); me < 2; me++ {
		done.Add(1)
		go func() {
			defer done.Done()
			each(me)
		}()
	}
	done.Wait()
}

func yields(n uint64) {
	pair(func(uint64) {
		for i := uint64(0); i < n/2; i++ {
			runtime.Gosched()
		}
	})
}

// Each holds one of three mutexes, takes the next one of the ring and lets go of the one behind.
func byMutex(n uint64) {
	var ring [3]sync.Mutex
	var ready sync.WaitGroup
	ready.Add(2)
	pair(func(me uint64) {
		held := &ring[me]
		held.Lock()
		ready.Done()
		ready.Wait()
		for i := uint64(1); i <= n/2; i++ {
			next := &ring[(me+i)%3]
			next.Lock()
			held.Unlock()
			held = next
		}
		held.Unlock()
	})
}

func byCondition(n uint64) {
	var mutex sync.Mutex
	changed := sync.NewCond(&mutex)
	turn := uint64(0)
	pair(func(me uint64) {
		mutex.Lock()
		defer mutex.Unlock()
		for i := uint64(0); i < n/2; i++ {
			for turn%2 != me {
				changed.Wait()
			}
			turn++
			changed.Signal()
		}
	})
}

// A channel is what one goroutine usually signals another with.
func byChannel(n uint64) {
	var balls [2]chan struct{}
	for i := range balls {
		balls[i] = make(chan struct{}, 1)
	}
	balls[0] <- struct{}{}
	pair(func(me uint64) {
		for i := uint64(0); i < n/2; i++ {
			<-balls[me]
			balls[1-me] <- struct{}{}
		}
	})
}

// Resident memory and page tables, in bytes.
func memory() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "VmRSS:") || strings.HasPrefix(line, "VmPTE:") {
			kilobytes, _ := strconv.ParseFloat(strings.Fields(line)[1], 64)
			sum += kilobytes * 1024
		}
	}
	return sum
}

// All block on one channel, which is then closed: the time of all that, and bytes for each.
func million(n uint64) (float64, float64) {
	before := memory()
	began := time.Now()
	gate := make(chan struct{})
	var started, done sync.WaitGroup
	started.Add(int(n))
	done.Add(int(n))
	for i := uint64(0); i < n; i++ {
		go func() {
			started.Done()
			<-gate
			done.Done()
		}()
	}
	started.Wait()
	paused := time.Now()
	bytes := (memory() - before) / float64(n)
	pause := time.Since(paused)
	close(gate)
	done.Wait()
	return float64((time.Since(began) - pause).Nanoseconds()), bytes
}

// Random sleeps of up to a second: median and 99.9th percentile of how late they end.
func sleepers(n uint64) (float64, float64) {
	late := make([]float64, n)
	var done sync.WaitGroup
	done.Add(int(n))
	for i := range late {
		go func() {
			defer done.Done()
			span := time.Duration(rand.Int63n(int64(time.Second)))
			began := time.Now()
			time.Sleep(span)
			late[i] = float64((time.Since(began) - span).Nanoseconds())
		}()
	}
	done.Wait()
	sort.Float64s(late)
	return late[n/2], late[n*999/1000]
}

// Started by one, released together, each computes for 0.1 ms.
func skew(n uint64) float64 {
	gate := make(chan struct{})
	var started, done sync.WaitGroup
	started.Add(int(n))
	done.Add(int(n))
	for i := uint64(0); i < n; i++ {
		go func() {
			started.Done()
			<-gate
			for began := time.Now(); time.Since(began) < 100*time.Microsecond; {
			}
			done.Done()
		}()
	}
	started.Wait()
	began := time.Now()
	close(gate)
	done.Wait()
	return float64(time.Since(began).Nanoseconds())
}

func run(name string, n uint64) (uint64, []float64) {
	began := time.Now()
	switch name {
	case "skynet-detach":
		result := make(chan uint64)
		go skynet(0, n, result)
		sum := <-result
		return sum, []float64{float64(time.Since(began).Nanoseconds())}
	case "million":
		elapsed, bytes := million(n)
		return n, []float64{elapsed, bytes}
	case "sleepers":
		p50, p999 := sleepers(n)
		return n, []float64{p50, p999}
	case "skew":
		return n, []float64{skew(n)}
	case "yield":
		yields(n)
	case "pingpong-mutex":
		byMutex(n)
	case "pingpong-condvar":
		byCondition(n)
	case "pingpong-event":
		byChannel(n)
	default:
		fmt.Fprintln(os.Stderr, "no case", name)
		os.Exit(2)
	}
	return n, []float64{float64(time.Since(began).Nanoseconds())}
}

func main() {
	workers, _ := strconv.Atoi(os.Args[2])
	size, _ := strconv.ParseUint(os.Args[3], 10, 64)
	runtime.GOMAXPROCS(workers)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		check, values := run(os.Args[1], size)
		fmt.Print(check)
		for _, value := range values {
			fmt.Printf(" %.3f", value)
		}
		fmt.Println()
	}
}
