package loop

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// io_uring's numbers (linux/io_uring.h); the system calls have these on every processor.
const (
	sysSetup    = 425
	sysEnter    = 426
	sysRegister = 427

	offsetRings   = 0
	offsetEntries = 0x10000000

	setupSubmitAll = 1 << 7

	featureSingleMmap = 1 << 0
	featureExtArg     = 1 << 8
	featureCQESkip    = 1 << 11

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3

	registerBufferRing = 22

	opSendMsg = 9
	opRecvMsg = 10
	opRecv    = 27

	entryBufferSelect   = 1 << 5
	entryCQESkipSuccess = 1 << 6

	receiveMultishot = 1 << 1

	completionMore     = 1 << 1
	completionBufferAt = 16
)

type ringParams struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	_                                                                      [3]uint32
	sqOff                                                                  struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cqOff struct {
		head, tail, mask, entries, overflow, entriesAt, flags, _ uint32
		_                                                        uint64
	}
}

type submission struct {
	opcode, flags uint8
	ioprio        uint16
	fd            int32
	offset        uint64
	address       uint64
	length        uint32
	opFlags       uint32
	userData      uint64
	bufferGroup   uint16
	_             [22]byte
}

type completion struct {
	userData uint64
	result   int32
	flags    uint32
}

type waitArgument struct {
	signals     uint64
	signalsSize uint32
	_           uint32
	timeout     uint64
}

// uring is one io_uring. Its system calls are raw: the Go scheduler does not learn of them.
type uring struct {
	fd               int
	sqHead, sqTail   *uint32
	cqHead, cqTail   *uint32
	sqMask, cqMask   uint32
	submissions      []submission
	completions      []completion
	tail             uint32 // of the submissions, ahead of sqTail until enter
	timeout          *syscall.Timespec
	argument         *waitArgument
	rings, entryPool []byte
}

func newUring(entries uint32) (*uring, error) {
	params := ringParams{flags: setupSubmitAll}
	fd, _, errno := syscall.RawSyscall(sysSetup, uintptr(entries), uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", errno)
	}
	u := &uring{fd: int(fd)}
	if err := u.mapRings(&params); err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

func (u *uring) mapRings(params *ringParams) error {
	const needed = featureSingleMmap | featureExtArg | featureCQESkip
	if params.features&needed != needed {
		return fmt.Errorf("io_uring has the features %#x, not all of %#x", params.features, needed)
	}
	sqSize := int(params.sqOff.array + params.sqEntries*uint32(unsafe.Sizeof(uint32(0))))
	cqSize := int(params.cqOff.entriesAt + params.cqEntries*uint32(unsafe.Sizeof(completion{})))
	const readWrite = syscall.PROT_READ | syscall.PROT_WRITE
	var err error
	u.rings, err = syscall.Mmap(u.fd, offsetRings, max(sqSize, cqSize), readWrite, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		return fmt.Errorf("mmap of io_uring: %w", err)
	}
	entriesSize := int(params.sqEntries) * int(unsafe.Sizeof(submission{}))
	u.entryPool, err = syscall.Mmap(u.fd, offsetEntries, entriesSize, readWrite, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		return fmt.Errorf("mmap of io_uring: %w", err)
	}
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&u.rings[offset])) }
	u.sqHead, u.sqTail, u.sqMask = at(params.sqOff.head), at(params.sqOff.tail), *at(params.sqOff.mask)
	u.cqHead, u.cqTail, u.cqMask = at(params.cqOff.head), at(params.cqOff.tail), *at(params.cqOff.mask)
	u.submissions = unsafe.Slice((*submission)(unsafe.Pointer(&u.entryPool[0])), params.sqEntries)
	u.completions = unsafe.Slice((*completion)(unsafe.Pointer(&u.rings[params.cqOff.entriesAt])), params.cqEntries)
	for index := range params.sqEntries {
		*at(params.sqOff.array + 4*index) = index
	}
	u.tail = *u.sqTail
	u.timeout, u.argument = &syscall.Timespec{}, &waitArgument{}
	return nil
}

func (u *uring) close() { _ = syscall.Close(u.fd) }

// full says that no submission fits before the next enter.
func (u *uring) full() bool {
	return u.tail-atomic.LoadUint32(u.sqHead) == uint32(len(u.submissions))
}

func (u *uring) push(entry submission) {
	u.submissions[u.tail&u.sqMask] = entry
	u.tail++
}

// submit hands over what was pushed, and waits for nothing.
func (u *uring) submit() error {
	for {
		waiting := u.publish()
		if waiting == 0 {
			return nil
		}
		_, _, errno := syscall.RawSyscall6(sysEnter, uintptr(u.fd), uintptr(waiting), 0, 0, 0, 0)
		if errno != 0 && errno != syscall.EINTR && errno != syscall.EAGAIN {
			return fmt.Errorf("io_uring_enter: %w", errno)
		}
	}
}

// submitAndWait hands over what was pushed and waits for a completion, a signal, or so many
// nanoseconds (without end if negative).
func (u *uring) submitAndWait(nanoseconds int64) error {
	*u.argument = waitArgument{signalsSize: 8}
	if nanoseconds >= 0 {
		*u.timeout = syscall.NsecToTimespec(nanoseconds)
		u.argument.timeout = uint64(uintptr(unsafe.Pointer(u.timeout)))
	}
	_, _, errno := syscall.RawSyscall6(sysEnter, uintptr(u.fd), uintptr(u.publish()), 1, enterGetEvents|enterExtArg,
		uintptr(unsafe.Pointer(u.argument)), unsafe.Sizeof(*u.argument))
	switch errno {
	case 0, syscall.ETIME, syscall.EINTR, syscall.EAGAIN:
		return nil
	}
	return fmt.Errorf("io_uring_enter: %w", errno)
}

func (u *uring) publish() uint32 {
	atomic.StoreUint32(u.sqTail, u.tail)
	return u.tail - atomic.LoadUint32(u.sqHead)
}

// next takes a completion, if there is one.
func (u *uring) next() (completion, bool) {
	head := *u.cqHead
	if head == atomic.LoadUint32(u.cqTail) {
		return completion{}, false
	}
	entry := u.completions[head&u.cqMask]
	atomic.StoreUint32(u.cqHead, head+1)
	return entry, true
}

// registerBuffers shows the kernel where it is offered buffers.
func (u *uring) registerBuffers(ring *[buffers]offered) error {
	argument := struct {
		address uint64
		entries uint32
		group   uint16
		flags   uint16
		_       [3]uint64
	}{address: uint64(uintptr(unsafe.Pointer(ring))), entries: buffers, group: bufferGroup}
	_, _, errno := syscall.RawSyscall6(sysRegister, uintptr(u.fd), registerBufferRing,
		uintptr(unsafe.Pointer(&argument)), 1, 0, 0)
	if errno != 0 {
		return fmt.Errorf("io_uring_register: %w", errno)
	}
	return nil
}
