package loop

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// connected is a stream and its peer.
func connected(t *testing.T) (*Stream, net.Conn) {
	t.Helper()
	oneProcessor(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	stream, err := OpenStream(conn.(*net.TCPConn))
	skipWithoutRing(t, err)
	t.Cleanup(func() { _ = stream.Close() })
	return stream, peer
}

func TestBytesArriveUntilTheEnd(t *testing.T) {
	stream, peer := connected(t)
	sent := bytes.Repeat([]byte("0123456789"), 3*streamBytes/10)
	go func() {
		_, _ = peer.Write(sent)
		_ = peer.Close()
	}()
	if got, err := io.ReadAll(stream); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d, %v", len(got), len(sent), err)
	}
	if _, err := stream.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
}

func TestAStreamHasADeadlineAndAnEnd(t *testing.T) {
	stream, peer := connected(t)
	if err := stream.SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	_ = stream.SetDeadline(time.Time{})
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := stream.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Error(n, err)
	}
	time.AfterFunc(time.Millisecond, func() { _ = stream.Close() })
	if _, err := stream.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
