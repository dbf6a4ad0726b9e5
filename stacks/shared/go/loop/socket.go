package loop

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	// entries is how many datagrams are sent at once at most
	entries = 64
	// buffers is how many received datagrams the kernel may hold ready, a power of 2
	buffers     = 64
	bufferGroup = 0

	mostControl = 128
	mostPayload = 1 << 11

	// receiving is the user data of the receiving request; those of sends are their slots.
	receiving = entries
)

// Datagram is what was received; its memory is the socket's.
type Datagram struct {
	Payload, Control []byte
	From             *net.UDPAddr
}

// outgoing is a datagram that waits to be sent.
type outgoing struct {
	header  syscall.Msghdr
	vector  syscall.Iovec
	name    syscall.RawSockaddrInet6
	control [mostControl]byte
	payload [mostPayload]byte
}

// incomingHeader is struct io_uring_recvmsg_out; the name, the control messages and the payload follow.
type incomingHeader struct{ name, control, payload, flags uint32 }

type incoming struct {
	header  incomingHeader
	name    syscall.RawSockaddrInet6
	_       [4]byte // the kernel's sizes are multiples of 8
	control [mostControl]byte
	payload [mostPayload]byte
}

// offered is struct io_uring_buf, a buffer that the kernel may fill.
type offered struct {
	address    uint64
	length     uint32
	identifier uint16
	tail       uint16 // in the first: how many were offered in all
}

// shared is the memory that the kernel reads and writes, outside of Go's heap.
type shared struct {
	offered  [buffers]offered
	template syscall.Msghdr
	outgoing [entries]outgoing
	incoming [buffers]incoming
}

// Socket is a UDP socket for one reader. Of a net.UDPConn's ways to read only Receive works.
type Socket struct {
	*net.UDPConn
	*waiter

	mutex     sync.Mutex
	memory    *shared
	sent      int // slots of outgoing in use
	addresses [entries]*net.UDPAddr
	unsent    error // why a datagram that was to be sent was not
	failure   error // of the ring: nothing arrives any more

	armed  bool
	offers uint16
	ready  []completion
	from   *net.UDPAddr // of the datagram before
}

// Open is a socket over udp. An error says why this program or this kernel cannot have one; udp is as it was.
func Open(udp *net.UDPConn) (*Socket, error) {
	waiter, err := newWaiter(udp, entries)
	if err != nil {
		return nil, err
	}
	s := &Socket{UDPConn: udp, waiter: waiter}
	if err := s.start(); err != nil {
		waiter.close()
		return nil, err
	}
	return s, nil
}

// start offers all buffers and begins to receive.
func (s *Socket) start() error {
	memory, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(shared{})),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	s.memory = (*shared)(unsafe.Pointer(&memory[0]))
	if err := s.ring.registerBuffers(&s.memory.offered); err != nil {
		return err
	}
	s.memory.template = syscall.Msghdr{
		Namelen:    uint32(unsafe.Offsetof(incoming{}.control) - unsafe.Offsetof(incoming{}.name)),
		Controllen: mostControl,
	}
	for identifier := range uint16(buffers) {
		s.offer(identifier)
	}
	s.arm()
	if err := s.ring.submit(); err != nil {
		return err
	}
	// A kernel without multishot recvmsg refuses at once.
	s.reap()
	return s.failure
}

// arm asks for datagrams until further notice.
func (s *Socket) arm() {
	s.ring.push(submission{
		opcode:      opRecvMsg,
		flags:       entryBufferSelect,
		ioprio:      receiveMultishot,
		fd:          s.fd,
		address:     uint64(uintptr(unsafe.Pointer(&s.memory.template))),
		length:      1,
		userData:    receiving,
		bufferGroup: bufferGroup,
	})
	s.armed = true
}

// offer gives the kernel a buffer (back). The tail shares a word with the first buffer's identifier.
func (s *Socket) offer(identifier uint16) {
	slot := &s.memory.offered[s.offers%buffers]
	slot.address = uint64(uintptr(unsafe.Pointer(&s.memory.incoming[identifier])))
	slot.length = uint32(unsafe.Sizeof(incoming{}))
	slot.identifier = identifier
	s.offers++
	first := &s.memory.offered[0]
	word := uint32(first.identifier) | uint32(s.offers)<<16
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&first.identifier)), word)
}

// Receive waits for datagrams and gives at most so many of them to take, with their number, from 0.
func (s *Socket) Receive(most int, take func(int, Datagram)) (int, error) {
	for {
		taken, err := s.take(most, take)
		if taken > 0 || err != nil {
			return taken, err
		}
		if err := s.sleep(s.wait); err != nil {
			return 0, err
		}
	}
}

// take gives out what has arrived.
func (s *Socket) take(most int, take func(int, Datagram)) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.reap()
	number := min(most, len(s.ready))
	for index, entry := range s.ready[:number] {
		identifier := uint16(entry.flags >> completionBufferAt)
		take(index, s.datagram(&s.memory.incoming[identifier], int(entry.result)))
		s.offer(identifier)
	}
	s.ready = s.ready[:copy(s.ready, s.ready[number:])]
	if number == 0 {
		return 0, s.failure
	}
	return number, nil
}

