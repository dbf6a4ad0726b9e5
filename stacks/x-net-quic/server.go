package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"cambrian/endpoint"
	"golang.org/x/net/quic"
)

// server sends bodies until it is told to stop.
type server struct {
	cca     string
	emit    *endpoint.Emitter
	answers endpoint.Answers
	failed  chan error
}

func runServer(arguments []string, emit *endpoint.Emitter, stop <-chan os.Signal) error {
	var transport transportOptions
	options, err := endpoint.ParseServerOptions(arguments, support, transport.knobs())
	if err != nil {
		return err
	}
	if err := endpoint.CheckRelease(stackModule, stackVersion); err != nil {
		return err
	}
	tlsConfig, err := endpoint.ServerTLS(options)
	if err != nil {
		return err
	}
	config := transport.quicConfig(tlsConfig)
	var log *endpoint.TransportLog
	var counts counts
	if options.TransportLog != "" {
		if log, err = endpoint.CreateTransportLog(options.TransportLog); err != nil {
			return err
		}
		config.QLogLogger = slog.New(&recorder{log: log, counts: &counts})
	}
	socket, err := endpoint.ListenUDP(options.Listen)
	if err != nil {
		return err
	}
	quicEndpoint, err := quic.NewEndpoint(waiting(socket), config)
	if err != nil {
		return err
	}
	emit.Ready(options.Listen.Port())

	s := &server{cca: options.CCA, emit: emit, failed: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go s.accept(ctx, quicEndpoint)
	var failure error
	select {
	case failure = <-s.failed:
	case <-stop:
	}
	hangUp(quicEndpoint)
	if log != nil {
		failure = errors.Join(failure, log.Close())
		emit.Emit("stats", counts.event())
	}
	s.answers.Done(emit, failure)
	return failure
}

// accept serves each connection; the package hands one over when its handshake is done.
func (s *server) accept(ctx context.Context, quicEndpoint *quic.Endpoint) {
	for {
		conn, err := quicEndpoint.Accept(ctx)
		if err != nil {
			return // the server is finishing
		}
		s.emit.Connected()
		confirmed, err := readCCA(conn)
		if err != nil {
			s.failed <- err
			return
		}
		s.emit.CCA(s.cca, confirmed, "the type of the package's own field Conn.loss.cc")
		go s.serve(ctx, conn)
	}
}

func (s *server) serve(ctx context.Context, conn *quic.Conn) {
	for {
		stream, err := conn.AcceptStream(ctx)
		if err != nil {
			return // the connection has ended
		}
		go s.answers.Answer(hqStream{stream})
	}
}
