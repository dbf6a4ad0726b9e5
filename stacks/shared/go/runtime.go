package endpoint

import (
	"os"
	"runtime"
	"runtime/debug"
)

// TuneRuntime makes the process cheap to simulate; heapBytes is a soft limit on all of
// the Go runtime's memory.
//
// One P: in the guest every goroutine that runs on a second thread costs switches
// through the kernel, and with one P no two goroutines ever run at the same time.
//
// The collector runs when the heap has grown to heapBytes, and not in proportion
// to the few hundred live kilobytes: a stable footprint, faulted in once, with
// few collections.
func TuneRuntime(heapBytes int64) {
	runtime.GOMAXPROCS(1)
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(heapBytes)
	}
}
