package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const availableFile = "/proc/sys/net/ipv4/tcp_available_congestion_control"

// availableCCAs lists what the running kernel offers.
func availableCCAs() []string {
	text, err := os.ReadFile(availableFile)
	if err != nil {
		return []string{"cubic", "reno"} // what every Linux has
	}
	return strings.Fields(string(text))
}

// onSocket is a net.Dialer's or net.ListenConfig's Control that sets options before bind or connect.
func onSocket(set func(descriptor int) error) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		var problem error
		if err := raw.Control(func(descriptor uintptr) { problem = set(int(descriptor)) }); err != nil {
			return err
		}
		return problem
	}
}

// withCCA gives a listener, and so every connection that it accepts, its congestion controller.
func withCCA(name string) func(descriptor int) error {
	return func(descriptor int) error {
		if err := unix.SetsockoptString(descriptor, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
			return fmt.Errorf("TCP_CONGESTION %s: %w", name, err)
		}
		return nil
	}
}

// withReceiveBuffer fixes the receive buffer; 0 leaves it to the kernel's auto-tuning.
func withReceiveBuffer(bytes int) func(descriptor int) error {
	return func(descriptor int) error {
		if bytes == 0 {
			return nil
		}
		return unix.SetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
	}
}

// cca is the connection's congestion controller as the kernel names it.
func cca(conn *net.TCPConn) (name string, err error) {
	err = inspect(conn, func(descriptor int) (err error) {
		name, err = unix.GetsockoptString(descriptor, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	return name, err
}

// tcpInfo is the kernel's account of the connection.
func tcpInfo(conn *net.TCPConn) (info *unix.TCPInfo, err error) {
	err = inspect(conn, func(descriptor int) (err error) {
		info, err = unix.GetsockoptTCPInfo(descriptor, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err
	})
	return info, err
}

func inspect(conn *net.TCPConn, look func(descriptor int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return onSocket(look)("", "", raw)
}
