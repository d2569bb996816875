// SPDX-License-Identifier: Apache-2.0

// The workloads of workload.hpp on Go's scheduler. Goroutines have no join handle: a channel or a WaitGroup stands in.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

var only string
var workers int

func report(name string, operations int, elapsed time.Duration, extra string) {
	fmt.Printf("{\"rival\":\"go\",\"workload\":\"%s\",\"workers\":%d,\"operations\":%d,\"ns_per_op\":%.2f%s}\n",
		name, workers, operations, float64(elapsed.Nanoseconds())/float64(operations), extra)
}

func measure(name string, operations int, work func()) {
	if only != "" && only != name {
		return
	}
	begin := time.Now()
	work()
	report(name, operations, time.Since(begin), "")
}

func yields(tasks, each int) {
	var all sync.WaitGroup
	all.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func() {
			for k := 0; k < each; k++ {
				runtime.Gosched()
			}
			all.Done()
		}()
	}
	all.Wait()
}

func fanOut(count int, work func(uint64)) {
	var all sync.WaitGroup
	all.Add(count)
	for i := 0; i < count; i++ {
		go func(n uint64) {
			work(n)
			all.Done()
		}(uint64(i))
	}
	all.Wait()
}

func fib(n int) uint64 {
	if n < 2 {
		return uint64(n)
	}
	left := make(chan uint64, 1)
	go func() { left <- fib(n - 1) }()
	right := fib(n - 2)
	return <-left + right
}

var sink uint64

func spin(x uint64) {
	x |= 1
	for i := 0; i < 500; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		sink = x
	}
}

func resident() int {
	text, _ := os.ReadFile("/proc/self/statm")
	var size, pages int
	fmt.Sscanf(string(text), "%d %d", &size, &pages)
	return pages * 4096
}

func suspended(count int) {
	name := "wake_1M_suspended"
	if only != "" && only != name {
		return
	}
	runtime.GC()
	before := resident()
	gate := make(chan struct{})
	var started, ended sync.WaitGroup
	started.Add(count)
	ended.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			started.Done()
			<-gate
			ended.Done()
		}()
	}
	started.Wait()
	bytes := (resident() - before) / count
	begin := time.Now()
	close(gate)
	ended.Wait()
	report(name, count, time.Since(begin), fmt.Sprintf(",\"bytes\":%d", bytes))
}

func main() {
	if os.Args[1] == "--list" {
		fmt.Println("{\"rival\":\"go\"}")
		return
	}
	for i, argument := range os.Args {
		if argument == "--only" {
			only = os.Args[i+1]
		}
	}
	for workers = 1; workers <= 2; workers++ {
		runtime.GOMAXPROCS(workers)
		measure("spawn_join", 300000, func() {
			for i := 0; i < 300000; i++ {
				done := make(chan struct{}, 1)
				go func() { done <- struct{}{} }()
				<-done
			}
		})
		measure("yield_1", 1000000, func() { yields(1, 1000000) })
		measure("yield_1k", 1000000, func() { yields(1000, 1000) })
		measure("yield_100k", 2000000, func() { yields(100000, 20) })
		measure("ping_pong", 300000, func() {
			a, b := make(chan struct{}), make(chan struct{})
			go func() {
				for i := 0; i < 300000; i++ {
					<-a
					b <- struct{}{}
				}
			}()
			for i := 0; i < 300000; i++ {
				a <- struct{}{}
				<-b
			}
		})
		measure("fan_out_in_100k", 100000, func() { fanOut(100000, func(uint64) {}) })
		measure("skewed", 20000, func() { fanOut(20000, spin) })
		measure("fib_20", 10945, func() { fib(20) })
		suspended(1000000)
	}
}
