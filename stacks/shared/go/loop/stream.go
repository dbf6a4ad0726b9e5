package loop

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// streamBytes is how much is read at once at most.
const streamBytes = 64 << 10

// Stream is a TCP connection for one reader.
type Stream struct {
	net.Conn // not its ways to copy, which would read past this one's
	*waiter
	memory   []byte // outside of Go's heap: the kernel writes to it
	unread   []byte
	ended    error
	awaiting bool
}

// OpenStream is a stream over tcp. An error says why this program or this kernel cannot have one; tcp is as it was.
func OpenStream(tcp *net.TCPConn) (*Stream, error) {
	memory, err := syscall.Mmap(-1, 0, streamBytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS)
	if err != nil {
		return nil, err
	}
	waiter, err := newWaiter(tcp, 1)
	if err != nil {
		_ = syscall.Munmap(memory)
		return nil, err
	}
	return &Stream{Conn: tcp, waiter: waiter, memory: memory}, nil
}

// Read waits for bytes.
func (s *Stream) Read(buffer []byte) (int, error) {
	for len(s.unread) == 0 {
		if s.ended != nil {
			return 0, s.ended
		}
		if err := s.sleep(s.wait); err != nil {
			return 0, err
		}
	}
	number := copy(buffer, s.unread)
	s.unread = s.unread[number:]
	return number, nil
}

func (s *Stream) wait(nanoseconds int64) {
	if !s.awaiting {
		s.ring.push(submission{
			opcode:  opRecv,
			fd:      s.fd,
			address: uint64(uintptr(unsafe.Pointer(&s.memory[0]))),
			length:  streamBytes,
		})
		s.awaiting = true
	}
	if err := s.ring.submitAndWait(nanoseconds); err != nil {
		s.ended = err
		return
	}
	entry, more := s.ring.next()
	if !more {
		return
	}
	s.awaiting = false
	switch err := syscall.Errno(-entry.result); {
	case entry.result > 0:
		s.unread = s.memory[:entry.result]
	case entry.result == 0:
		s.ended = io.EOF
	case err != syscall.ECANCELED && err != syscall.EINTR && err != syscall.EAGAIN:
		s.ended = os.NewSyscallError("recv", err)
	}
}

// SetReadDeadline ends a Read at that time.
func (s *Stream) SetReadDeadline(deadline time.Time) error {
	s.setDeadline(deadline)
	return nil
}

// SetDeadline is for reading and writing.
func (s *Stream) SetDeadline(deadline time.Time) error {
	s.setDeadline(deadline)
	return s.Conn.SetWriteDeadline(deadline)
}

// Close ends the reader and the connection.
func (s *Stream) Close() error {
	if s.closed.Load() {
		return net.ErrClosed
	}
	s.waiter.close()
	return s.Conn.Close()
}
