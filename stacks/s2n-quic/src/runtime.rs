//! The runtime of both roles: tasks on one thread, and a sleep that is one system call.
//!
//! s2n-quic brings tokio, which polls, reads until nothing is left, and sends, by a call for each. Here the tasks run
//! until all of them wait; then the shared socket sends what they made, sleeps and reads, by one call.

use std::cell::RefCell;
use std::future::{poll_fn, Future};
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use cambrian_endpoint::socket::Socket;
use cambrian_endpoint::stop::{Stop, LONGEST_SLEEP};
use cambrian_endpoint::train::Train;
use cambrian_endpoint::{Ecn, Error, Result};
use futures::executor::{LocalPool, LocalSpawner};
use futures::task::LocalSpawnExt;

use crate::timers::Timers;

/// What the tasks share with the sleep. Clones are the same runtime.
#[derive(Clone)]
pub struct Runtime {
    spawner: LocalSpawner,
    pub traffic: Rc<RefCell<Traffic>>,
    timers: Rc<RefCell<Timers>>,
    stopping: Rc<RefCell<Stopping>>,
}

/// The socket, what leaves with the next sleep, and what came with the last one.
pub struct Traffic {
    socket: Socket,
    pub train: Train,
    pub arrivals: Vec<Arrival>,
    /// Buffers of datagrams that have been handled.
    pub spare: Vec<Vec<u8>>,
    /// Waits for an arrival.
    pub reader: Option<Waker>,
    /// Waits until the train has left.
    pub writer: Option<Waker>,
}

/// A datagram as it came in.
pub struct Arrival {
    pub source: SocketAddr,
    pub ecn: Ecn,
    pub payload: Vec<u8>,
}

/// When to stop, and who waits for it.
struct Stopping {
    stop: Stop,
    waker: Option<Waker>,
}

/// Run the task that `start` makes to its end, on a socket at `address`, with the tasks that it spawns.
pub fn block_on<T: 'static, F>(address: SocketAddr, start: impl FnOnce(Runtime) -> F) -> Result<T>
where
    F: Future<Output = Result<T>> + 'static,
{
    let now = Instant::now();
    let mut pool = LocalPool::new();
    let runtime = Runtime {
        spawner: pool.spawner(),
        traffic: Rc::new(RefCell::new(Traffic::new(Socket::bind(address)?))),
        timers: Rc::new(RefCell::new(Timers::starting(now))),
        stopping: Rc::new(RefCell::new(Stopping { stop: Stop::on_signals()?, waker: None })),
    };
    let outcome = Rc::new(RefCell::new(None));
    let (task, slot) = (start(runtime.clone()), outcome.clone());
    runtime.spawn(async move { *slot.borrow_mut() = Some(task.await) });
    loop {
        // It returns after each task that ends: the others do not go on when this one has.
        while pool.try_run_one() {
            if let Some(outcome) = outcome.take() {
                return outcome;
            }
        }
        runtime.sleep()?;
    }
}

impl Runtime {
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        // It fails only when the pool is gone, and then no task is left that could call.
        let _ = self.spawner.spawn_local(task);
    }

    pub fn timer(&self) -> Timer {
        Timer { timers: self.timers.clone(), index: self.timers.borrow_mut().add() }
    }

    /// Until SIGTERM or SIGINT comes.
    pub async fn stopped(&self) {
        poll_fn(|context| {
            let mut stopping = self.stopping.borrow_mut();
            if stopping.stop.requested() {
                return Poll::Ready(());
            }
            stopping.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Send, sleep until a datagram comes or a timer is due, read, and wake the tasks that waited for it.
    fn sleep(&self) -> Result<()> {
        let mut traffic = self.traffic.borrow_mut();
        let wait = if traffic.writer.is_some() {
            Duration::ZERO
        } else {
            let sleep = self.timers.borrow().sleep(Instant::now());
            sleep.map_or(LONGEST_SLEEP, |sleep| sleep.min(LONGEST_SLEEP))
        };
        traffic.exchange(wait)?;
        self.timers.borrow_mut().wake_up(Instant::now());
        let mut stopping = self.stopping.borrow_mut();
        if stopping.stop.requested() {
            if let Some(waker) = stopping.waker.take() {
                waker.wake();
            }
        }
        Ok(())
    }
}

impl Traffic {
    fn new(socket: Socket) -> Self {
        Self {
            socket,
            train: Train::default(),
            arrivals: Vec::new(),
            spare: Vec::new(),
            reader: None,
            writer: None,
        }
    }

    pub fn local_address(&self) -> Result<SocketAddr> {
        self.socket.local_address()
    }

    /// Whether datagrams may be fragmented on the way, which rules out path-MTU discovery.
    pub fn may_fragment(&self) -> bool {
        self.socket.may_fragment()
    }

    /// Send, sleep for at most `wait` until something has come, and read all of it.
    fn exchange(&mut self, mut wait: Duration) -> Result<()> {
        let (arrivals, spare) = (&mut self.arrivals, &mut self.spare);
        while self.socket.exchange(&mut self.train, wait, |_, datagram| {
            let mut payload = spare.pop().unwrap_or_default();
            payload.clear();
            payload.extend_from_slice(datagram.payload);
            arrivals.push(Arrival { source: datagram.source, ecn: datagram.ecn, payload });
            Ok(())
        })? {
            wait = Duration::ZERO;
        }
        let reader = if self.arrivals.is_empty() { None } else { self.reader.take() };
        for waker in [reader, self.writer.take()].into_iter().flatten() {
            waker.wake();
        }
        Ok(())
    }
}

/// Something to wait for, again and again.
pub struct Timer {
    timers: Rc<RefCell<Timers>>,
    index: usize,
}

impl Timer {
    pub fn set(&mut self, deadline: Instant) {
        self.timers.borrow_mut().set(self.index, deadline);
    }

    /// Ready once for each time that it is set.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.timers.borrow_mut().poll(self.index, context)
    }

    /// Until `duration` from now has passed.
    pub async fn sleep(&mut self, duration: Duration) {
        self.set(Instant::now() + duration);
        poll_fn(|context| self.poll(context)).await;
    }
}

/// An error of s2n-quic's own.
pub fn failed(error: impl std::fmt::Display) -> Error {
    Error::failed("s2n-quic", error)
}
