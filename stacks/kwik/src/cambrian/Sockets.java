package cambrian;

import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketException;

/** UDP sockets with large buffers. */
final class Sockets {

    /** Asked of the kernel for either direction; it may give less. */
    private static final int BUFFER_BYTES = 32 << 20;

    private Sockets() {}

    static DatagramSocket bound(InetSocketAddress address) throws SocketException {
        DatagramSocket socket = new DatagramSocket(address);
        socket.setReceiveBufferSize(BUFFER_BYTES);
        socket.setSendBufferSize(BUFFER_BYTES);
        return socket;
    }
}
