package main

import (
	"fmt"
	"strconv"

	"cambrian/endpoint"
)

// transportOptions are the --set knobs that either side takes.
type transportOptions struct {
	// initialPacketBytes is the UDP payload that path-MTU discovery starts from; 0 is quic-go's choice (1280).
	initialPacketBytes uint16
	pathMTUDiscovery   bool
}

type serverOptions struct {
	endpoint.ServerOptions
	transport transportOptions
}

type clientOptions struct {
	endpoint.ClientOptions
	// outstanding is how many h3 requests are under way at once.
	outstanding int
	transport   transportOptions
}

func (t *transportOptions) knobs() endpoint.Knobs {
	t.pathMTUDiscovery = true
	return endpoint.Knobs{
		"initial_packet_bytes": func(value string) error {
			size, err := strconv.ParseUint(value, 10, 16)
			if err != nil || size < 1200 || size > 1452 {
				return fmt.Errorf("initial_packet_bytes=%s: want 1200 to 1452", value)
			}
			t.initialPacketBytes = uint16(size)
			return nil
		},
		"path_mtu_discovery": func(value string) (err error) {
			t.pathMTUDiscovery, err = strconv.ParseBool(value)
			return err
		},
	}
}

func parseServerOptions(arguments []string) (options serverOptions, err error) {
	options.ServerOptions, err = endpoint.ParseServerOptions(arguments, support, options.transport.knobs())
	return options, err
}

func parseClientOptions(arguments []string) (options clientOptions, err error) {
	knobs := options.transport.knobs()
	options.outstanding = defaultOutstanding
	knobs["outstanding"] = func(value string) (err error) {
		options.outstanding, err = strconv.Atoi(value)
		if err == nil && (options.outstanding < 1 || options.outstanding > maxOutstanding) {
			err = fmt.Errorf("outstanding=%s: want 1 to %d", value, maxOutstanding)
		}
		return err
	}
	options.ClientOptions, err = endpoint.ParseClientOptions(arguments, support, knobs)
	return options, err
}
