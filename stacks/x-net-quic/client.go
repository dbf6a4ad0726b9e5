package main

import (
	"context"
	"fmt"
	"os"

	"cambrian/endpoint"
	"golang.org/x/net/quic"
)

func runClient(arguments []string, emit *endpoint.Emitter, stop <-chan os.Signal) error {
	var transport transportOptions
	options, err := endpoint.ParseClientOptions(arguments, support, transport.knobs())
	if err != nil {
		return err
	}
	socket, err := endpoint.ListenUDP(endpoint.AnyPort(options.Connect))
	if err != nil {
		return err
	}
	quicEndpoint, err := quic.NewEndpoint(socket, nil)
	if err != nil {
		return err
	}
	transfer := &endpoint.Transfer{Bytes: options.Bytes, Emit: emit}
	fetch := func(ctx context.Context) error {
		config := transport.quicConfig(endpoint.ClientTLS(options))
		conn, err := quicEndpoint.Dial(ctx, "udp", options.Connect.String(), config)
		if err != nil {
			return fmt.Errorf("connect to %s: %w", options.Connect, err)
		}
		emit.Connected()
		return transfer.FetchHQ(options.Streams, func() (endpoint.HQRequestStream, error) {
			stream, err := conn.NewStream(ctx)
			return hqStream{stream}, err
		})
	}
	return transfer.Run(stop, fetch, func() { hangUp(quicEndpoint) })
}
