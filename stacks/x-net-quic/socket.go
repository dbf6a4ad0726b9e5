package main

import (
	"net"

	"cambrian/endpoint/loop"
)

// waiting is the socket with one system call for each wait, or itself where that is not possible.
func waiting(udp *net.UDPConn) net.PacketConn {
	socket, err := loop.Open(udp)
	if err != nil {
		return udp
	}
	return packetSocket{socket}
}

// packetSocket reads and writes one datagram at a time, as the package does with a net.PacketConn. It has no ECN
// marks; the package sets none and ignores those that come back.
type packetSocket struct{ *loop.Socket }

func (s packetSocket) ReadFrom(buffer []byte) (int, net.Addr, error) {
	var length int
	var from net.Addr
	_, err := s.Receive(1, func(_ int, datagram loop.Datagram) {
		length = copy(buffer, datagram.Payload)
		from = datagram.From
	})
	return length, from, err
}

func (s packetSocket) WriteTo(payload []byte, to net.Addr) (int, error) {
	length, _, err := s.WriteMsgUDP(payload, nil, to.(*net.UDPAddr))
	return length, err
}
