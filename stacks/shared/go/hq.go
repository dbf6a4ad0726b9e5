package endpoint

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxRequestBytes bounds a request line; "GET /1000000000000\r\n" has 20.
const maxRequestBytes = 64

// HQRequest is the HTTP/0.9 request line for a body of the given length.
func HQRequest(bytes int64) []byte {
	return fmt.Appendf(nil, "GET /%d\r\n", bytes)
}

// parseHQRequest is the inverse of HQRequest: the number of bytes asked for.
func parseHQRequest(line string) (int64, error) {
	path, isGet := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "GET /")
	if !isGet {
		return 0, fmt.Errorf("not a GET request: %q", line)
	}
	bytes, err := strconv.ParseUint(path, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("path %q: want a number of bytes", path)
	}
	return int64(bytes), nil
}

// ReadHQRequest reads until the end of the line or of the stream: the number of bytes asked for.
func ReadHQRequest(stream io.Reader) (int64, error) {
	var buffer [maxRequestBytes]byte
	length := 0
	for length < len(buffer) {
		n, err := stream.Read(buffer[length:])
		length += n
		if err == io.EOF || strings.HasSuffix(string(buffer[:length]), "\n") {
			return parseHQRequest(string(buffer[:length]))
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("request line exceeds %d bytes", maxRequestBytes)
}

// WriteBody writes exactly bytes zeros from one shared buffer and counts them in sent.
func WriteBody(stream io.Writer, bytes int64, sent interface{ Add(int64) int64 }) error {
	for bytes > 0 {
		block := body[:min(bytes, int64(len(body)))]
		n, err := stream.Write(block)
		sent.Add(int64(n))
		bytes -= int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// body is the only memory that any response comes from. A stack may end a packet
// early where a Write ends (quic-go does), so the blocks are long: one such packet in 720.
var body = make([]byte, 1<<20)

// Share is stream index's part of bytes spread over streams, the first ones taking the remainder.
func Share(bytes int64, streams, index int) int64 {
	part := bytes / int64(streams)
	if int64(index) < bytes%int64(streams) {
		part++
	}
	return part
}
