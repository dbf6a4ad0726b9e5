use std::net::SocketAddr;
use std::time::Instant;

use super::calls::READ_SLEEP;
use super::*;

const HELLO: &[u8] = b"hello";

/// Sockets of both kinds, each with the name of its kind.
fn sockets(address: &str) -> [(&'static str, Socket); 2] {
    let address = address.parse().unwrap();
    let ring = Socket::bind_with(address, |socket| {
        Ring::for_socket(socket.as_raw_fd()).map(|ring| Way::Ring(Box::new(ring)))
    });
    let calls = Socket::bind_with(address, |socket| Calls::for_socket(socket).map(Way::Calls));
    [("ring", ring.unwrap()), ("calls", calls.unwrap())]
}

fn plain(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    socket
}

fn train(destination: SocketAddr, datagrams: &[(Ecn, &[u8])]) -> Train {
    let mut train = Train::default();
    for (ecn, payload) in datagrams {
        train.push(destination, *ecn, payload.to_vec());
    }
    train
}

/// One exchange: what came, and whether there may be more.
fn exchange(
    socket: &mut Socket,
    train: &mut Train,
    wait: Duration,
) -> (Vec<(Vec<u8>, SocketAddr, Ecn)>, bool) {
    let mut seen = Vec::new();
    let more = socket.exchange(train, wait, |_, datagram| {
        seen.push((datagram.payload.to_vec(), datagram.source, datagram.ecn));
        Ok(())
    });
    (seen, more.unwrap())
}

/// Every datagram that comes within `wait` of the one before.
fn receive_all(socket: &mut Socket, wait: Duration) -> Vec<(Vec<u8>, SocketAddr, Ecn)> {
    let mut seen = Vec::new();
    loop {
        let (arrived, _) = exchange(socket, &mut Train::default(), wait);
        if arrived.is_empty() {
            return seen;
        }
        seen.extend(arrived);
    }
}

#[test]
fn datagrams_arrive_in_order_with_source_and_mark_over_both_ip_versions() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        for ((kind, mut sender), (_, mut receiver)) in sockets(address).into_iter().zip(sockets(address)) {
            let (from, to) = (sender.local_address().unwrap(), receiver.local_address().unwrap());
            let marks = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce];
            for wait in [Duration::from_micros(5_500), Duration::from_millis(5), READ_SLEEP] {
                sender.send(&mut train(to, &marks.map(|mark| (mark, HELLO)))).unwrap();
                let expected = marks.map(|mark| (HELLO.to_vec(), from, mark));
                assert_eq!(receive_all(&mut receiver, wait), expected, "{kind}, {address}, {wait:?}");
            }
            assert_eq!(receiver.receive_buffer_drops(), Some(0));
        }
    }
}

#[test]
fn one_exchange_sends_waits_and_reads() {
    for (kind, mut socket) in sockets("127.0.0.1:0") {
        let peer = plain("127.0.0.1:0");
        let (address, to) = (socket.local_address().unwrap(), peer.local_addr().unwrap());
        let echo = std::thread::spawn(move || {
            let mut buffer = [0; 16];
            let (length, source) = peer.recv_from(&mut buffer).unwrap();
            std::thread::sleep(Duration::from_millis(2));
            peer.send_to(&buffer[..length], source).unwrap();
            source
        });
        let mut train = train(to, &[(Ecn::NotEct, HELLO)]);
        // The calls sleep a long wait in parts.
        let seen = (0..25).find_map(|_| {
            let (seen, more) = exchange(&mut socket, &mut train, Duration::from_millis(500));
            assert!(train.datagrams().is_empty() && !more);
            seen.into_iter().next()
        });
        assert_eq!(seen, Some((HELLO.to_vec(), to, Ecn::NotEct)), "{kind}");
        assert_eq!(echo.join().unwrap(), address);
    }
}

#[test]
fn a_wait_without_a_datagram_lasts_as_long_as_asked() {
    for (kind, mut socket) in sockets("127.0.0.1:0") {
        for wait in [0, 700, 3_000, 40_000] {
            // The calls sleep a long wait in parts, by the kernel's tick.
            let least = if kind == "ring" { wait } else { wait.min(5_000) };
            let start = Instant::now();
            let (seen, more) = exchange(&mut socket, &mut Train::default(), Duration::from_micros(wait));
            assert_eq!((seen, more), (vec![], false));
            assert!(start.elapsed() >= Duration::from_micros(least), "{kind}, {wait} µs");
        }
    }
}

