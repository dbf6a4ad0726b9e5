package loop

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// opened is a socket with a loop and a peer's, or the test is skipped on a kernel that has no io_uring for it.
func opened(t *testing.T) (*Socket, *net.UDPConn) {
	t.Helper()
	oneProcessor(t)
	udp, peer := bound(t), bound(t)
	socket, err := Open(udp)
	skipWithoutRing(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	return socket, peer
}

func oneProcessor(t *testing.T) {
	t.Helper()
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func skipWithoutRing(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func bound(t *testing.T) *net.UDPConn {
	t.Helper()
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	return udp
}

func addressOf(udp interface{ LocalAddr() net.Addr }) *net.UDPAddr {
	return udp.LocalAddr().(*net.UDPAddr)
}

func TestDatagramsArriveInOrderWithTheirSender(t *testing.T) {
	socket, peer := opened(t)
	const datagrams = 3 * buffers
	for index := range datagrams {
		if _, err := peer.WriteTo(fmt.Append(nil, index), addressOf(socket)); err != nil {
			t.Fatal(err)
		}
	}
	var got, want []string
	for index := range datagrams {
		want = append(want, fmt.Sprint(index))
	}
	for len(got) < datagrams {
		most := 0
		number, err := socket.Receive(8, func(index int, datagram Datagram) {
			got = append(got, string(datagram.Payload))
			most = max(most, index+1)
			if datagram.From.String() != peer.LocalAddr().String() {
				t.Errorf("from %s, not %s", datagram.From, peer.LocalAddr())
			}
		})
		if err != nil || number != most || number > 8 {
			t.Fatalf("%d datagrams, %d given, %v", number, most, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestDatagramsAreSentInOrderWhenTheReaderWaits(t *testing.T) {
	socket, peer := opened(t)
	sizes := []int{}
	for index := range 2*entries + 3 {
		sizes = append(sizes, 100+index)
	}
	sizes = append(sizes, mostPayload+1, 1) // one that has no slot, and one after it
	for _, size := range sizes {
		if n, _, err := socket.WriteMsgUDP(make([]byte, size), nil, addressOf(peer)); n != size || err != nil {
			t.Fatal(n, err)
		}
	}
	_ = socket.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := socket.Receive(1, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	_ = peer.SetReadDeadline(time.Now().Add(time.Second))
	buffer := make([]byte, 2*mostPayload)
	for _, size := range sizes {
		if n, err := peer.Read(buffer); n != size || err != nil {
			t.Fatalf("got %d bytes of %d: %v", n, size, err)
		}
	}
}

func TestADatagramThatCannotBeSentIsAnErrorOfTheNext(t *testing.T) {
	socket, peer := opened(t)
	nowhere := &net.UDPAddr{IP: addressOf(peer).IP} // port 0
	if _, _, err := socket.WriteMsgUDP([]byte("x"), nil, nowhere); err != nil {
		t.Fatal(err)
	}
	_ = socket.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := socket.Receive(1, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	for _, want := range []error{syscall.EINVAL, nil} {
		if _, _, err := socket.WriteMsgUDP([]byte("x"), nil, addressOf(peer)); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

func TestTimersAndGoroutinesRunWhileTheReaderWaits(t *testing.T) {
	socket, peer := opened(t)
	started := time.Now()
	time.AfterFunc(30*time.Millisecond, func() {
		go func() { _, _, _ = socket.WriteMsgUDP([]byte("timer"), nil, addressOf(socket)) }()
	})
	var from *net.UDPAddr
	if _, err := socket.Receive(1, func(_ int, datagram Datagram) { from = datagram.From }); err != nil {
		t.Fatal(err)
	}
	if from.String() != socket.LocalAddr().String() || time.Since(started) < 30*time.Millisecond {
		t.Errorf("a datagram from %s after %s; the peer is %s", from, time.Since(started), peer.LocalAddr())
	}
}

// Another thread ends its system call: the runtime's monitor interrupts the reader, within 10 ms or so.
func TestAThreadThatComesBackIsNotForgotten(t *testing.T) {
	socket, _ := opened(t)
	go func() {
		_ = syscall.Nanosleep(&syscall.Timespec{Nsec: 50 * millisecond}, nil)
		_ = socket.SetReadDeadline(time.Now())
	}()
	// with no timer and no datagram
	if _, err := socket.Receive(1, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestOneSocketAProgram(t *testing.T) {
	socket, peer := opened(t)
	if _, err := Open(peer); err == nil {
		t.Error("a second socket was opened")
	}
	if err := socket.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := socket.Receive(1, nil); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, _, err := socket.WriteMsgUDP(nil, nil, addressOf(peer)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	again, err := Open(peer)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

func TestAProgramWithMoreProcessorsHasNone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	if _, err := Open(bound(t)); err == nil {
		t.Error("opened")
	}
}

func TestTimersHaveTheResolutionOfEpoll(t *testing.T) {
	for timeout, want := range map[int64]int64{
		1 * millisecond:       1*millisecond + 50_000,
		200 * millisecond:     200*millisecond + 200_000,
		200_000 * millisecond: 200_000*millisecond + 100*millisecond,
	} {
		if got := withSlack(timeout); got != want {
			t.Errorf("%d: got %d, want %d", timeout, got, want)
		}
	}
}
