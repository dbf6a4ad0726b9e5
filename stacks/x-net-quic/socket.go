package main

import (
	"net"

	"cambrian/endpoint/loop"
)

// waiting is the server's socket with one system call for each wait, or itself where that is not possible.
func waiting(udp *net.UDPConn) net.PacketConn {
	socket, err := loop.Open(udp)
	if err != nil {
		return udp
	}
	return packetSocket{socket}
}

// packetSocket reads and writes one datagram at a time, as the package does with a net.PacketConn. Such a socket has no
// ECN marks. A sender of this package sets none, but its receivers report those of others: clients keep the UDP socket.
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
