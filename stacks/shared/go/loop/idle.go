package loop

import (
	"errors"
	"reflect"
	"runtime"
	"runtime/metrics"
	"unsafe"
)

// idleness tells what the Go scheduler would do next.
type idleness struct {
	runnable   []metrics.Sample
	sleepUntil func() int64
}

func newIdleness() (*idleness, error) {
	i := &idleness{runnable: []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}}
	metrics.Read(i.runnable)
	if i.runnable[0].Value.Kind() != metrics.KindUint64 {
		return nil, errors.New("the Go runtime does not count runnable goroutines")
	}
	entry := runtimeFunction("runtime.timeSleepUntil")
	if entry == 0 {
		return nil, errors.New("the Go runtime has no timeSleepUntil")
	}
	pointer := &entry // a func value points to a word that has the code's address
	i.sleepUntil = *(*func() int64)(unsafe.Pointer(&pointer))
	return i, nil
}

// idle lets all other goroutines run, and says whether that left none that could go on.
func (i *idleness) idle() bool {
	runtime.Gosched()
	metrics.Read(i.runnable)
	return i.runnable[0].Value.Uint64() == 0
}

//go:linkname nanotime runtime.nanotime
func nanotime() int64

const (
	forEver     = -1
	millisecond = 1_000_000
	// what the runtime calls a timer that never fires
	never = 1 << 62
)

// untilTimer is how long the runtime would sleep for its next timer, 0 if that is due; forEver without one.
//
// The runtime asks epoll_wait for whole milliseconds, at least one, and the kernel grants it a
// thousandth more, at least 50 us. A program's timers have the same resolution here.
func (i *idleness) untilTimer() int64 {
	until := i.sleepUntil()
	if until > never {
		return forEver
	}
	left := until - nanotime()
	if left <= 0 {
		return 0
	}
	return withSlack(max(left/millisecond, 1) * millisecond)
}

// withSlack adds what Linux adds to a timeout of poll, select and epoll_wait.
func withSlack(timeout int64) int64 {
	const least, most = 50_000, 100 * millisecond
	return timeout + min(max(timeout/1000, least), most)
}

// runtimeFunction is the address of a function of the runtime's, 0 if there is none. The linker
// refuses to name it, but the table behind stack traces does not.
func runtimeFunction(name string) uintptr {
	const alignment = 16
	start := reflect.ValueOf(runtime.Gosched).Pointer()
	for _, step := range []uintptr{alignment, ^uintptr(alignment - 1)} {
		for pc := start; ; pc += step {
			function := runtime.FuncForPC(pc)
			if function == nil {
				break
			}
			if function.Name() == name {
				return function.Entry()
			}
		}
	}
	return 0
}