#[test]
fn a_datagram_that_does_not_fit_is_lost_and_the_next_one_is_sent() {
    for (kind, mut sender) in sockets("127.0.0.1:0") {
        let receiver = plain("127.0.0.1:0");
        let to = receiver.local_addr().unwrap();
        let too_long = [0; 70_000];
        for datagrams in [
            &[(Ecn::NotEct, HELLO), (Ecn::NotEct, &too_long), (Ecn::NotEct, b"next")][..],
            &[(Ecn::NotEct, &too_long)],
            &[(Ecn::NotEct, &too_long), (Ecn::NotEct, b"next")],
        ] {
            let mut train = train(to, datagrams);
            exchange(&mut sender, &mut train, Duration::from_millis(1));
            for (_, expected) in datagrams.iter().filter(|(_, payload)| payload.len() < 1500) {
                let mut buffer = [0; 16];
                let length = receiver.recv(&mut buffer).unwrap();
                assert_eq!(&buffer[..length], *expected, "{kind}");
            }
        }
    }
}

/// More than the buffers of either kind hold, in both directions.
#[test]
fn long_trains_keep_their_order() {
    const COUNT: usize = 1000;
    for ((kind, mut sender), (_, mut receiver)) in
        sockets("127.0.0.1:0").into_iter().zip(sockets("127.0.0.1:0"))
    {
        let to = receiver.local_address().unwrap();
        let mut train = Train::default();
        for number in 0..COUNT {
            let mut buffer = train.buffer();
            buffer.extend_from_slice(&number.to_le_bytes());
            buffer.resize(100, 0);
            train.push(to, Ecn::NotEct, buffer);
        }
        // The least that the kernel gives: less room than the train needs.
        set_option(sender.as_fd().as_raw_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, 1).unwrap();
        sender.send(&mut train).unwrap();
        let mut seen = Vec::new();
        let mut more = true;
        while more || seen.len() < COUNT {
            let before = seen.len();
            let batch = exchange(&mut receiver, &mut Train::default(), Duration::from_millis(100));
            seen.extend(batch.0);
            more = batch.1;
            assert!(seen.len() - before <= RECEIVE_BATCH && (more || seen.len() > before), "{kind}");
        }
        let numbers = seen.iter().map(|(payload, ..)| usize::from_le_bytes(payload[..8].try_into().unwrap()));
        assert!(numbers.eq(0..COUNT), "{kind}");
    }
}

/// `take` may answer, and a datagram to nobody brings an ICMP error that changes nothing.
#[test]
fn an_answer_leaves_with_the_next_exchange_and_a_refusal_is_passed_over() {
    for (kind, mut socket) in sockets("127.0.0.1:0") {
        let nobody = plain("127.0.0.1:0").local_addr().unwrap();
        let peer = plain("127.0.0.1:0");
        peer.send_to(HELLO, socket.local_address().unwrap()).unwrap();
        let mut train = train(nobody, &[(Ecn::NotEct, HELLO)]);
        let mut answered = false;
        for _ in 0..3 {
            socket
                .exchange(&mut train, Duration::from_millis(5), |train, datagram| {
                    answered = true;
                    train.push(datagram.source, Ecn::NotEct, b"answer".to_vec());
                    Ok(())
                })
                .unwrap();
        }
        let mut buffer = [0; 16];
        assert!(answered, "{kind}");
        assert_eq!(peer.recv(&mut buffer).unwrap(), b"answer".len(), "{kind}");
    }
}

/// A signal with a handler, to this thread, ends a sleep.
#[test]
fn a_signal_ends_a_wait() {
    let caught = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, caught.clone()).unwrap();
    for (kind, mut socket) in sockets("127.0.0.1:0") {
        // SAFETY: plain calls; the thread outlives its joined sender of signals.
        let this = unsafe { libc::pthread_self() };
        let start = Instant::now();
        let signaller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            // SAFETY: as above.
            assert_eq!(unsafe { libc::pthread_kill(this, libc::SIGUSR1) }, 0);
        });
        // Below `READ_SLEEP` the calls would end by themselves.
        while !caught.swap(false, std::sync::atomic::Ordering::Relaxed) {
            exchange(&mut socket, &mut Train::default(), Duration::from_secs(5));
        }
        assert!(start.elapsed() < Duration::from_secs(2), "{kind}");
        signaller.join().unwrap();
    }
}