func (s *Socket) datagram(buffer *incoming, length int) Datagram {
	payload := length - int(unsafe.Offsetof(buffer.payload))
	return Datagram{
		Payload: buffer.payload[:max(payload, 0)],
		Control: buffer.control[:buffer.header.control],
		From:    s.address(&buffer.name),
	}
}

// address is the sender's; datagrams of one sender that follow each other share it.
func (s *Socket) address(name *syscall.RawSockaddrInet6) *net.UDPAddr {
	port := int(binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&name.Port))[:]))
	ip := name.Addr[:]
	if name.Family == syscall.AF_INET {
		ip = (*syscall.RawSockaddrInet4)(unsafe.Pointer(name)).Addr[:]
	}
	if s.from == nil || s.from.Port != port || string(s.from.IP) != string(ip) {
		s.from = &net.UDPAddr{IP: append(net.IP(nil), ip...), Port: port}
	}
	return s.from
}

// wait sends what is to be sent and waits until something has arrived, at most so many nanoseconds.
func (s *Socket) wait(nanoseconds int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.armed {
		if s.ring.full() {
			s.flush()
		}
		s.arm()
	}
	if err := s.ring.submitAndWait(nanoseconds); err != nil {
		s.failure = err
	}
	s.reap()
	s.sent = 0
}

// flush sends what is to be sent.
func (s *Socket) flush() {
	if err := s.ring.submit(); err != nil {
		s.failure = err
	}
	s.reap()
	s.sent = 0
}

// reap sorts what the kernel has finished: arrivals, and datagrams that it did not send.
func (s *Socket) reap() {
	for {
		entry, more := s.ring.next()
		if !more {
			return
		}
		if entry.userData != receiving {
			s.sendAgain(int(entry.userData), syscall.Errno(-entry.result))
			continue
		}
		s.armed = entry.flags&completionMore != 0
		if entry.result >= 0 {
			s.ready = append(s.ready, entry)
			continue
		}
		switch err := syscall.Errno(-entry.result); err {
		case syscall.ENOBUFS, syscall.ECANCELED, syscall.EINTR, syscall.EAGAIN:
			// all buffers are full, or the thread that asked has ended: ask again
		default:
			s.failure = os.NewSyscallError("recvmsg", err)
		}
	}
}

// sendAgain sends a datagram by a system call that waits while the socket's buffer is full. One that is
// larger than the path allows is lost.
func (s *Socket) sendAgain(slot int, err error) {
	if errors.Is(err, syscall.EMSGSIZE) {
		return
	}
	message := &s.memory.outgoing[slot]
	_, _, err = s.UDPConn.WriteMsgUDP(message.payload[:message.vector.Len], message.control[:message.header.Controllen],
		s.addresses[slot])
	if err != nil {
		s.unsent = err
	}
}

// WriteMsgUDP sends a datagram when no goroutine can go on, or many wait to be sent. An error may be an earlier one's.
func (s *Socket) WriteMsgUDP(payload, control []byte, to *net.UDPAddr) (int, int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed.Load() {
		return 0, 0, net.ErrClosed
	}
	if err := errors.Join(s.failure, s.unsent); err != nil {
		s.unsent = nil
		return 0, 0, err
	}
	if s.sent == entries || s.ring.full() {
		s.flush()
	}
	if len(payload) > mostPayload || len(control) > mostControl || !s.put(payload, control, to) {
		s.flush() // in order
		return s.UDPConn.WriteMsgUDP(payload, control, to)
	}
	return len(payload), len(control), nil
}

// put copies the datagram to where the kernel finds it, unless its address is of an unusual kind.
func (s *Socket) put(payload, control []byte, to *net.UDPAddr) bool {
	ip := to.IP.To4()
	if ip == nil || s.LocalAddr().(*net.UDPAddr).IP.To4() == nil {
		return false
	}
	slot := s.sent
	message := &s.memory.outgoing[slot]
	name := (*syscall.RawSockaddrInet4)(unsafe.Pointer(&message.name))
	name.Family = syscall.AF_INET
	name.Addr = [4]byte(ip)
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&name.Port))[:], uint16(to.Port))
	message.vector = syscall.Iovec{Base: &message.payload[0], Len: uint64(copy(message.payload[:], payload))}
	message.header = syscall.Msghdr{
		Name: (*byte)(unsafe.Pointer(name)), Namelen: syscall.SizeofSockaddrInet4,
		Iov: &message.vector, Iovlen: 1,
		Control: &message.control[0], Controllen: uint64(copy(message.control[:], control)),
	}
	s.addresses[slot] = to
	s.ring.push(submission{
		opcode:   opSendMsg,
		flags:    entryCQESkipSuccess,
		fd:       s.fd,
		address:  uint64(uintptr(unsafe.Pointer(&message.header))),
		length:   1,
		opFlags:  syscall.MSG_DONTWAIT,
		userData: uint64(slot),
	})
	s.sent++
	return true
}

// Close sends what is to be sent, and ends the socket.
func (s *Socket) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed.Load() {
		return net.ErrClosed
	}
	s.flush()
	s.waiter.close()
	return s.UDPConn.Close()
}

// SetReadDeadline ends a Receive at that time.
func (s *Socket) SetReadDeadline(deadline time.Time) error {
	s.setDeadline(deadline)
	return nil
}
