package main

import "cambrian/endpoint"

// transportOptions are the --set knobs that either side takes.
type transportOptions struct {
	// initialUDPPayloadBytes is the UDP payload that path-MTU discovery starts from; 0 is quic-go's choice (1280).
	initialUDPPayloadBytes uint16
	pathMTUDiscovery       bool
}

type serverOptions struct {
	endpoint.ServerOptions
	transport transportOptions
}

type clientOptions struct {
	endpoint.ClientOptions
	transport transportOptions
}

func (t *transportOptions) knobs() endpoint.Knobs {
	t.pathMTUDiscovery = true
	return endpoint.Knobs{
		"initial_udp_payload_bytes": endpoint.Whole(&t.initialUDPPayloadBytes, 1200, 1452),
		"path_mtu_discovery":        endpoint.Boolean(&t.pathMTUDiscovery),
	}
}

func parseServerOptions(arguments []string) (options serverOptions, err error) {
	options.ServerOptions, err = endpoint.ParseServerOptions(arguments, support, options.transport.knobs())
	return options, err
}

func parseClientOptions(arguments []string) (options clientOptions, err error) {
	options.ClientOptions, err = endpoint.ParseClientOptions(arguments, support, options.transport.knobs())
	return options, err
}
