package main

import (
	"net"

	"cambrian/endpoint/loop"
	"golang.org/x/net/ipv4"
)

// waiting is the socket with one system call for each wait, or itself where that is not possible.
func waiting(udp *net.UDPConn) net.PacketConn {
	socket, err := loop.Open(udp)
	if err != nil {
		return udp
	}
	return batchSocket{socket}
}

// batchSocket reads as quic-go wants to.
type batchSocket struct{ *loop.Socket }

func (s batchSocket) ReadBatch(messages []ipv4.Message, _ int) (int, error) {
	return s.Receive(len(messages), func(index int, datagram loop.Datagram) {
		message := &messages[index]
		message.N = copy(message.Buffers[0], datagram.Payload)
		message.NN = copy(message.OOB, datagram.Control)
		message.Addr = datagram.From
	})
}
