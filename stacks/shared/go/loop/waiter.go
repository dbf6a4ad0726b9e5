// Package loop gives a program one reader that waits for all of it, in one system call.
//
// Go's scheduler makes two system calls for each wait (it polls before it sleeps), one that reads,
// one that finds nothing more to read, and one for each datagram sent. A program with one
// processor (GOMAXPROCS 1) that waits for one socket and for timers needs none of these: when no
// other goroutine can go on, the socket's reader hands all datagrams that were sent to the kernel,
// and sleeps until something has arrived or the next timer of the Go runtime is due.
package loop

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// waiter is what the one reader of a program waits with.
type waiter struct {
	idleness *idleness
	ring     *uring
	fd       int32
	closed   atomic.Bool
	deadline atomic.Int64 // by the clock of time.Time; 0 without one
}

// taken: two readers that wait for the whole program would wait for each other.
var taken atomic.Bool

func newWaiter(socket syscall.Conn, entries uint32) (*waiter, error) {
	if runtime.GOMAXPROCS(0) != 1 {
		return nil, errors.New("the program has more than one processor")
	}
	idleness, err := newIdleness()
	if err != nil {
		return nil, err
	}
	w := &waiter{idleness: idleness}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	if err := raw.Control(func(fd uintptr) { w.fd = int32(fd) }); err != nil {
		return nil, err
	}
	if !taken.CompareAndSwap(false, true) {
		return nil, errors.New("the program has such a reader")
	}
	if w.ring, err = newUring(entries); err != nil {
		taken.Store(false)
		return nil, err
	}
	return w, nil
}

// close ends the reader; its program may have another one.
func (w *waiter) close() {
	w.closed.Store(true)
	w.ring.close()
	taken.Store(false)
}

// sleep lets the other goroutines run, and calls wait if none can go on, with the nanoseconds until
// something is due (negative without end). It may return early.
func (w *waiter) sleep(wait func(nanoseconds int64)) error {
	idle := w.idleness.idle()
	// after the others have run: one of them may have closed the socket or set a deadline
	if w.closed.Load() {
		return net.ErrClosed
	}
	timeout := int64(forEver)
	if deadline := w.deadline.Load(); deadline != 0 {
		if timeout = deadline - time.Now().UnixNano(); timeout <= 0 {
			return os.ErrDeadlineExceeded
		}
	}
	if !idle {
		return nil
	}
	switch timer := w.idleness.untilTimer(); {
	case timer == 0:
		return nil // the scheduler runs it
	case timeout < 0 || (timer > 0 && timer < timeout):
		timeout = timer
	}
	wait(timeout)
	return nil
}

func (w *waiter) setDeadline(deadline time.Time) {
	if deadline.IsZero() {
		w.deadline.Store(0)
	} else {
		w.deadline.Store(deadline.UnixNano())
	}
}
