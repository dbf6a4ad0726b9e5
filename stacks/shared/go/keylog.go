package endpoint

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"unsafe"
)

// keyLog appends to the file that SSLKEYLOGFILE names. Its system calls go past Go's scheduler: that
// one reads the clock around a call, which would move the times of a connection with a key log.
type keyLog struct{ descriptor uintptr }

// openKeyLog is nil, for none, where no file is named or it cannot be opened.
func openKeyLog() io.Writer {
	path := os.Getenv("SSLKEYLOGFILE")
	if path == "" {
		return nil
	}
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return nil
	}
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND | syscall.O_CLOEXEC
	descriptor, _, errno := syscall.RawSyscall(syscall.SYS_OPEN, uintptr(unsafe.Pointer(name)), flags, 0o600)
	if errno != 0 {
		fmt.Fprintf(os.Stderr, "SSLKEYLOGFILE: %v\n", errno)
		return nil
	}
	return keyLog{descriptor}
}

// Write appends one line of secrets.
func (k keyLog) Write(line []byte) (int, error) {
	written, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, k.descriptor,
		uintptr(unsafe.Pointer(unsafe.SliceData(line))), uintptr(len(line)))
	if errno != 0 {
		return 0, errno
	}
	return int(written), nil
}
